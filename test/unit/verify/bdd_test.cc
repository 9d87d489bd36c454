// SPDX-License-Identifier: Apache-2.0
// The verifier's own decision diagrams: equal functions have equal edges, in both orders.
#include "verify/bdd.h"

#include <gtest/gtest.h>

#include <vector>

namespace seccompress::verify {
namespace {

constexpr std::uint32_t kAll = 0xffffffffU;

class BddInOrder : public ::testing::TestWithParam<Order> {
 protected:
  BddInOrder() { bdd_.reset(GetParam()); }
  Budget budget_{1'000'000};
  Bdd bdd_{1U << 20, budget_};
};

TEST_P(BddInOrder, HasOneEdgeForEachFunction) {
  const abi::Word a = abi::arg_low(0), b = abi::arg_high(3);
  const Edge five = bdd_.compare(a, kAll, Relation::equal, 5);
  const Edge at_least_five = bdd_.compare(a, kAll, Relation::greater_equal, 5);
  const Edge above_five = bdd_.compare(a, kAll, Relation::greater, 5);
  EXPECT_EQ(bdd_.conjunction(at_least_five, negate(above_five)), five);
  EXPECT_EQ(bdd_.difference(at_least_five, above_five), five);
  EXPECT_EQ(bdd_.compare(a, kAll, Relation::greater, 4), at_least_five);
  EXPECT_EQ(bdd_.compare(a, kAll, Relation::greater_equal, 0), kTrue);
  EXPECT_EQ(bdd_.compare(a, kAll, Relation::greater, kAll), kFalse);
  const Edge other = bdd_.compare(b, 0xf0, Relation::any_bit, 0x30);
  EXPECT_EQ(other, bdd_.disjunction(bdd_.bit(b, 4), bdd_.bit(b, 5)));
  EXPECT_EQ(bdd_.conjunction(five, other), negate(bdd_.disjunction(negate(other), negate(five))));
  EXPECT_EQ(bdd_.choose(other, five, negate(five)), negate(bdd_.difference(other, five)));
}

TEST_P(BddInOrder, ComparesMaskedWordsLikeNumbers) {
  const abi::Word word = abi::arg_low(1);
  for (const std::uint32_t mask : {0xffU, 0xcU, 0x80000001U})
    for (const std::uint32_t value : {0U, 1U, 4U, 8U, 0xcU, 0x10U, 0x80000000U, 0x80000001U})
      for (const std::uint32_t input : {0U, 1U, 4U, 5U, 0xcU, 0xffU, 0x80000000U, 0x80000001U, kAll}) {
        const Edge input_is = bdd_.compare(word, kAll, Relation::equal, input);
        const auto expect = [&](Relation relation, bool truth) {
          const Edge both = bdd_.conjunction(input_is, bdd_.compare(word, mask, relation, value));
          EXPECT_EQ(both, truth ? input_is : kFalse) << mask << ' ' << value << ' ' << input;
        };
        expect(Relation::equal, (input & mask) == value);
        expect(Relation::greater, (input & mask) > value);
        expect(Relation::greater_equal, (input & mask) >= value);
        expect(Relation::any_bit, (input & mask & value) != 0);
      }
}

TEST_P(BddInOrder, WritesASatisfyingInput) {
  const Edge wanted = bdd_.conjunction(bdd_.compare(abi::arg_high(2), kAll, Relation::equal, 7),
                                       bdd_.conjunction(bdd_.compare(abi::kNr, kAll, Relation::greater, 0x80000000U),
                                                        bdd_.compare(abi::kIpLow, 0xff, Relation::equal, 0x42)));
  abi::SeccompData data{};
  bdd_.satisfy(wanted, data);
  EXPECT_EQ(data.args[2], 0x700000000ULL);
  EXPECT_GT(abi::read_word(data, abi::kNr), 0x80000000U);
  EXPECT_EQ(data.instruction_pointer, 0x42U);
}

INSTANTIATE_TEST_SUITE_P(Orders, BddInOrder, ::testing::Values(Order::word_by_word, Order::bit_by_bit));

TEST(Bdd, SaysWhenItOverflows) {
  Budget budget(1'000'000);
  Bdd small(100, budget);
  EXPECT_FALSE(small.overflowed());
  Edge all = kTrue;
  for (std::uint32_t i = 0; i < 20; ++i)
    all = small.conjunction(all, negate(small.compare(abi::arg_low(0), kAll, Relation::equal, 1U << i)));
  EXPECT_TRUE(small.overflowed());
  small.reset(Order::word_by_word);
  EXPECT_FALSE(small.overflowed());

  Budget steps(3);
  Bdd hasty(1U << 20, steps);
  hasty.conjunction(hasty.compare(abi::arg_low(0), kAll, Relation::greater, 0x55555555),
                    hasty.compare(abi::arg_low(1), kAll, Relation::greater, 0x33333333));
  EXPECT_TRUE(hasty.overflowed());
}

TEST(Bdd, FindsEachOfManyNodesAgain) {
  Budget budget(100'000'000);
  Bdd bdd(1U << 20, budget);
  std::vector<Edge> edges;
  const auto value = [](std::uint32_t i) { return i * 2'654'435'761U; };
  for (std::uint32_t i = 0; i < 3000; ++i) edges.push_back(bdd.compare(0, kAll, Relation::equal, value(i)));
  const std::size_t count = bdd.node_count();
  EXPECT_GT(count, 50'000U);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const Interval only{value(i), value(i)};
    ASSERT_EQ(bdd.member(0, {&only, 1}), edges[i]);
    abi::SeccompData data{};
    bdd.satisfy(edges[i], data);
    ASSERT_EQ(abi::read_word(data, abi::Word{0}), value(i));
  }
  EXPECT_EQ(bdd.node_count(), count);
}

TEST(Bdd, HasWordsForAnyProofButNotWithoutEnd) {
  Budget budget(1'000'000);
  Bdd bdd(1U << 20, budget);
  const Edge last = bdd.bit(kFreshWords + (1U << 18) - 18, 0);
  EXPECT_FALSE(bdd.overflowed());
  EXPECT_NE(last, bdd.bit(kFreshWords + (1U << 18) - 19, 0));
  bdd.bit(kFreshWords + (1U << 18) - 17, 0);
  EXPECT_TRUE(bdd.overflowed());
}

}  // namespace
}  // namespace seccompress::verify
