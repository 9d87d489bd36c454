// SPDX-License-Identifier: Apache-2.0
// golden/read/<kind>/: ok-*.in is read as that kind and printed to ok-*.policy, warnings included; fail-*.in is
// refused with the diagnostics of fail-*.diag. Options: x86_64, docker's capabilities, kernel 6.1.
#include <gtest/gtest.h>

#include <filesystem>

#include "policy/print.h"
#include "read/reader.h"
#include "support/golden.h"
#include "support/paths.h"

namespace seccompress::test {
namespace {

read::Options fixed_options() {
  return {.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
}

std::string print(const read::Content& content) {
  if (const auto* policy = std::get_if<policy::Policy>(&content)) return policy::to_string(*policy);
  std::string text;
  if (const auto* policies = std::get_if<std::vector<read::NamedPolicy>>(&content)) {
    for (const read::NamedPolicy& one : *policies) text += "filter " + one.name + '\n' + policy::to_string(one.policy);
    return text;
  }
  for (const read::NamedFilter& filter : std::get<std::vector<read::NamedFilter>>(content))
    text += "filter " + filter.name + '\n' + program::disassemble(filter.code);
  return text;
}

// Places without the checkout's own folder, so that expectations are the same everywhere.
std::string print(const Diagnostics& diagnostics, const std::string& folder) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    Diagnostic one = diagnostic;
    if (one.where.file.starts_with(folder + '/')) one.where.file.erase(0, folder.size() + 1);
    text += to_string(one) + " [" + std::string(one.code) + "]\n";
  }
  return text;
}

std::string run(const GoldenCase& one, const std::string& kind, const std::string& folder) {
  Diagnostics diagnostics;
  const auto layer = read::read({kind, one.input}, fixed_options(), diagnostics);
  EXPECT_EQ(layer.has_value(), one.ok) << one.input << '\n' << print(diagnostics, folder);
  if (!layer) {
    EXPECT_EQ(layer.error().code, make_error_code(Errc::reported)) << layer.error().what;
    return print(diagnostics, folder);
  }
  return print(layer->content) + print(diagnostics, folder);
}

class GoldenRead : public ::testing::TestWithParam<read::ReaderFacts> {};

TEST_P(GoldenRead, EveryCaseReadsAsExpected) {
  const std::string kind(GetParam().kind);
  const std::string folder = std::string(kTestData) + "/golden/read/" + kind;
  bool accepted = false, ok = false, fail = false;
  for (const GoldenCase& one : golden_cases(folder, "policy", "diag")) {
    const GoldenResult result = compare_golden(one.expectation, run(one, kind, folder), accepting());
    EXPECT_NE(result.outcome, GoldenOutcome::differs) << result.message;
    accepted = accepted || result.outcome == GoldenOutcome::accepted;
    (one.ok ? ok : fail) = true;
  }
  EXPECT_TRUE(ok && fail) << folder << " needs an ok-* and a fail-* case";
  if (accepted) GTEST_SKIP() << "expectations rewritten";
}

INSTANTIATE_TEST_SUITE_P(Kinds, GoldenRead, ::testing::ValuesIn(read::readers().begin(), read::readers().end()),
                         [](const auto& one) { return std::string(one.param.kind); });

TEST(Golden, AMissingExpectationIsAFailure) {
  EXPECT_EQ(compare_golden(std::string(kTestData) + "/golden/read/no-such-file", "text", false).outcome,
            GoldenOutcome::differs);
}

TEST(Golden, AcceptingIsNoPass) {
  const std::string path = std::filesystem::temp_directory_path() / ("golden-" + std::to_string(::getpid()));
  EXPECT_EQ(compare_golden(path, "new", true).outcome, GoldenOutcome::accepted);
  EXPECT_EQ(compare_golden(path, "new", false).outcome, GoldenOutcome::same);
  EXPECT_EQ(compare_golden(path, "other", false).outcome, GoldenOutcome::differs);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace seccompress::test
