// SPDX-License-Identifier: Apache-2.0
#include "merge/merge.h"

#include <gtest/gtest.h>

#include "abi/word.h"

namespace seccompress::merge {
namespace {

using diagram::Compare;
using diagram::Node;

class MergeTest : public testing::Test {
 protected:
  Node deny(std::uint32_t nr, std::uint32_t error) {
    return store.test(abi::kNr, ~0U, Compare::eq, nr, store.terminal(abi::kErrno | error), allow);
  }
  diagram::Store store;
  Node allow = store.terminal(abi::kAllow);
};

TEST_F(MergeTest, AnEmptyStackAllows) { EXPECT_EQ(*merge(store, {}), allow); }

TEST_F(MergeTest, TheNewestLayerKeepsItsDataOnATie) {
  const Node older = deny(1, 1), newer = deny(1, 2);
  EXPECT_EQ(*merge(store, std::vector{older, newer}), newer);
  EXPECT_EQ(*merge(store, std::vector{newer, older}), older);
}

TEST_F(MergeTest, OfTwoCopiesEachIsImpliedAndOneIsRedundant) {
  const std::vector layers = {deny(1, 1), deny(2, 1), deny(1, 1)};
  const auto result = contribution(store, layers);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->implied, (std::vector{true, false, true}));
  EXPECT_EQ(result->redundant, (std::vector{true, false, false}));
  EXPECT_EQ(result->duplicate_of, (std::vector<std::optional<std::size_t>>{{}, {}, 0}));
}

TEST_F(MergeTest, ALayerThatOthersTogetherCoverIsImplied) {
  const Node both = store.stack(deny(1, 1), deny(2, 1));
  const auto result = contribution(store, std::vector{both, deny(1, 1), deny(2, 1)});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->implied, (std::vector{true, true, true}));
  EXPECT_EQ(result->redundant, (std::vector{true, false, false}));
}

TEST_F(MergeTest, CompareFindsTheOrderAndShowsIt) {
  const Node one = deny(1, 1), two = store.stack(deny(1, 1), deny(2, 1));
  EXPECT_EQ(compare(store, one, one).order, Order::equal);
  const Comparison looser = compare(store, one, two);
  EXPECT_EQ(looser.order, Order::looser);
  ASSERT_TRUE(looser.left_looser);
  EXPECT_EQ(looser.left_looser->nr, 2);
  EXPECT_FALSE(looser.left_stricter);
  EXPECT_EQ(compare(store, two, one).order, Order::stricter);
  EXPECT_EQ(compare(store, deny(1, 1), deny(2, 1)).order, Order::incomparable);
}

TEST_F(MergeTest, OtherDataAloneIsEqualActions) {
  const Comparison result = compare(store, deny(1, 1), deny(1, 2));
  EXPECT_EQ(result.order, Order::equal_actions);
  ASSERT_TRUE(result.data);
  EXPECT_EQ(result.data->nr, 1);
}

TEST_F(MergeTest, AnExhaustedStoreIsAnError) {
  diagram::Store small(diagram::Limits{40});
  std::vector<Node> layers;
  for (std::uint32_t i = 0; i < 40; ++i)
    layers.push_back(small.test(abi::kNr, ~0U, Compare::eq, i * 1000003, small.terminal(abi::kErrno | i),
                                small.terminal(abi::kAllow)));
  EXPECT_FALSE(merge(small, layers));
}

}  // namespace
}  // namespace seccompress::merge
