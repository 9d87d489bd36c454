// SPDX-License-Identifier: Apache-2.0
// What a test of an argument costs, on the smallest policies: the exact program, or what calls execute.
#include <gtest/gtest.h>

#include "emit/emit.h"
#include "raise/raise.h"
#include "support/program_builder.h"

namespace seccompress::emit {
namespace {

using namespace seccompress::test;
using abi::arg_high;
using abi::arg_low;
using abi::kAllow;
using abi::kErrno;
using abi::kNr;
using diagram::Compare;
using diagram::Node;
using diagram::Piece;

constexpr abi::Word kLow = arg_low(0), kHigh = arg_high(0);

class ArgumentsTest : public testing::Test {
 protected:
  Code emitted(Node node) {
    const auto code = emit(store, node);
    EXPECT_TRUE(code);
    if (!code) return {};
    const auto back = raise::raise(*code, store);
    EXPECT_TRUE(back && *back == node) << program::disassemble(*code);
    return *code;
  }
  void expect(const Code& code, const Code& expected) {
    EXPECT_TRUE(program::same_code(code, expected)) << program::disassemble(code) << "instead of\n"
                                                    << program::disassemble(expected);
  }
  Node is(abi::Word word, std::uint32_t value, Node yes, Node no) {
    return store.test(word, ~0U, Compare::eq, value, yes, no);
  }
  std::uint32_t executed(const Code& code, std::uint64_t a0) {
    return program::run(code, call(kX8664, 0, a0)).executed;
  }

