// SPDX-License-Identifier: Apache-2.0
// conditions.tsv: small sets of rules that filter compilers get wrong, or never finish. Right answers from everything
// of ours that gives one, within bounds on work that are counted, not timed.
#include <gtest/gtest.h>

#include <sstream>

#include "abi/syscalls.h"
#include "emit/emit.h"
#include "lower/lower.h"
#include "policy/evaluate.h"
#include "support/file.h"
#include "support/paths.h"
#include "support/policy_text.h"

namespace seccompress::test {
namespace {

struct Case {
  std::string name, policy, call, arguments, verdict, remark;
};

std::vector<Case> cases() {
  std::istringstream file(read_file(std::string(kTestData) + "/unit/lower/conditions.tsv", 1U << 20U).value());
  std::vector<Case> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Case one;
    for (std::string* field : {&one.name, &one.policy, &one.call, &one.arguments, &one.verdict, &one.remark})
      std::getline(fields, *field, '\t');
    all.push_back(std::move(one));
  }
  return all;
}

abi::SeccompData call_of(const Case& one) {
  abi::SeccompData data{};
  std::string call = one.call;
  const bool i386 = call.starts_with("i386:");
  if (i386) call.erase(0, 5);
  data.arch = abi::facts(i386 ? abi::Arch::x86 : abi::Arch::x86_64).audit;
  const auto number = parse_number(call);
  data.nr = static_cast<int>(number ? *number : abi::syscall_number(abi::Arch::x86_64, call).value());
  std::istringstream arguments(one.arguments == "-" ? "" : one.arguments);
  std::size_t i = 0;
  for (std::string argument; std::getline(arguments, argument, ',');) data.args[i++] = parse_number(argument).value();
  return data;
}

class Conditions : public ::testing::TestWithParam<Case> {};

TEST_P(Conditions, AreAnsweredRightByEverything) {
  const auto policy = parse_policy(GetParam().policy);
  ASSERT_TRUE(policy) << policy.error().what;
  const abi::SeccompData call = call_of(GetParam());
  const abi::Verdict wanted = parse_verdict(GetParam().verdict).value();

  EXPECT_EQ(policy::evaluate(*policy, call), wanted);
  diagram::Store store;
  const auto node = lower::lower(*policy, store);
  ASSERT_TRUE(node);
  EXPECT_EQ(store.evaluate(*node, call), wanted);
  const program::Code reference = lower::reference_program(*policy);
  EXPECT_EQ(program::interpret(reference, call), wanted);
  const auto emitted = emit::emit(store, *node);
  ASSERT_TRUE(emitted) << emitted.error().what;
  EXPECT_EQ(program::interpret(*emitted, call), wanted);
}

TEST_P(Conditions, CostLittleToLowerAndEmit) {
  const auto policy = parse_policy(GetParam().policy);
  ASSERT_TRUE(policy);
  std::size_t conditions = 0;
  for (const policy::Rule& rule : policy->rules) conditions += rule.all_of.size() + 1;
  diagram::Store store;
  const auto node = lower::lower(*policy, store);
  ASSERT_TRUE(node);
  EXPECT_LE(store.node_count(), 100 + 120 * conditions);
  EXPECT_LE(store.edge_count(), 400 + 600 * conditions);
  EXPECT_LE(lower::reference_program(*policy).size(), 40 + 20 * conditions * policy->architectures.size());
  const auto emitted = emit::emit(store, *node);
  ASSERT_TRUE(emitted);
  EXPECT_LE(emitted->size(), 40 + 40 * conditions);
}

INSTANTIATE_TEST_SUITE_P(Table, Conditions, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace seccompress::test
