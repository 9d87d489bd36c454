// SPDX-License-Identifier: Apache-2.0
#include "diagram/store.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::diagram {
namespace {

using abi::kAllow;
using abi::kErrno;
using abi::kKillProcess;
using abi::kNr;

class StoreTest : public testing::Test {
 protected:
  Store store;
  Node allow = store.terminal(kAllow);
  Node eperm = store.terminal(kErrno | 1);
};

TEST_F(StoreTest, TerminalsAreNormalized) {
  EXPECT_EQ(store.terminal(kAllow | 0x1234), allow);
  EXPECT_EQ(store.terminal(kErrno | 4096), store.terminal(kErrno | 4095));
  EXPECT_NE(store.terminal(kErrno | 1), store.terminal(kErrno | 2));
  EXPECT_EQ(store.terminal(kKillProcess | 7), store.terminal(kKillProcess));
  EXPECT_NE(store.terminal(0x00060001), store.terminal(0x00060000)) << "unknown words stay verbatim";
  EXPECT_NE(store.terminal(abi::kTrap | 1), store.terminal(abi::kTrap | 2));
}

TEST_F(StoreTest, EqualFunctionsAreOneNodeHoweverTheyWereBuilt) {
  // nr in [2, 3] -> EPERM, three ways: ranges, single values, one mask.
  const Piece ranges[] = {{1, allow}, {3, eperm}, {0xffffffff, allow}};
  const Node by_ranges = store.select(kNr, ranges);
  const Node by_values =
      store.test(kNr, ~0U, Compare::eq, 2, eperm, store.test(kNr, ~0U, Compare::eq, 3, eperm, allow));
  const Node by_mask = store.test(kNr, ~1U, Compare::eq, 2, eperm, allow);
  EXPECT_EQ(by_ranges, by_values);
  EXPECT_EQ(by_ranges, by_mask);
}

TEST_F(StoreTest, MixedMaskAndRangeTestsOnOneWordStayExact) {
  // (v & 2) and v >= 100: 2^30 ranges, a handful of nodes.
  const Node one = store.test(4, 2, Compare::set, 2, store.test(4, ~0U, Compare::ge, 100, eperm, allow), allow);
  const Node other = store.test(4, ~0U, Compare::gt, 99, store.test(4, 2, Compare::eq, 2, eperm, allow), allow);
  EXPECT_EQ(one, other);
  EXPECT_LT(store.node_count(), 64U);
  const auto at = [&](std::uint32_t value) { return store.evaluate(one, test::call(test::kX8664, 0, value)); };
  EXPECT_EQ(at(98), kAllow);
  EXPECT_EQ(at(101), kAllow);
  EXPECT_EQ(at(102), kErrno | 1);
  EXPECT_EQ(at(0xfffffffe), kErrno | 1);
}

TEST_F(StoreTest, TheOrderOfTestsDoesNotMatter) {
  const Node argument_first =
      store.test(4, ~0U, Compare::eq, 7, store.test(kNr, ~0U, Compare::eq, 59, eperm, allow), allow);
  const Node number_first =
      store.test(kNr, ~0U, Compare::eq, 59, store.test(4, ~0U, Compare::eq, 7, eperm, allow), allow);
  EXPECT_EQ(argument_first, number_first);
}

TEST_F(StoreTest, SelectRestrictsChildrenThatTestTheSameWord) {
  const Node inner = store.test(kNr, ~0U, Compare::ge, 10, eperm, allow);
  const Piece pieces[] = {{4, inner}, {0xffffffff, allow}};
  EXPECT_EQ(store.select(kNr, pieces), allow) << "below 5 the inner test is never true";
}

TEST_F(StoreTest, StackTakesTheStricterActionAndTheNewerData) {
  const Node enosys = store.terminal(kErrno | 38);
  EXPECT_EQ(store.stack(enosys, eperm), enosys);
  EXPECT_EQ(store.stack(eperm, enosys), eperm);
  EXPECT_EQ(store.stack(allow, eperm), eperm);
  const Node kill = store.terminal(abi::kKillThread);
  EXPECT_EQ(store.stack(eperm, kill), kill);
  // 0xffff0000 is negative: stricter than KILL_THREAD, weaker than KILL_PROCESS.
  const Node odd = store.terminal(0xffff0000);
  EXPECT_EQ(store.stack(odd, kill), odd);
  EXPECT_EQ(store.stack(odd, store.terminal(kKillProcess)), store.terminal(kKillProcess));
}

TEST_F(StoreTest, AWitnessShowsTheDifference) {
  const Node one = store.test(kNr, ~0U, Compare::eq, 59, eperm, allow);
  const Node other = store.test(kNr, ~0U, Compare::eq, 59, store.test(9, ~0U, Compare::eq, 5, eperm, allow), allow);
  const auto witness = store.difference(one, other);
  ASSERT_TRUE(witness);
  EXPECT_EQ(witness->nr, 59);
  EXPECT_EQ(witness->arch, test::kX8664) << "the native architecture is tried first";
  EXPECT_NE(store.evaluate(one, *witness), store.evaluate(other, *witness));
  EXPECT_FALSE(store.difference(one, one));
}

TEST_F(StoreTest, CofactorFixesBits) {
  const Node node = store.test(4, 6, Compare::eq, 6, eperm, allow);
  EXPECT_EQ(store.cofactor(node, 4, 6, 6), eperm);
  EXPECT_EQ(store.cofactor(node, 4, 2, 0), allow);
  EXPECT_EQ(store.cofactor(node, 4, 2, 2), store.test(4, 4, Compare::set, 4, eperm, allow));
}

TEST_F(StoreTest, SubstituteReplacesAnExit) {
  const Node enosys = store.terminal(kErrno | 38);
  const Piece pieces[] = {{1, allow}, {3, eperm}, {0xffffffff, enosys}};
  const Piece expected[] = {{3, allow}, {0xffffffff, enosys}};
  EXPECT_EQ(store.substitute(store.select(4, pieces), 4, eperm, allow), store.select(4, expected));
}

TEST_F(StoreTest, VerdictsListsWhatIsReachable) {
  const Node node = store.test(kNr, ~0U, Compare::eq, 59, eperm, allow);
  EXPECT_EQ(store.verdicts(node), (std::vector<abi::Verdict>{kErrno | 1, kAllow}));
}

TEST(StoreLimits, ExhaustionIsReportedAndFailsClosed) {
  Store small(Limits{200});
  Node node = small.terminal(kAllow);
  for (std::uint32_t nr = 0; nr < 200; ++nr)
    node = small.test(kNr, ~0U, Compare::eq, nr * 7919, small.terminal(kErrno | nr), node);
  ASSERT_FALSE(small.status());
  EXPECT_EQ(small.status().error().code, make_error_code(Errc::budget));
  EXPECT_EQ(small.verdict(node), kKillProcess);
}

// Answers EPERM for `count` scattered values of nr, added one by one so that much is made on the way.
Node scattered(Store& store, std::uint32_t count) {
  Node node = store.terminal(kAllow);
  for (std::uint32_t i = 1; i <= count; ++i)
    node = store.test(kNr, ~0U, Compare::eq, i * 2'654'435'761U, store.terminal(kErrno | i), node);
  return node;
}

TEST_F(StoreTest, WhatIsForgottenIsMadeAgainAndTheRestStays) {
  const Node kept = store.test(4, ~0U, Compare::ge, 100, eperm, allow);
  const Store::Mark mark = store.mark();
  scattered(store, 300);
  ASSERT_GT(store.edge_count(), mark.runs + (1U << 16));
  store.forget_since(mark);
  EXPECT_EQ(store.node_count(), mark.nodes);
  EXPECT_EQ(store.edge_count(), mark.runs);
  EXPECT_EQ(store.test(4, ~0U, Compare::ge, 100, eperm, allow), kept);
  const Node again = scattered(store, 300);
  for (std::uint32_t i : {1U, 150U, 300U}) {
    const auto call = test::call(test::kX8664, i * 2'654'435'761U);
    EXPECT_EQ(store.evaluate(again, call), kErrno | i);
  }
  EXPECT_EQ(scattered(store, 300), again);
  EXPECT_TRUE(store.status());
}

TEST_F(StoreTest, LittleIsNotForgotten) {
  const Store::Mark mark = store.mark();
  const Node little = scattered(store, 3);
  store.forget_since(mark);
  EXPECT_EQ(scattered(store, 3), little);
  EXPECT_GT(store.node_count(), mark.nodes);
}

}  // namespace
}  // namespace seccompress::diagram
