// SPDX-License-Identifier: Apache-2.0
// All policies of up to two rules with up to two conditions each from a tiny alphabet, on all small words: the rules
// themselves, the diagram and the reference program say the same.
#include <gtest/gtest.h>

#include "abi/syscalls.h"
#include "lower/lower.h"
#include "policy/evaluate.h"
#include "policy/print.h"

namespace seccompress::test {
namespace {

using policy::Condition;
using policy::Operator;

constexpr std::uint64_t kHigh = std::uint64_t{1} << 32;
constexpr std::uint64_t kWords[] = {0, 1, 2, 0xffffffff, kHigh, kHigh + 1, kHigh + 2, UINT64_MAX};

// Every operator against 1 and against a value with a high half; masks over both halves. First: no condition.
std::vector<std::optional<Condition>> alphabet(std::uint8_t index) {
  std::vector<std::optional<Condition>> all{std::nullopt};
  for (const Operator op : {Operator::ne, Operator::lt, Operator::le, Operator::eq, Operator::ge, Operator::gt})
    for (const std::uint64_t value : {std::uint64_t{1}, kHigh + 1}) all.push_back(Condition{index, op, value, 0, {}});
  all.push_back(Condition{index, Operator::masked_eq, 1, 1, {}});
  all.push_back(Condition{index, Operator::masked_eq, kHigh + 2, kHigh, {}});
  return all;
}

std::vector<policy::Rule> all_rules(abi::Verdict verdict) {
  std::vector<policy::Rule> rules;
  for (const auto& first : alphabet(0))
    for (const auto& second : alphabet(1)) {
      policy::Rule rule;
      rule.names = {"personality"};
      rule.verdict = verdict;
      if (first) rule.all_of.push_back(*first);
      if (second) rule.all_of.push_back(*second);
      rules.push_back(std::move(rule));
    }
  return rules;
}

struct Counts {
  std::size_t policies = 0, calls = 0, wrong = 0;
};

void check(const policy::Policy& policy, Counts& counts) {
  static const std::uint32_t number = abi::syscall_number(abi::Arch::x86_64, "personality").value();
  diagram::Store store;
  const auto node = lower::lower(policy, store);
  ASSERT_TRUE(node);
  const program::Code reference = lower::reference_program(policy);
  abi::SeccompData call{};
  call.arch = abi::facts(abi::Arch::x86_64).audit;
  call.nr = static_cast<int>(number);
  ++counts.policies;
  for (const std::uint64_t a0 : kWords)
    for (const std::uint64_t a1 : kWords) {
      call.args[0] = a0;
      call.args[1] = a1;
      const abi::Verdict wanted = policy::evaluate(policy, call);
      ++counts.calls;
      if (store.evaluate(*node, call) == wanted && program::interpret(reference, call) == wanted) continue;
      ++counts.wrong;
      ADD_FAILURE() << a0 << ' ' << a1 << '\n' << policy::to_string(policy);
      return;
    }
}

class LowerSmallPolicies : public ::testing::TestWithParam<std::array<abi::Verdict, 3>> {};

TEST_P(LowerSmallPolicies, AgreeOnAllSmallWords) {
  const auto [fallback, first_verdict, second_verdict] = GetParam();
  policy::Policy policy;
  policy.default_verdict = fallback;
  policy.architectures = {abi::Arch::x86_64};
  Counts counts;
  check(policy, counts);
  for (const policy::Rule& first : all_rules(first_verdict)) {
    policy.rules = {first};
    check(policy, counts);
    for (const policy::Rule& second : all_rules(second_verdict)) {
      policy.rules = {first, second};
      check(policy, counts);
      if (counts.wrong > 10) FAIL();
    }
  }
  std::printf("%zu policies, %zu calls\n", counts.policies, counts.calls);
  EXPECT_EQ(counts.policies, 1U + 225U + 225U * 225U);
}

constexpr std::array<abi::Verdict, 3> kSame = {abi::kAllow, abi::kErrno | 1, abi::kErrno | 1};
constexpr std::array<abi::Verdict, 3> kStricterSecond = {abi::kAllow, abi::kErrno | 1, abi::kKillProcess};
constexpr std::array<abi::Verdict, 3> kStricterFirst = {abi::kErrno | 1, abi::kKillThread, abi::kAllow};
constexpr std::array<abi::Verdict, 3> kOtherData = {abi::kErrno | 3, abi::kErrno | 1, abi::kErrno | 2};
INSTANTIATE_TEST_SUITE_P(Verdicts, LowerSmallPolicies,
                         ::testing::Values(kSame, kStricterSecond, kStricterFirst, kOtherData));

}  // namespace
}  // namespace seccompress::test
