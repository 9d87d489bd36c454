// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.h"

#include <gtest/gtest.h>

#include "policy/evaluate.h"
#include "support/policy_text.h"

namespace seccompress::test {
namespace {

policy::Policy with_values(std::size_t count, std::uint64_t stride) {
  policy::Policy policy = parse_policy("default ERRNO(1)").value();
  for (std::size_t i = 0; i < count; ++i) {
    policy::Rule rule;
    rule.names = {"ioctl"};
    rule.verdict = abi::kAllow;
    rule.all_of.push_back({.index = 1, .op = policy::Operator::eq, .value = i * stride, .value_two = 0, .where = {}});
    policy.rules.push_back(std::move(rule));
  }
  return policy;
}

TEST(Lower, AnEmptyPolicyIsItsDefaultOnListedArchitecturesAlone) {
  diagram::Store store;
  const auto node = lower::lower(parse_policy("default ERRNO(5)").value(), store);
  ASSERT_TRUE(node);
  EXPECT_EQ(store.verdicts(*node), (std::vector<abi::Verdict>{abi::kKillThread, abi::kErrno | 5}));
}

TEST(Lower, ThousandsOfValuesStayLinear) {
  diagram::Store store;
  ASSERT_TRUE(lower::lower(with_values(5000, 0x10001), store));
  EXPECT_LT(store.edge_count(), 60'000U);
}

TEST(Lower, TooManyRulesAreACleanError) {
  diagram::Store store;
  const auto node = lower::lower(with_values(lower::kMaxCalls + 1, 1), store);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, make_error_code(Errc::budget));
}

TEST(Lower, AFullStoreIsACleanError) {
  diagram::Store store({.edges = 100});
  const auto node = lower::lower(with_values(500, 0x1000001), store);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, make_error_code(Errc::budget));
}

TEST(Lower, IsTheSameEachTime) {
  const policy::Policy policy =
      parse_policy("arch x86 x32; default ERRNO(1); ALLOW socket a0<38; ALLOW read; LOG ipc a0!=3").value();
  diagram::Store a, b;
  EXPECT_EQ(lower::lower(policy, a).value(), lower::lower(policy, b).value());
  EXPECT_EQ(a.edge_count(), b.edge_count());
  EXPECT_TRUE(program::same_code(lower::reference_program(policy), lower::reference_program(policy)));
}

TEST(Lower, TheOrderOfArchitecturesDoesNotMatter) {
  const policy::Policy one = parse_policy("arch x86 x32; default ERRNO(1); ALLOW socket a0<38").value();
  policy::Policy other = one;
  std::swap(other.architectures[0], other.architectures[2]);
  diagram::Store store;
  EXPECT_EQ(lower::lower(one, store).value(), lower::lower(other, store).value());
}

// Rules for plain numbers: bit 30 says whose they are, -1 is either's.
TEST(Lower, NumbersHoldForTheArchitectureThatHasThem) {
  const std::vector<std::uint32_t> numbers{0,           1,           0x3fff'ffff, 0x4000'0000,
                                           0x4000'0001, 0x7fff'ffff, 0xffff'fffe, UINT32_MAX};
  for (const char* archs : {"", "arch x86; ", "arch x32; ", "arch x32 x86; "}) {
    policy::Policy policy =
        parse_policy(std::string(archs) + "default ERRNO(1); LOG read a0==7; ERRNO(2) read").value();
    policy.rules[0].names = policy.rules[1].names = {};
    policy.rules[0].numbers = policy.rules[1].numbers = {1, 0x4000'0001, UINT32_MAX};
    policy.rules[1].all_of.push_back({.index = 1, .op = policy::Operator::ge, .value = 1ULL << 32, .where = {}});
    for (const bool without_x86_64 : {false, true}) {
      if (without_x86_64) std::erase(policy.architectures, abi::Arch::x86_64);
      diagram::Store store;
      const auto node = lower::lower(policy, store);
      ASSERT_TRUE(node);
      const program::Code reference = lower::reference_program(policy);
      for (const abi::Arch arch : {abi::Arch::x86_64, abi::Arch::x86})
        for (const std::uint32_t number : numbers)
          for (const std::uint64_t argument : {0ULL, 7ULL, 1ULL << 32}) {
            const abi::SeccompData call{static_cast<int>(number), abi::facts(arch).audit, 0, {argument, argument}};
            const abi::Verdict wanted = policy::evaluate(policy, call);
            EXPECT_EQ(store.evaluate(*node, call), wanted) << archs << number;
            EXPECT_EQ(program::interpret(reference, call), wanted) << archs << number;
          }
    }
  }
}

TEST(ReferenceProgram, JumpsOverLongBlocksWithJa) {
  const program::Code code = lower::reference_program(with_values(200, 3));
  ASSERT_TRUE(program::check(code)) << program::check(code).error().what;
  abi::SeccompData data{};
  data.arch = abi::facts(abi::Arch::x86_64).audit;
  data.nr = 17;
  EXPECT_EQ(program::interpret(code, data), abi::kErrno | 1);
  data.nr = 16;
  data.args[1] = 199 * 3;
  EXPECT_EQ(program::interpret(code, data), abi::kAllow);
}

}  // namespace
}  // namespace seccompress::test
