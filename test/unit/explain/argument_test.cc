// SPDX-License-Identifier: Apache-2.0
// How values of an argument are put into words, and that the exits are exact.
#include "explain/argument.h"

#include <gtest/gtest.h>

#include "explain/regions.h"
#include "lower/lower.h"
#include "policy/evaluate.h"
#include "support/policy_inputs.h"
#include "support/policy_text.h"
#include "support/program_builder.h"
#include "support/random_policy.h"

namespace seccompress::test {
namespace {

// "values: verdict" for each region of personality (135), joined by "; ".
std::string regions_text(const std::string& policy_text,
                         const std::array<std::optional<std::uint64_t>, explain::kValues>& given = {}) {
  const auto policy = parse_policy(policy_text);
  EXPECT_TRUE(policy) << policy_text;
  diagram::Store store;
  const auto node = lower::lower(*policy, store);
  EXPECT_TRUE(node);
  const explain::Regions regions = explain::regions_of(store, *node, {kX8664, 135, given});
  EXPECT_TRUE(regions.complete);
  std::string text;
  for (const explain::Region& region : regions.regions) {
    text += text.empty() ? "" : "; ";
    for (const std::string& condition : region.when)
      text += (&condition == region.when.data() ? "" : " and ") + condition;
    text += ": " + abi::to_string(region.verdict);
    EXPECT_EQ(policy::evaluate(*policy, region.example), region.verdict) << policy_text;
  }
  return text;
}

TEST(ArgumentValues, OfOneConditionReadLikeIt) {
  EXPECT_EQ(regions_text("default ALLOW; ERRNO(1) personality a0==16"),
            "a0 == 0x10: ERRNO(1 EPERM); a0 != 0x10: ALLOW");
  EXPECT_EQ(regions_text("default ALLOW; ERRNO(1) personality a0!=16"),
            "a0 != 0x10: ERRNO(1 EPERM); a0 == 0x10: ALLOW");
  EXPECT_EQ(regions_text("default ALLOW; ERRNO(1) personality a1&6==2"),
            "a1 & 6 == 2: ERRNO(1 EPERM); a1 & 6 != 2: ALLOW");
  EXPECT_EQ(regions_text("default ALLOW; ERRNO(1) personality a0>16"), "a0 >= 0x11: ERRNO(1 EPERM); a0 <= 0x10: ALLOW");
}

TEST(ArgumentValues, OfSeveralRulesAreSets) {
  EXPECT_EQ(regions_text("default ERRNO(1); ALLOW personality a0==0; ALLOW personality a0==8; ALLOW personality a0==9"),
            "not (a0 in {0, 8..9}): ERRNO(1 EPERM); a0 in {0, 8..9}: ALLOW");
  EXPECT_EQ(regions_text("default ALLOW; ERRNO(1) personality a0&5==1; ERRNO(2) personality a0&5==4"),
            "a0 & 5 == 1: ERRNO(1 EPERM); a0 & 5 == 4: ERRNO(2 ENOENT); a0 & 5 in {0, 5}: ALLOW");
}

TEST(ArgumentValues, ThatAreGivenAreFollowed) {
  const std::string policy = "default ALLOW; ERRNO(1) personality a0==16 && a1==3";
  EXPECT_EQ(regions_text(policy),
            "a0 == 0x10 and a1 == 3: ERRNO(1 EPERM); a0 == 0x10 and a1 != 3: ALLOW; a0 != 0x10: ALLOW");
  EXPECT_EQ(regions_text(policy, {std::optional<std::uint64_t>(16)}), "a1 == 3: ERRNO(1 EPERM); a1 != 3: ALLOW");
  EXPECT_EQ(regions_text(policy, {std::nullopt, std::optional<std::uint64_t>(4)}),
            "a0 == 0x10: ALLOW; a0 != 0x10: ALLOW");
}

TEST(ArgumentValues, CoverEveryValueOnceInRandomPolicies) {
  Random random(seed_or(20261130));
  std::size_t exits_seen = 0;
  for (int round = 0; round < 300; ++round) {
    const policy::Policy policy = random_policy(random, {.rules = 6, .conditions = 2, .many_architectures = false});
    diagram::Store store;
    const auto root = lower::lower(policy, store);
    ASSERT_TRUE(root);
    for (const Number number : named_numbers(policy)) {
      const diagram::Node node = explain::node_of_call(store, *root, number.audit, number.nr);
      if (store.is_terminal(node)) continue;
      std::uint64_t sum = 0;  // 2^64 wraps to 0
      for (const explain::Exit& exit : explain::exits_of(store, node)) {
        sum += exit.count;
        ++exits_seen;
      }
      EXPECT_EQ(sum, 0U) << "round " << round << " number " << number.nr;
      const explain::Regions regions = explain::regions_of(store, *root, {number.audit, number.nr, {}});
      for (const explain::Region& region : regions.regions)
        EXPECT_EQ(policy::evaluate(policy, region.example), region.verdict);
    }
  }
  EXPECT_GT(exits_seen, 500U);
}

}  // namespace
}  // namespace seccompress::test
