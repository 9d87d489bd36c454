// SPDX-License-Identifier: Apache-2.0
// Programs as long as the kernel takes them: 4096 instructions, with jumps of 8 bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "emit/emit.h"
#include "raise/raise.h"
#include "support/program_builder.h"

namespace seccompress::emit {
namespace {

using namespace seccompress::test;
using diagram::Compare;
using diagram::Node;

constexpr abi::Word kA0 = abi::arg_low(0), kA1 = abi::arg_low(1);

// So many numbers, each with argument tests of its own and one of seven verdicts.
Node many_numbers(diagram::Store& store, std::uint32_t count) {
  const Node allow = store.terminal(abi::kAllow);
  Node node = allow;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Node refused = store.terminal(abi::kErrno | (1 + i % 7));
    const Node second = store.test(kA1, ~0U, Compare::ge, i + 1, refused, allow);
    node = store.test(abi::kNr, ~0U, Compare::eq, 2 * i, store.test(kA0, ~0U, Compare::eq, i, refused, second), node);
  }
  return node;
}

// The longest program of that kind that fits.
struct Longest {
  diagram::Store store;
  std::uint32_t count = 0;
  Node node = 0;
  Code code;
};

void find_longest(Longest& found) {
  std::uint32_t fits = 500, fails = 1500;
  while (fails - fits > 1) {
    const std::uint32_t count = (fits + fails) / 2;
    const Node node = many_numbers(found.store, count);
    auto code = emit(found.store, node);
    if (code) {
      fits = count;
      found.count = count, found.node = node, found.code = std::move(*code);
    } else {
      ASSERT_EQ(code.error().code, make_error_code(Errc::budget));
      fails = count;
    }
  }
}

TEST(Limit, AProgramAsLongAsTheKernelTakesComesOutRight) {
  Longest longest;
  find_longest(longest);
  const Code& code = longest.code;
  EXPECT_GT(code.size(), program::kMaxInstructions - 32);
  EXPECT_LE(code.size(), program::kMaxInstructions);
  ASSERT_TRUE(program::check(code));
  EXPECT_EQ(raise::raise(code, longest.store).value(), longest.node);

  const auto count_of = [&](std::uint16_t opcode) {
    return std::ranges::count_if(code, [&](const Instruction& insn) { return insn.code == opcode; });
  };
  EXPECT_GT(count_of(BPF_JMP | BPF_JA), 5);  // searches reach across 4096 instructions
  EXPECT_GT(count_of(BPF_RET | BPF_K), 8);   // eight verdicts, again where they are out of reach
  EXPECT_TRUE(std::ranges::any_of(
      code, [](const Instruction& insn) { return insn.code == (BPF_JMP | BPF_JA) && insn.k > 255; }));
}

TEST(Limit, EveryCallOfTheLongestProgramIsAnsweredInFewInstructions) {
  Longest longest;
  find_longest(longest);
  for (std::uint32_t i = 0; i < longest.count; ++i)
    for (const std::uint64_t a0 : {std::uint64_t{i}, std::uint64_t{i} + 1}) {
      const abi::SeccompData data = call(kX8664, 2 * i, a0, a0);
      const program::Run run = program::run(longest.code, data);
      ASSERT_EQ(run.verdict, longest.store.evaluate(longest.node, data)) << 2 * i;
      ASSERT_LE(run.executed, 40U) << 2 * i;
    }
}

}  // namespace
}  // namespace seccompress::emit
