// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include <gtest/gtest.h>

#include "raise/raise.h"
#include "support/program_builder.h"

namespace seccompress::emit {
namespace {

using namespace seccompress::test;
using abi::kAllow;
using abi::kArch;
using abi::kErrno;
using abi::kNr;
using diagram::Compare;
using diagram::Node;
using diagram::Piece;

constexpr abi::Word kA0 = 4, kA1 = 6;

class EmitTest : public testing::Test {
 protected:
  // Emits, and holds the result to the kernel's rules and to the function it was made from.
  Code emitted(Node node, const Options& options = {}) {
    auto code = emit(store, node, options);
    EXPECT_TRUE(code) << (code ? "" : code.error().what);
    if (!code) return {};
    EXPECT_TRUE(program::check(*code));
    const auto back = raise::raise(*code, store);
    EXPECT_TRUE(back);
    EXPECT_EQ(*back, node) << program::disassemble(*code);
    return *code;
  }
  Node on_call(std::uint32_t nr, Node then) { return store.test(kNr, ~0U, Compare::eq, nr, then, allow); }

  diagram::Store store;
  Node allow = store.terminal(kAllow);
  Node eperm = store.terminal(kErrno | 1);
  Node enosys = store.terminal(kErrno | 38);
};

TEST_F(EmitTest, AConstantIsOneInstruction) {
  EXPECT_EQ(emitted(allow).size(), 1U);
  EXPECT_EQ(emitted(eperm).size(), 1U);
}

TEST_F(EmitTest, OneExceptionIsOneComparison) {
  EXPECT_EQ(emitted(on_call(59, eperm)).size(), 4U);  // ld, jeq, ret, ret
}

TEST_F(EmitTest, ARangeIsTwoComparisons) {
  const Piece pieces[] = {{9, allow}, {19, eperm}, {0xffffffff, allow}};
  EXPECT_EQ(emitted(store.select(kNr, pieces)).size(), 5U);
}

TEST_F(EmitTest, FlagTestsWithOneTargetAreOneJset) {
  // Each of eight bits answers EPERM.
  Node node = allow;
  for (unsigned bit = 3; bit < 27; bit += 3) node = store.test(kA0, 1U << bit, Compare::set, 1U << bit, eperm, node);
  EXPECT_EQ(emitted(node).size(), 4U);
}

TEST_F(EmitTest, ASetClosedUnderFreeBitsIsOneMaskTest) {
  // {0, 1, 128, 129}
  const Node node = store.test(kA0, 0xffffff7eU, Compare::eq, 0, eperm, allow);
  EXPECT_EQ(emitted(node).size(), 4U);
}

TEST_F(EmitTest, BothBitsSetAreTwoJsetsAndTheFirstMostlyDecides) {
  const Code code = emitted(store.test(kA0, 6, Compare::eq, 6, eperm, allow));
  EXPECT_LE(code.size(), 6U);  // ld, jset, jset, ret, ret, and perhaps a ret again to fall through to
  EXPECT_EQ(program::run(code, call(kX8664, 0, 1)).executed, 3U);
  EXPECT_EQ(program::run(code, call(kX8664, 0, 6)).executed, 4U);
}

TEST_F(EmitTest, AMaskOfManyBitsIsAndThenJeq) {
  EXPECT_EQ(emitted(store.test(kA0, 0xff, Compare::eq, 0x77, eperm, allow)).size(), 5U);
}

TEST_F(EmitTest, MixedMaskAndRangeOnOneWordIsEmittedExactly) {
  const Node range = store.test(kA0, ~0U, Compare::ge, 1000, enosys, allow);
  emitted(store.test(kA0, 0x12, Compare::set, 0x12, eperm, range));
  emitted(store.test(kA0, 0x6, Compare::eq, 0x6, eperm, range));
  const Node three =
      store.test(kA0, 4, Compare::set, 4, eperm, store.test(kA0, 0x90, Compare::eq, 0x90, enosys, range));
  emitted(three);
}

TEST_F(EmitTest, ConstantAllowStaysVisibleToTheKernelsCache) {
  const Node args = store.test(kA0, ~0U, Compare::eq, 7, eperm, allow);
  const Node node = store.test(kArch, ~0U, Compare::eq, kX8664, on_call(41, args), store.terminal(abi::kKillThread));
  const Code code = emitted(node);
  for (std::uint32_t nr = 0; nr < 500; ++nr) EXPECT_EQ(program::is_constant_allow(code, kX8664, nr), nr != 41) << nr;
}

TEST_F(EmitTest, FarTargetsAreReached) {
  // 600 single numbers with 600 different argument tests: no conditional jump reaches across them.
  Node node = allow;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const Node args =
        store.test(kA0, ~0U, Compare::eq, i, eperm, store.test(kA1, ~0U, Compare::ge, i + 1, enosys, allow));
    node = store.test(kNr, ~0U, Compare::eq, 2 * i, args, node);
  }
  EXPECT_GT(emitted(node).size(), 2500U);
}

TEST_F(EmitTest, X32NumbersShareTheNativeSearch) {
  // Every third number is refused; x32 differs in one place. Sharing: the native search once, the tests on the way to
  // its upper end twice, one exception, one AND.
  constexpr std::uint32_t kX32 = 0x40000000;
  Node native_only = allow, both = allow;
  for (std::uint32_t nr = 3; nr < 120; nr += 3) {
    native_only = store.test(kNr, ~0U, Compare::eq, nr, eperm, native_only);
    both = store.test(kNr, ~0U, Compare::eq, nr, eperm, store.test(kNr, ~0U, Compare::eq, nr + kX32, eperm, both));
  }
  both = store.test(kNr, ~0U, Compare::eq, kX32 + 60, enosys, both);
  const Code alone = emitted(native_only), shared = emitted(both);
  EXPECT_LT(shared.size(), alone.size() + 15);
  // Native calls pay nothing for it, where numbers are named.
  for (std::uint32_t nr = 0; nr < 118; ++nr)
    EXPECT_EQ(program::run(shared, call(kX8664, nr)).executed, program::run(alone, call(kX8664, nr)).executed) << nr;
}

TEST_F(EmitTest, BeyondTheKernelsLimitIsAnErrorNotAProgram) {
  Node node = allow;
  for (std::uint32_t i = 0; i < 6000; ++i) node = store.test(kA0, ~0U, Compare::eq, 3 * i * i + i, eperm, node);
  const auto code = emit(store, node);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, make_error_code(Errc::budget));
}

