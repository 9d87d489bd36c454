// SPDX-License-Identifier: Apache-2.0
#include "opaque/leaf.h"

#include <gtest/gtest.h>

#include "opaque/specialise.h"
#include "support/program_builder.h"

namespace seccompress::opaque {
namespace {

using namespace seccompress::test;
using abi::kAllow;
using abi::kErrno;

class LeafTest : public testing::Test {
 protected:
  // a0 == a1 ? equal : other
  Item relation(abi::Verdict equal, abi::Verdict other) {
    const program::Code code = {ld(4), tax(), ld(6), jump_x(BPF_JEQ, 0, 1), ret(equal), ret(other)};
    return {true, specialise(leaves.graph(), code, {})};
  }
  static Item verdict(abi::Verdict word) { return {false, word}; }
  Leaves leaves;
  Item eperm_or_allow = relation(kErrno | 1, kAllow);
  Item enoent_or_allow = relation(kErrno | 2, kAllow);
};

TEST_F(LeafTest, AllowIsTheUnit) {
  EXPECT_EQ(leaves.stack({eperm_or_allow}, {verdict(kAllow)}), Items{eperm_or_allow});
  EXPECT_EQ(leaves.stack({verdict(kAllow)}, {eperm_or_allow}), Items{eperm_or_allow});
}

TEST_F(LeafTest, TheSameCodeCountsOnce) {
  EXPECT_EQ(leaves.stack({eperm_or_allow, enoent_or_allow}, {eperm_or_allow}),
            (Items{eperm_or_allow, enoent_or_allow}));
}

TEST_F(LeafTest, CodeThatCannotWinIsDropped) {
  EXPECT_EQ(leaves.stack({eperm_or_allow}, {verdict(abi::kTrap)}), Items{verdict(abi::kTrap)});
  EXPECT_EQ(leaves.stack({verdict(kErrno | 5)}, {eperm_or_allow}), Items{verdict(kErrno | 5)}) << "the newer one wins";
  EXPECT_EQ(leaves.stack({eperm_or_allow}, {verdict(kErrno | 5)}), (Items{eperm_or_allow, verdict(kErrno | 5)}));
  EXPECT_EQ(leaves.stack({eperm_or_allow}, {verdict(kErrno | 1)}), Items{verdict(kErrno | 1)});
}

TEST_F(LeafTest, OfTwoVerdictsTheStricterStaysAtItsPlace) {
  EXPECT_EQ(leaves.stack({verdict(abi::kLog), eperm_or_allow}, {verdict(kErrno | 7)}),
            (Items{eperm_or_allow, verdict(kErrno | 7)}));
}

TEST_F(LeafTest, NewerCodeHidesWhatTiesBehindIt) {
  // a0 == a1: ERRNO(1) of the newest; else ERRNO(2) or ERRNO(1) of the oldest.
  const Items items = leaves.stack({eperm_or_allow, relation(kErrno | 2, kErrno | 2)}, {verdict(kErrno | 1)});
  const LeafId leaf = leaves.file(items);
  EXPECT_EQ(leaves.evaluate(leaf, call(kX8664, 0, 5, 5)), kErrno | 1);
  EXPECT_EQ(leaves.evaluate(leaf, call(kX8664, 0, 5, 6)), kErrno | 2);
}

TEST_F(LeafTest, VerdictsAreThoseThatMayCome) {
  const LeafId two = leaves.file(leaves.stack({eperm_or_allow}, {enoent_or_allow}));
  EXPECT_EQ(*leaves.verdicts(two), (std::vector<abi::Verdict>{kErrno | 1, kErrno | 2, kAllow}));
  EXPECT_EQ(leaves.words(two), 1U << 4 | 1U << 6);
  const program::Code computed = {ld(4), ret_a()};
  EXPECT_FALSE(leaves.verdicts(leaves.file({{true, specialise(leaves.graph(), computed, {})}})));
  const program::Code divides = {ld(4), tax(), ld(6), alu_x(BPF_DIV), ret(kAllow)};
  EXPECT_EQ(*leaves.verdicts(leaves.file({{true, specialise(leaves.graph(), divides, {})}})),
            (std::vector<abi::Verdict>{abi::kKillThread, kAllow}));
}

}  // namespace
}  // namespace seccompress::opaque
