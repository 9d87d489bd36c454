// SPDX-License-Identifier: Apache-2.0
// Inputs made to be large: each ends in a proof, a difference, or a stated limit, and soon.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>

#include "support/program_builder.h"
#include "verify/verify.h"

namespace seccompress::verify {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the assembler
using abi::arg_low, abi::kAllow, abi::kArch, abi::kErrno, abi::kNr;

constexpr abi::Verdict kEperm = kErrno | 1;

// Equal to code, and no program to be recognised by its bytes.
Code renamed(Code code) {
  for (Instruction& insn : code)
    if (insn.code == BPF_ST || insn.code == BPF_STX || insn.code == (BPF_LD | BPF_MEM) ||
        insn.code == (BPF_LDX | BPF_MEM))
      insn.k = 15 - insn.k;
  code.insert(code.begin(), ja(0));
  return code;
}

std::string outcome(const Code& flat, const std::vector<Code>& stack) {
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  Options options;
  options.syscalls = 0;
  std::string text = to_string(prove(flat, stack, options));
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 10) << text;
  return text;
}

// A hash over all arguments: sums, shifts and exclusive ors through scratch memory.
Code hash_of_arguments(std::uint32_t wanted) {
  Code code;
  for (unsigned i = 0; i < 6; ++i) {
    code.push_back(ld(arg_low(i)));
    if (i > 0) code.insert(code.end(), {ldx_mem(0), alu_x(BPF_ADD)});
    code.insert(code.end(),
                {alu(BPF_XOR, 0x5bd1e995 * i), st(0), alu(BPF_RSH, 3), tax(), ld_mem(0), alu_x(BPF_XOR), st(0)});
  }
  code.insert(code.end(), {jeq(wanted, 0, 1), ret(kAllow), ret(kEperm)});
  return code;
}

TEST(Limits, AHashOfAllArgumentsIsEqualToItselfAndUndecidedOtherwise) {
  EXPECT_EQ(outcome(renamed(hash_of_arguments(0x1234)), {hash_of_arguments(0x1234)}), "equal");
  EXPECT_EQ(outcome(hash_of_arguments(0x1235), {hash_of_arguments(0x1234)}),
            "not decided: x86_64 read: needs more nodes or verdicts than the limit");
}

TEST(Limits, AChainOfConditionalSumsIsUndecided) {
  Code code = {ld(arg_low(0))};
  for (std::uint32_t i = 0; i < 2000; ++i)
    code.insert(code.end(), {jset(1U << i % 32, 0, 1), alu(BPF_ADD, 0x9e3779b9 * i)});
  code.insert(code.end(), {jeq(3, 0, 1), ret(kAllow), ret(kEperm)});
  EXPECT_EQ(outcome(renamed(code), {code}), "not decided: x86_64 read: needs more nodes or verdicts than the limit");
}

// A list of 2047 tests, as long as the kernel takes.
Code list(abi::Word word, const std::function<std::uint32_t(std::uint32_t)>& constant,
          const std::function<abi::Verdict(std::uint32_t)>& verdict, unsigned op = BPF_JEQ) {
  Code code = {ld(word)};
  for (std::uint32_t i = 0; i < 2047; ++i) {
    code.push_back(jump(op, constant(i), 0, 1));
    code.push_back(ret(verdict(i)));
  }
  code.push_back(ret(kAllow));
  return code;
}

Code with_last(Code code, abi::Verdict verdict) {
  code.back() = ret(verdict);
  return code;
}

TEST(Limits, ListsAsLongAsTheKernelTakesAreProved) {
  const auto verdict = [](std::uint32_t i) { return i % 3 == 0 ? kAllow : kErrno | (i & 255); };
  const auto spread = [](std::uint32_t i) { return i * 0x9e3779b9U; };
  const Code lists[] = {list(kNr, spread, verdict), list(kArch, spread, verdict), list(arg_low(0), spread, verdict),
                        list(arg_low(0), spread, verdict, BPF_JSET)};
  for (const Code& code : lists) {
    EXPECT_EQ(outcome(with_last(code, kAllow | 1), {code}), "equal");
    EXPECT_TRUE(outcome(with_last(code, kEperm), {code}).starts_with("differs for "));
  }
}

TEST(Limits, AStackOfLongListsIsProved) {
  std::vector<Code> stack;
  for (std::uint32_t layer = 0; layer < 34; ++layer)
    stack.push_back(list(
        kNr, [&](std::uint32_t i) { return (2 * i + 1) * 34 + 2 * layer; }, [](std::uint32_t) { return kAllow | 1; }));
  EXPECT_EQ(outcome({ret(kAllow)}, stack), "equal");
  stack[20][100] = ret(kEperm);
  EXPECT_TRUE(outcome({ret(kAllow)}, stack).starts_with("differs for "));
}

TEST(Limits, ManyArchitecturesTimesManyNumbersAreProvedUpToALimit) {
  const auto verdict = [](std::uint32_t) { return kAllow | 1; };
  const auto wide = [](std::uint32_t i) { return 3 * i; };
  const auto between = [](std::uint32_t i) { return 3 * i + 1; };
  std::vector<Code> stack = {list(kArch, wide, verdict), list(kNr, wide, verdict)};
  EXPECT_EQ(outcome({ret(kAllow)}, stack), "equal");
  Code wrong = stack[1];
  wrong[1001] = ret(kEperm);
  EXPECT_TRUE(outcome({ret(kAllow)}, {stack[0], wrong}).starts_with("differs for "));
  stack.push_back(list(kArch, between, verdict));
  stack.push_back(list(kNr, between, verdict));
  EXPECT_EQ(outcome({ret(kAllow)}, stack),
            "not decided: 4095 classes of architectures times 6141 ranges of numbers are more cells than 16777216");
}

}  // namespace
}  // namespace seccompress::verify
