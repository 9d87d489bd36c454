// SPDX-License-Identifier: Apache-2.0
// edge.tsv, and the corpus of odd profiles where it is present: accepted or refused as the table says, one located
// message, the same each time.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "lower/lower.h"
#include "policy/print.h"
#include "read/reader.h"
#include "support/file.h"
#include "support/paths.h"
#include "support/policy_inputs.h"

namespace seccompress::test {
namespace {

struct EdgeCase {
  std::string name, kind, ours, engines, reason, input;
};

std::vector<EdgeCase> edge_cases() {
  std::istringstream file(read_file(std::string(kTestData) + "/unit/read/edge.tsv", 1U << 20U).value());
  std::vector<EdgeCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    EdgeCase one;
    for (std::string* field : {&one.name, &one.kind, &one.ours, &one.engines, &one.reason})
      std::getline(fields, *field, '\t');
    std::getline(fields, one.input);
    cases.push_back(std::move(one));
  }
  return cases;
}

read::Options options() { return {.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}}; }

struct Answer {
  bool ok = false;
  std::string text;  // the policy, then every diagnostic
  std::vector<std::string> errors;
};

Answer ask(const std::string& kind, const std::string& bytes) {
  Diagnostics diagnostics;
  const auto layer = read::read_bytes({kind, "edge.json"}, bytes, options(), diagnostics);
  Answer answer{layer.has_value(), layer ? policy::to_string(std::get<policy::Policy>(layer->content)) : "", {}};
  for (const Diagnostic& one : diagnostics.all()) {
    answer.text += to_string(one) + '\n';
    EXPECT_GT(one.where.line, 0) << to_string(one);
    if (one.severity == Severity::error) answer.errors.emplace_back(one.code);
  }
  EXPECT_EQ(answer.ok, answer.errors.empty());
  return answer;
}

void expect_decision(const EdgeCase& one, const std::string& kind, const std::string& bytes) {
  const Answer answer = ask(kind, bytes);
  EXPECT_EQ(answer.ok, one.ours == "ok") << one.name << '\n' << answer.text;
  const bool named = one.ours == "ok" || std::count(answer.errors.begin(), answer.errors.end(), one.ours) > 0;
  EXPECT_TRUE(named) << one.name << '\n' << answer.text;
  EXPECT_EQ(ask(kind, bytes).text, answer.text) << one.name;
}

TEST(Edge, EveryOddInputIsDecidedAsTheTableSays) {
  std::size_t run = 0;
  for (const EdgeCase& one : edge_cases()) {
    if (one.input == "-") continue;
    expect_decision(one, one.kind, one.input);
    ++run;
  }
  EXPECT_GE(run, 55U);
}

TEST(Edge, WhereWeDifferFromTheEnginesThereIsAReason) {
  for (const EdgeCase& one : edge_cases()) {
    const bool same = (one.ours != "ok" && one.engines == "refuse") || (one.ours == "ok" && one.engines == "accept");
    const bool differs = (one.ours != "ok") != (one.engines == "refuse");
    if (same) {
      EXPECT_EQ(one.reason, "-") << one.name;
    } else if (differs && one.ours != "ok") {
      EXPECT_NE(one.reason, "-") << one.name;
    }
  }
}

TEST(Edge, TheCorpusOfOddProfilesIsDecidedTheSame) {
  const std::string folder = std::string(kCorpus) + "/bugs/edge";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus";
  std::map<std::string, EdgeCase> cases;
  for (const EdgeCase& one : edge_cases()) cases[one.name] = one;
  std::size_t run = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    ASSERT_TRUE(cases.count(entry.path().stem())) << entry.path() << " has no line in edge.tsv";
    const EdgeCase& one = cases[entry.path().stem()];
    expect_decision(one, one.kind, read_file(entry.path(), read::kMaxInputBytes).value());
    ++run;
  }
  std::printf("%zu profiles\n", run);
  EXPECT_GE(run, 50U);
}

TEST(Edge, ManyValuesLowerWithinTheBudgetAndMeanWhatTheySay) {
  std::string text = R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [)";
  for (std::uint64_t i = 0; i < 5000; ++i)
    text +=
        (i == 0 ? "" : ",") +
        std::string(
            R"({"names": ["ioctl"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 1, "op": "SCMP_CMP_EQ", "value": )") +
        std::to_string(i * 0x9e3779b97f4a7c15ULL >> (i % 40)) + "}]}";
  Diagnostics diagnostics;
  const auto layer = read::read_bytes({"oci", "many.json"}, text + "]}", options(), diagnostics);
  ASSERT_TRUE(layer);
  Random random(1);
  const auto& policy = std::get<policy::Policy>(layer->content);
  const Agreement agreement = compare_lowering(policy, named_numbers(policy), 2000, random);
  EXPECT_FALSE(agreement.disagreement) << agreement.disagreement->substr(0, 500);
  EXPECT_GT(agreement.calls, 1000U);
}

TEST(Edge, ProfilesThatExplodeWhenSplitAreRefused) {
  std::string names = "\"read\"", arguments = R"({"index": 0, "value": 1, "op": "SCMP_CMP_EQ"})";
  for (int i = 0; i < 1000; ++i) names += ", \"read\"";
  for (int i = 0; i < 1000; ++i) arguments += R"(, {"index": 0, "value": 2, "op": "SCMP_CMP_EQ"})";
  const Answer answer =
      ask("oci", R"({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"action": "SCMP_ACT_ALLOW", "names": [)" + names +
                     "], \"args\": [" + arguments + "]}]}");
  EXPECT_EQ(answer.errors, std::vector<std::string>{"profile-size"});
}

}  // namespace
}  // namespace seccompress::test