  diagram::Store store;
  Node allow = store.terminal(kAllow);
  Node eperm = store.terminal(kErrno | 1);
  Node enosys = store.terminal(kErrno | 38);
};

TEST_F(ArgumentsTest, ASetOfSixteenValuesIsASearch) {
  Node node = eperm;
  for (std::uint32_t i = 0; i < 16; ++i) node = is(kLow, 3 * i + 1 + i * i, allow, node);
  const Code code = emitted(node);
  std::uint32_t most = 0, sum = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    most = std::max(most, executed(code, 3 * i + 1 + i * i));
    sum += executed(code, 3 * i + 1 + i * i);
  }
  EXPECT_LE(most, 8U);      // load, at most six tests, RET; a chain takes up to 18
  EXPECT_LE(sum, 16U * 7);  // and ten on average
}

TEST_F(ArgumentsTest, NeighbouringValuesAreOneRange) {
  Node node = eperm;
  for (std::uint32_t value = 20; value < 40; ++value) node = is(kLow, value, allow, node);
  const Code code = emitted(node);
  EXPECT_EQ(code.size(), 5U);
  EXPECT_LE(executed(code, 30), 4U);
}

TEST_F(ArgumentsTest, FlagTestsWithOneTargetAreOneJset) {
  Node node = allow;
  for (const std::uint32_t bit : {0x20000U, 0x2000000U, 0x4000000U, 0x8000000U, 0x10000000U, 0x20000000U, 0x40000000U})
    node = store.test(kLow, bit, Compare::set, bit, eperm, node);
  expect(emitted(node), {ld(kLow), jset(0x7e020000, 1, 0), ret(kAllow), ret(kErrno | 1)});
}

TEST_F(ArgumentsTest, ASetClosedUnderFreeBitsIsOneMaskTest) {
  const Node node = is(kLow, 0, allow, is(kLow, 8, allow, is(kLow, 0x20000, allow, is(kLow, 0x20008, allow, eperm))));
  expect(emitted(node), {ld(kLow), jset(0xfffdfff7, 1, 0), ret(kAllow), ret(kErrno | 1)});
}

TEST_F(ArgumentsTest, SuchASetWithOneMoreValueIsOneTestMore) {
  const Node four = is(kLow, 0, allow, is(kLow, 8, allow, is(kLow, 0x20000, allow, is(kLow, 0x20008, allow, eperm))));
  const Code code = emitted(is(kLow, 0xffffffff, allow, four));
  EXPECT_EQ(executed(code, 0x20008), 3U);
  EXPECT_EQ(executed(code, 0xffffffff), 4U);
  EXPECT_EQ(executed(code, 1), 4U);
}

TEST_F(ArgumentsTest, TheHighHalfIsNotLoadedWhereTheLowOneDecides) {
  // ERRNO if a0 == 40, all 64 bits
  const Node node = is(kHigh, 0, is(kLow, 40, eperm, allow), allow);
  const Code code = emitted(node);
  EXPECT_EQ(executed(code, 1), 3U);                // ld low, jeq, ret
  EXPECT_EQ(executed(code, 40), 5U);               // and ld high, jeq
  EXPECT_EQ(executed(code, 0x100000000 | 1), 3U);  // the low half decides here too
  EXPECT_LE(code.size(), 7U);
}

TEST_F(ArgumentsTest, TheHighHalfComesFirstWhereTheLowOneDecidesNothing) {
  // a0 >= 2^32: ENOSYS; else by value
  const Node node = is(kHigh, 0, is(kLow, 40, eperm, allow), enosys);
  const Code code = emitted(node);
  EXPECT_EQ(executed(code, 0x100000000), 3U);
  EXPECT_EQ(executed(code, 1), 5U);
}

TEST_F(ArgumentsTest, AHighHalfThatDecidesNothingIsNotTested) {
  const Node low = is(kLow, 40, eperm, allow);
  expect(emitted(is(kHigh, 0, low, low)), {ld(kLow), jeq(40, 0, 1), ret(kErrno | 1), ret(kAllow)});
}

TEST_F(ArgumentsTest, AWordThatAHoldsIsNotLoadedAgain) {
  // Flags, then a value of the same word: one load.
  const Node node = store.test(kLow, 0x100, Compare::set, 0x100, eperm, is(kLow, 0x33, enosys, allow));
  for (const std::uint64_t a0 : {0x0ULL, 0x33ULL, 0x100ULL})
    EXPECT_EQ(program::run(emitted(node), call(kX8664, 0, a0)).loads, 1U) << a0;
}

TEST_F(ArgumentsTest, ImpliedTestsAreGone) {
  // Below 16, no bit from 4 up is set.
  const Node inner = store.test(kLow, 0xf0, Compare::set, 0xf0, enosys, allow);
  const Piece pieces[] = {{15, inner}, {0xffffffff, eperm}};
  const Node node = store.select(kLow, pieces);
  const Code code = emitted(node);
  EXPECT_EQ(code.size(), 4U) << program::disassemble(code);
  EXPECT_EQ(executed(code, 3), 3U);
}

TEST_F(ArgumentsTest, ASharedSubDiagramIsEmittedOnce) {
  // Two numbers apart from each other, the same seven tests of arguments behind both.
  Node node = allow;
  for (unsigned argument = 1; argument < 6; ++argument) node = is(arg_low(argument), 7 + argument, eperm, node);
  const std::size_t one = emitted(is(kNr, 10, node, allow)).size();
  const std::size_t two = emitted(is(kNr, 10, node, is(kNr, 300, node, allow))).size();
  EXPECT_LE(two, one + 2);  // another JEQ, and perhaps a RET again
}

TEST_F(ArgumentsTest, NeighbouringNumbersShareATestThatMostlyDecides) {
  // mmap and mprotect: EXEC and WRITE, or EXEC alone, are refused.
  const abi::Word flags = arg_low(2);
  const Node both = store.test(flags, 6, Compare::eq, 6, eperm, allow);
  const Node exec = store.test(flags, 4, Compare::set, 4, eperm, allow);
  const Piece pieces[] = {{8, enosys}, {9, both}, {10, exec}, {0xffffffff, enosys}};
  const Node node = store.select(kNr, pieces);
  const Code code = emitted(node);
  for (const std::uint32_t nr : {9U, 10U}) {
    abi::SeccompData data = call(kX8664, nr);
    data.args[2] = 3;
    EXPECT_EQ(program::run(code, data).executed, 6U) << nr;  // ld nr, two tests, ld flags, jset, ret
  }
}

}  // namespace
}  // namespace seccompress::emit