TEST_F(EmitTest, OutputIsTheSameByteForByte) {
  std::string first;
  for (int round = 0; round < 20; ++round) {
    diagram::Store fresh;
    const Node yes = fresh.terminal(kErrno | 1), no = fresh.terminal(kAllow);
    Node node = no;
    for (std::uint32_t i = 0; i < 100; ++i)
      node = fresh.test(kNr, ~0U, Compare::eq, i * 5, fresh.test(kA0, i, Compare::set, ~0U, yes, no), node);
    const auto code = emit(fresh, node);
    ASSERT_TRUE(code);
    if (first.empty()) first = program::to_bytes(*code);
    EXPECT_EQ(program::to_bytes(*code), first);
  }
}

TEST_F(EmitTest, HotCallsAreFoundFirst) {
  Diagnostics diagnostics;
  Options options;
  options.weights = *Weights::parse("openat 1000\n", "weights", diagnostics);
  Node node = allow;
  for (std::uint32_t nr = 0; nr < 400; nr += 2)
    node = store.test(kNr, ~0U, Compare::eq, nr, store.terminal(kErrno | (nr + 1)), node);
  node = store.test(kNr, ~0U, Compare::eq, 257, store.test(kA0, ~0U, Compare::eq, 1, eperm, allow), node);
  const Code code = emitted(store.test(kArch, ~0U, Compare::eq, kX8664, node, eperm), options);
  EXPECT_LE(program::run(code, call(kX8664, 257, 1)).executed, 7U);  // ld jeq ld jeq ld jeq ret
}

}  // namespace
}  // namespace seccompress::emit
