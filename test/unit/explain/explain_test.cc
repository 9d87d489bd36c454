// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.h"

#include <gtest/gtest.h>

#include "support/policy_inputs.h"
#include "support/policy_text.h"
#include "support/program_builder.h"
#include "support/random_policy.h"

namespace seccompress::test {
namespace {

explain::Filter filter(const Code& code) { return {0, "", code, nullptr, 0}; }

TEST(Explain, OfEqualActionsTheNewestFilterDecides) {
  const Code one = {ret(abi::kErrno | 1)}, two = {ret(abi::kErrno | 2)}, allow = {ret(abi::kAllow)};
  const std::vector<explain::Filter> filters = {filter(one), filter(two), filter(allow)};
  const auto found = explain::explain(filters, call(kX8664, 1));
  EXPECT_EQ(found.winner, 1U);
  EXPECT_EQ(found.verdict, abi::kErrno | 2U);
  EXPECT_EQ(found.opinions[0].verdict, abi::kErrno | 1U);
}

TEST(Explain, NamesTheReturnThatWasReached) {
  const Code code = {ld(abi::kNr), jeq(5, 0, 1), ret(abi::kErrno | 1), ret(abi::kAllow)};
  EXPECT_EQ(explain::opinion_of(filter(code), call(kX8664, 5)).instruction, 2U);
  EXPECT_EQ(explain::opinion_of(filter(code), call(kX8664, 6)).instruction, 3U);
}

TEST(Explain, AllAllowingHasNoWinner) {
  const Code allow = {ret(abi::kAllow | 7)};
  const std::vector<explain::Filter> filters = {filter(allow)};
  EXPECT_EQ(explain::explain(filters, call(kX8664, 1)).winner, std::nullopt);
  EXPECT_EQ(explain::explain({}, call(kX8664, 1)).verdict, abi::kAllow);
}

TEST(Explain, OfAPolicyNamesTheRule) {
  const auto policy =
      parse_policy("default ALLOW; ERRNO(1) personality a0==2; ERRNO(2) personality a0>1; KILL_THREAD read");
  ASSERT_TRUE(policy);
  const auto rule_at = [&](std::uint32_t nr, std::uint64_t a0) {
    return policy::decide(*policy, call(kX8664, nr, a0));
  };
  EXPECT_EQ(rule_at(135, 2).rule, &policy->rules[0]);
  EXPECT_EQ(rule_at(135, 3).rule, &policy->rules[1]);
  EXPECT_EQ(rule_at(135, 1).rule, nullptr);
  EXPECT_EQ(rule_at(135, 1).naming, 2U);
  EXPECT_EQ(rule_at(1, 1).naming, 0U);
  EXPECT_EQ(rule_at(0, 1).rule, &policy->rules[2]);
  EXPECT_EQ(policy::decide(*policy, call(kI386, 3)).ground, policy::Ground::bad_arch);
}

// The winner's verdict is the stack's, and no newer filter has that action or a smaller one.
TEST(Explain, AgreesWithTheKernelsLoopOnRandomStacks) {
  Random random(seed_or(20261130));
  for (int round = 0; round < 2000; ++round) {
    std::vector<Code> codes;
    for (std::size_t i = 1 + random() % 4; i > 0; --i) codes.push_back(random_code(random, {}));
    std::vector<explain::Filter> filters;
    for (const Code& code : codes) filters.push_back(filter(code));
    const abi::SeccompData data = random_data(random, codes);
    const auto found = explain::explain(filters, data);
    ASSERT_EQ(abi::normalize(found.verdict), abi::normalize(program::interpret_stack(codes, data)));
    if (!found.winner) continue;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto other = abi::strictness(found.opinions[i].verdict);
      if (i > *found.winner)
        ASSERT_GT(other, abi::strictness(found.verdict));
      else
        ASSERT_GE(other, abi::strictness(found.verdict));
    }
  }
}

}  // namespace
}  // namespace seccompress::test
