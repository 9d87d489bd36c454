// SPDX-License-Identifier: Apache-2.0
// Every profiles/*.verdicts (and profiles/*/*.verdicts), by every executor, the running kernel among them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/file.h"
#include "support/kernel_executor.h"
#include "support/paths.h"
#include "support/verdict_table.h"

namespace seccompress::test {
namespace {

std::vector<std::string> tables() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kProfiles))
    if (entry.path().extension() == ".verdicts") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

void run(const std::string& path, const Executor& executor) {
  const auto text = read_file(path, 1U << 20U);
  ASSERT_TRUE(text);
  const auto table = parse_verdicts(*text, path);
  ASSERT_TRUE(table) << table.error().what;
  Diagnostics diagnostics;
  auto subject = compile_subject(*table, std::filesystem::path(path).parent_path(), diagnostics);
  ASSERT_TRUE(subject) << to_string(subject.error())
                       << (diagnostics.all().empty() ? "" : to_string(diagnostics.all()[0]));
  const TableReport report = run_table(*table, *subject, executor);
  for (const std::string& failure : report.failures) ADD_FAILURE() << path << ": " << failure;
  std::printf("%s: %zu rows, %zu calls answered, %zu cannot be made by this executor\n",
              std::filesystem::path(path).filename().c_str(), table->rows.size(), report.answered, report.impossible);
  EXPECT_GE(table->rows.size(), 30U);
  EXPECT_GT(report.answered, table->rows.size());
}

class VerdictTables : public ::testing::TestWithParam<Executor> {};

TEST_P(VerdictTables, HoldForEveryProfile) {
  if (GetParam().name == "kernel")
    if (const auto why = kernel_executor_missing()) GTEST_SKIP() << *why;
  const std::vector<std::string> all = tables();
  ASSERT_FALSE(all.empty());
  for (const std::string& path : all) run(path, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Executors, VerdictTables, ::testing::ValuesIn(executors().begin(), executors().end()),
                         [](const auto& one) { return std::string(one.param.name); });

// A table with a wrong row must fail under every executor: otherwise the rows above prove nothing.
TEST(VerdictTable, AWrongRowFailsUnderEveryExecutor) {
  const auto table = parse_verdicts("layers: docker:container-default.json\nread ERRNO(EPERM)\n", "wrong");
  ASSERT_TRUE(table);
  Diagnostics diagnostics;
  auto subject = compile_subject(*table, kProfiles, diagnostics);
  ASSERT_TRUE(subject);
  for (const Executor& executor : executors()) {
    if (executor.name == "kernel" && kernel_executor_missing()) continue;
    EXPECT_EQ(run_table(*table, *subject, executor).failures.size(), 3U) << executor.name;
  }
}

TEST(VerdictTable, MalformedRowsNameTheirLine) {
  for (const char* text :
       {"layers: x\nread\n", "layers: x\nno_such_call ALLOW\n", "layers: x\nread 1 2 3 4 5 6 7 ALLOW\n",
        "layers: x\nread MAYBE\n", "layers: x\nread ERRNO(ENOTHING)\n", "layers: x\nvax:read ALLOW\n"}) {
    const auto table = parse_verdicts(text, "t");
    ASSERT_FALSE(table) << text;
    EXPECT_TRUE(table.error().what.starts_with("t:2: ")) << table.error().what;
  }
  EXPECT_FALSE(parse_verdicts("read ALLOW\n", "t"));
}

}  // namespace
}  // namespace seccompress::test
