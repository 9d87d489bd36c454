// SPDX-License-Identifier: Apache-2.0
// prove() on small programs with known answers: each outcome, and each kind of code that a set of number
// ranges cannot follow.
#include "verify/verify.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::verify {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the assembler
using abi::arg_high, abi::arg_low, abi::kAllow, abi::kArch, abi::kErrno, abi::kKillProcess, abi::kKillThread, abi::kLog,
    abi::kNr, abi::kTrap, abi::kUserNotif;

constexpr abi::Verdict kEperm = kErrno | 1;

std::string outcome(const Code& flat, const std::vector<Code>& stack, const Options& options = {}) {
  return to_string(prove(flat, stack, options));
}

Code only(abi::Verdict verdict) { return {ret(verdict)}; }
// One number is answered with `verdict` on x86_64, everything else allowed.
Code deny(std::uint32_t nr, abi::Verdict verdict) {
  return {ld(kArch), jeq(kX8664, 0, 3), ld(kNr), jeq(nr, 0, 1), ret(verdict), ret(kAllow)};
}

TEST(Prove, MakesAVerifiedProgramOfAnEqualOne) {
  const std::vector<Code> stack = {deny(59, kEperm), deny(57, kTrap | 2), deny(59, kErrno | 2)};
  const Code flat = {ld(kArch),     jeq(kX8664, 0, 5), ld(kNr),        jeq(59, 1, 0),
                     jeq(57, 1, 2), ret(kErrno | 2),   ret(kTrap | 2), ret(kAllow)};
  Outcome result = prove(flat, stack);
  const auto* verified = std::get_if<program::VerifiedProgram>(&result);
  ASSERT_NE(verified, nullptr) << to_string(result);
  EXPECT_TRUE(program::same_code(verified->view(), flat));
}

TEST(ProveStack, TakesSeveralProgramsInThePlaceOfOthers) {
  const std::vector<Code> stack = {deny(59, kEperm), deny(57, kTrap | 2), deny(59, kErrno | 2)};
  const std::vector<Code> flat = {deny(57, kTrap | 2), deny(59, kErrno | 2)};
  Outcome result = prove_stack(flat, stack);
  const auto* verified = std::get_if<VerifiedStack>(&result);
  ASSERT_NE(verified, nullptr) << to_string(result);
  ASSERT_EQ(verified->programs.size(), 2U);
  EXPECT_TRUE(program::same_code(verified->programs[1].view(), flat[1]));
  // The order counts where actions tie: the newest one's errno stays.
  const std::vector<Code> turned = {deny(57, kTrap | 2), deny(59, kErrno | 2), deny(59, kEperm)};
  EXPECT_EQ(to_string(prove_stack(turned, stack)),
            "differs for x86_64 execve(0x0, 0x0, 0x0, 0x0, 0x0, 0x0): stack ERRNO(2 ENOENT), flat ERRNO(1 EPERM)");
}

TEST(ProveStack, NeedsEveryProgramForTheCache) {
  const Code reads_argument = {ld(arg_low(0)), jeq(7, 0, 0), ret(kAllow)};
  EXPECT_EQ(to_string(prove_stack(std::vector<Code>{only(kAllow), reads_argument}, std::vector<Code>{only(kAllow)})),
            "equal, but the kernel's cache would no longer answer x86_64 read");
}

TEST(ProveStack, AddsUpWhatTheKernelAddsUp) {
  const std::vector<Code> flat(9, Code(4096, ret(kAllow)));
  EXPECT_EQ(to_string(prove_stack(flat, std::vector<Code>{only(kAllow)})).substr(0, 36),
            "the kernel would refuse it: converts");
}

TEST(Prove, ShowsAWitnessForAConstantDifference) {
  const Outcome result = prove(deny(58, kEperm), std::vector<Code>{deny(59, kEperm)});
  const auto* difference = std::get_if<Difference>(&result);
  ASSERT_NE(difference, nullptr);
  EXPECT_EQ(difference->witness.arch, kX8664);
  EXPECT_EQ(difference->witness.nr, 58);
  EXPECT_EQ(difference->stack, kAllow);
  EXPECT_EQ(difference->flat, kEperm);
  EXPECT_EQ(to_string(result),
            "differs for x86_64 vfork(0x0, 0x0, 0x0, 0x0, 0x0, 0x0): stack ALLOW, flat ERRNO(1 EPERM)");
}

TEST(Prove, ShowsAWitnessForADifferenceInArguments) {
  const Code exact = {ld(arg_high(1)), jeq(0, 0, 2), ld(arg_low(1)), jeq(10, 1, 0), ret(kEperm), ret(kAllow)};
  const Code low_only = {ld(arg_low(1)), jeq(10, 1, 0), ret(kEperm), ret(kAllow)};
  const Outcome result = prove(low_only, std::vector<Code>{exact});
  const auto* difference = std::get_if<Difference>(&result);
  ASSERT_NE(difference, nullptr) << to_string(result);
  EXPECT_EQ(difference->witness.args[1] & 0xffffffffU, 10U);
  EXPECT_NE(difference->witness.args[1] >> 32, 0U);
  EXPECT_EQ(difference->witness.args[0], 0U);
  EXPECT_EQ(difference->stack, kEperm);
  EXPECT_EQ(difference->flat, kAllow);
}

TEST(Prove, TakesVerdictsForEqualAsTheKernelDoes) {
  EXPECT_EQ(outcome(only(kKillThread | 7), {only(kKillThread)}), "equal");
  EXPECT_EQ(outcome(only(kLog | 7), {only(kLog)}), "equal");
  EXPECT_EQ(outcome(only(kUserNotif | 7), {only(kUserNotif)}), "equal");
  EXPECT_EQ(outcome(only(kErrno | 5000), {only(kErrno | 4095)}), "equal");
  EXPECT_NE(outcome(only(kErrno | 1), {only(kErrno | 2)}), "equal");
  EXPECT_NE(outcome(only(kTrap | 1), {only(kTrap | 2)}), "equal");
  EXPECT_NE(outcome(only(0x00060001), {only(0x00060000)}), "equal");  // unknown actions verbatim
  EXPECT_NE(outcome(only(kKillProcess), {only(0x00060000)}), "equal");
}

TEST(Prove, CombinesAStackAsTheKernelDoes) {
  EXPECT_EQ(outcome(only(kAllow), {}), "equal");
  EXPECT_NE(outcome(only(kEperm), {}), "equal");
  EXPECT_EQ(outcome(only(kErrno | 2), {only(kErrno | 1), only(kErrno | 2)}), "equal");
  EXPECT_NE(outcome(only(kErrno | 1), {only(kErrno | 1), only(kErrno | 2)}), "equal");
  EXPECT_EQ(outcome(only(0xffff0000), {only(kKillThread), only(0xffff0000)}), "equal");
  EXPECT_EQ(outcome(only(kKillProcess), {only(0xffff0000), only(kKillProcess)}), "equal");
  // The same with verdicts that depend on an argument: the newest of equals stays, the strictest wins.
  const auto when = [](unsigned bit, abi::Verdict verdict) {
    return Code{ld(arg_low(0)), jset(1U << bit, 0, 1), ret(verdict), ret(kAllow)};
  };
  const Code flat = {ld(arg_low(0)), jset(4, 3, 0), jset(2, 3, 0),   jset(1, 3, 0),
                     ret(kAllow),    ret(kTrap),    ret(kErrno | 2), ret(kErrno | 1)};
  EXPECT_EQ(outcome(flat, {when(0, kErrno | 1), when(1, kErrno | 2), when(2, kTrap)}), "equal");
  EXPECT_EQ(outcome(flat, {when(2, kTrap), when(0, kErrno | 1), when(1, kErrno | 2)}), "equal");
  EXPECT_NE(outcome(flat, {when(1, kErrno | 2), when(0, kErrno | 1), when(2, kTrap)}), "equal");
}

TEST(Prove, SaysWhyAProgramIsUnacceptable) {
  EXPECT_EQ(outcome({ld(kNr)}, {only(kAllow)}),
            "the kernel would refuse it: instruction 0: the last instruction is not a RET");
  EXPECT_EQ(outcome(Code(4097, ret(kAllow)), {only(kAllow)}),
            "the kernel would refuse it: 4097 instructions: must be 1 to 4096");
}

TEST(Prove, DoesNotDecideStacksThatAreNoPrograms) {
  EXPECT_EQ(outcome(only(kAllow), {{}}), "not decided: program 0: no instructions");
  EXPECT_EQ(outcome(only(kAllow), {only(kAllow), {ld(kNr)}}),
            "not decided: program 1: instruction 0 leads past the end");
  EXPECT_EQ(outcome(only(kAllow), {{ja(0xffffffff), ret(kAllow)}}),
            "not decided: program 0: instruction 0 leads past the end");
  EXPECT_EQ(outcome(only(kAllow), {{alu(BPF_MOD, 3), ret(kAllow)}}),
            "not decided: program 0: instruction 0 is not one of seccomp's");
}

TEST(Prove, FindsLossOfTheConstantActionCache) {
  const Code costly = {ld(kNr), jeq(39, 1, 0), ret(kAllow), ld(arg_low(0)), ret(kAllow)};
  const Outcome result = prove(costly, std::vector<Code>{only(kAllow)});
  const auto* loss = std::get_if<CacheLoss>(&result);
  ASSERT_NE(loss, nullptr) << to_string(result);
  EXPECT_EQ(loss->nr, 39U);
  EXPECT_EQ(outcome(costly, {costly, only(kAllow)}), "equal");  // the stack did not have it either
  EXPECT_EQ(outcome(costly, {only(kAllow | 1)}), "equal");
  EXPECT_EQ(outcome(only(kAllow | 1), {only(kAllow)}),
            "equal, but the kernel's cache would no longer answer x86_64 read");
  // An odd number, told apart by a mask: asked number by number.
  const Code odd = {ld(kNr), jset(1, 0, 1), ld(arg_low(0)), ret(kAllow)};
  EXPECT_EQ(outcome(odd, {odd, only(kAllow)}), "equal");
  EXPECT_EQ(outcome(odd, {only(kAllow)}), "equal, but the kernel's cache would no longer answer x86_64 write");
  Options none;
  none.syscalls = 0;
  EXPECT_EQ(outcome(odd, {only(kAllow)}, none), "equal");
}

TEST(Prove, FollowsCodeInUnusualOrder) {
  const Code usual = {ld(kArch),      jeq(kX8664, 0, 5), ld(kNr),     jeq(16, 0, 3),
                      ld(arg_low(1)), jeq(0x5412, 0, 1), ret(kEperm), ret(kAllow)};
  const Code args_first = {ld(arg_low(1)), jeq(0x5412, 0, 4), ld(kNr),     jeq(16, 0, 2),
                           ld(kArch),      jeq(kX8664, 1, 0), ret(kAllow), ret(kEperm)};
  const Code arch_last = {ld(kNr),     jeq(16, 0, 3), ld(arg_low(1)),    jeq(0x5412, 0, 1), ja(1),
                          ret(kAllow), ld(kArch),     jeq(kX8664, 0, 1), ret(kEperm),       ret(kAllow)};
  EXPECT_EQ(outcome(usual, {args_first}), "equal");
  EXPECT_EQ(outcome(usual, {arch_last}), "equal");
  EXPECT_EQ(outcome(usual, {arch_last, args_first, usual}), "equal");
  Code wrong = args_first;
  wrong[5] = jeq(kI386, 1, 0);
  EXPECT_NE(outcome(usual, {wrong}), "equal");
}

TEST(Prove, FollowsMasksAndBitTestsOfTheNumber) {
  const Code x32_by_bit = {ld(kNr), jset(0x40000000, 0, 1), ret(kEperm), ret(kAllow)};
  const Code x32_by_range = {
      ld(kNr), jge(0xc0000000, 3, 0), jge(0x80000000, 1, 0), jge(0x40000000, 1, 0), ret(kAllow), ret(kEperm)};
  EXPECT_EQ(outcome(x32_by_bit, {x32_by_range}), "equal");
  EXPECT_EQ(outcome(x32_by_range, {x32_by_bit}), "equal");
  const Code one_range = {ld(kNr), jge(0x40000000, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(outcome(one_range, {x32_by_bit}),
            "differs for x86_64 0x80000000(0x0, 0x0, 0x0, 0x0, 0x0, 0x0): stack ALLOW, flat ERRNO(1 EPERM)");
  const Code masked = {ld(kNr), alu(BPF_AND, 0xff), jeq(5, 0, 1), ret(kEperm), ret(kAllow)};
  const Code by_bits = {ld(kNr), jset(0xfa, 3, 0), jset(4, 0, 2), jset(1, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(outcome(masked, {by_bits}), "equal");
  Code almost = masked;
  almost[1] = alu(BPF_AND, 0x1ff);
  const Outcome result = prove(almost, std::vector<Code>{by_bits});
  const auto* difference = std::get_if<Difference>(&result);
  ASSERT_NE(difference, nullptr);
  EXPECT_EQ(difference->witness.nr & 0x1ff, 0x105);
}

TEST(Prove, TakesAMaskOfAllBitsForTheWholeWord) {
  const Code plain = {ld(kNr), jeq(5, 2, 0), jge(300, 1, 0), ret(kAllow), ret(kEperm)};
  const Code masked = {ld(kNr), alu(BPF_AND, 0xffffffff), jeq(5, 2, 0), jge(300, 1, 0), ret(kAllow), ret(kEperm)};
  EXPECT_EQ(outcome(masked, {masked}), "equal");
  EXPECT_EQ(outcome(plain, {masked}), "equal");
  EXPECT_EQ(outcome(masked, {plain}), "equal");
}

TEST(Prove, FollowsArithmeticOnArchAndNumber) {
  const Code plain = {ld(kArch), jeq(kX8664, 0, 3), ld(kNr), jeq(7, 0, 1), ret(kEperm), ret(kAllow)};
  const Code through_x = {ld(kArch), tax(),           ld_imm(kX8664), jump_x(BPF_JEQ, 0, 5), ld(kNr),    st(3),
                          ld_mem(3), alu(BPF_ADD, 1), jeq(8, 1, 0),   ret(kAllow),           ret(kEperm)};
  Code fixed = through_x;
  fixed[3] = jump_x(BPF_JEQ, 0, 5);
  EXPECT_EQ(outcome(plain, {fixed}), "equal");
  const Code is_64_bit = {ld(kArch), jset(0x80000000, 0, 1), ret(kEperm), ret(kAllow)};
  const Code is_64_bit_by_shift = {ld(kArch), alu(BPF_RSH, 31), jeq(1, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(outcome(is_64_bit, {is_64_bit_by_shift}), "equal");
  const Code odd_arch = {ld(kArch), jset(1, 0, 1), ret(kEperm), ret(kAllow)};
  const Code odd_arch_by_mask = {ld(kArch), alu(BPF_AND, 1), jeq(0, 1, 0), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(outcome(odd_arch, {odd_arch_by_mask, deny(3, kAllow)}), "equal");
}

TEST(Prove, RelatesArgumentsToEachOther) {
  const auto same = [](bool swapped, std::uint32_t offset) {
    return Code{ld(arg_low(swapped ? 4 : 0)), alu(BPF_ADD, offset),  tax(),       ld(arg_low(swapped ? 0 : 4)),
                alu(BPF_ADD, offset),         jump_x(BPF_JEQ, 0, 1), ret(kEperm), ret(kAllow)};
  };
  EXPECT_EQ(outcome(same(false, 0), {same(true, 0)}), "equal");
  EXPECT_EQ(outcome(same(false, 0), {same(true, 77)}), "equal");
  Code greater = same(false, 0);
  greater[5] = jump_x(BPF_JGE, 0, 1);
  const Outcome result = prove(greater, std::vector<Code>{same(true, 3)});
  const auto* difference = std::get_if<Difference>(&result);
  ASSERT_NE(difference, nullptr) << to_string(result);
  EXPECT_GT(difference->witness.args[4] & 0xffffffffU, difference->witness.args[0] & 0xffffffffU);
}

// (a0.lo ^ k) + a1.lo * 3 == c, through scratch memory; `cell` renames it.
Code hash_like(std::uint32_t cell, std::uint32_t constant) {
  return {ld(arg_low(1)), alu(BPF_MUL, 3),     st(cell),    ld(arg_low(0)), alu(BPF_XOR, 0x5bd1e995), ldx_mem(cell),
          alu_x(BPF_ADD), jeq(constant, 0, 1), ret(kEperm), ret(kAllow)};
}

TEST(Prove, TakesTheSameComputationOnTheSameInputsForEqual) {
  EXPECT_EQ(outcome(hash_like(2, 99), {hash_like(7, 99)}), "equal");
  const Outcome result = prove(hash_like(2, 98), std::vector<Code>{hash_like(7, 99)});
  if (const auto* difference = std::get_if<Difference>(&result)) {
    EXPECT_NE(difference->stack, difference->flat);
  } else {
    EXPECT_TRUE(to_string(result).starts_with("not decided: ")) << to_string(result);
  }
  const Code divide = {ld(arg_low(1)), tax(), ld(arg_low(0)), alu_x(BPF_DIV), jeq(3, 0, 1), ret(kEperm), ret(kAllow)};
  Code with_scratch = {ld(arg_low(1)), st(0),        ldx_mem(0),  ld(arg_low(0)), alu_x(BPF_DIV),
                       jgt(3, 2, 0),   jge(3, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(outcome(divide, {with_scratch}), "equal");
  with_scratch[7] = ret(kErrno | 2);
  EXPECT_NE(outcome(divide, {with_scratch}), "equal");
}

TEST(Prove, KnowsThatDivisionByZeroKills) {
  const Code divide = {ld(arg_low(0)), tax(), ld_imm(0), alu_x(BPF_DIV), ret(kAllow)};
  const Code test = {ld(arg_low(0)), jeq(0, 0, 1), ret(kKillThread), ret(kAllow)};
  EXPECT_EQ(outcome(test, {divide}), "equal");
}

TEST(Prove, ComputesExactlyWhatItSays) {
  const auto when_equal = [](std::vector<Instruction> code, std::uint32_t value) {
    code.insert(code.end(), {jeq(value, 0, 1), ret(kEperm), ret(kAllow)});
    return code;
  };
  const Code five = when_equal({ld(arg_low(0))}, 5);
  const std::vector<Instruction> table[] = {
      {ld(arg_low(0)), alu(BPF_ADD, 0xfffffffe), alu(BPF_SUB, 0xfffffffe)},
      {ld(arg_low(0)), neg(), neg()},
      {ld(arg_low(0)), tax(), ld_imm(0), alu_x(BPF_SUB), raw(BPF_ALU | BPF_NEG, 123)},
      {ld(arg_low(0)), alu(BPF_XOR, 0xdeadbeef), alu(BPF_XOR, 0xdeadbeef)},
      {ld(arg_low(0)), tax(), ld_len(), alu_x(BPF_XOR), alu(BPF_XOR, 64)},
      {ld(arg_low(0)), tax(), ld_imm(0), alu_x(BPF_OR)},
      {ld(arg_low(0)), tax(), alu_x(BPF_AND), st(4), ld_mem(4)},
      {ld(arg_low(0)), tax(), ldx_imm(3), tax(), txa(), alu(BPF_MUL, 1), alu(BPF_DIV, 1)},
  };
  for (const auto& code : table) EXPECT_EQ(outcome(five, {when_equal(code, 5)}), "equal");
  EXPECT_EQ(outcome(when_equal({ld(arg_low(0)), alu(BPF_AND, 0xffff)}, 5),
                    {when_equal({ld(arg_low(0)), alu(BPF_LSH, 16), alu(BPF_RSH, 16)}, 5)}),
            "equal");
  EXPECT_EQ(outcome(when_equal({ld(arg_low(0)), alu(BPF_AND, 0xfffffff0)}, 0x50),
                    {when_equal({ld(arg_low(0)), alu(BPF_DIV, 16)}, 5)}),
            "equal");
  EXPECT_EQ(outcome(when_equal({ld(arg_low(0)), alu(BPF_AND, 0x0fffffff)}, 5),
                    {when_equal({ld(arg_low(0)), alu(BPF_MUL, 16)}, 0x50)}),
            "equal");
  EXPECT_NE(outcome(five, {when_equal({ld(arg_low(0)), alu(BPF_MUL, 16)}, 0x50)}), "equal");
}

TEST(Prove, MergesWaysThatMeetWithDifferentValues) {
  // A = (a0 == 1) ? a1 : 7; then A == 7?
  const Code meets = {ld(arg_low(0)), jeq(1, 0, 2), ld(arg_low(1)), ja(1),
                      ld_imm(7),      jeq(7, 0, 1), ret(kEperm),    ret(kAllow)};
  const Code split = {ld(arg_low(0)), jeq(1, 0, 2), ld(arg_low(1)), jeq(7, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(outcome(split, {meets}), "equal");
  Code other = split;
  other[3] = jeq(8, 0, 1);
  EXPECT_NE(outcome(other, {meets}), "equal");
}

TEST(Prove, FollowsVerdictsThatAreComputed) {
  const Code computed = {ld(arg_low(2)), alu(BPF_AND, 3), alu(BPF_OR, kErrno), ret_a()};
  const Code listed = {ld(arg_low(2)),  jset(1, 0, 3), jset(2, 0, 1),   ret(kErrno | 3),
                       ret(kErrno | 1), jset(2, 0, 1), ret(kErrno | 2), ret(kErrno)};
  EXPECT_EQ(outcome(listed, {computed}), "equal");
  EXPECT_EQ(outcome(computed, {listed, computed}), "equal");
  Code wrong = listed;
  wrong[6] = ret(kErrno | 3);
  EXPECT_NE(outcome(wrong, {computed}), "equal");
  // Data that the kernel ignores need not be told apart.
  EXPECT_EQ(outcome(only(kAllow), {{ld(arg_low(2)), alu(BPF_AND, 0xffff), alu(BPF_OR, kAllow), ret_a()}}), "equal");
}

TEST(Prove, ComparesWordsWhereVerdictsAreTooMany) {
  const Code any = {ld(arg_low(2)), ret_a()};
  EXPECT_EQ(outcome(any, {any}), "equal");
  EXPECT_EQ(outcome(any, {any, any}), "equal");
  // Under a newer ERRNO(1): what is stricter wins, by its action as a signed number.
  const auto under = [](std::uint32_t bound, abi::Verdict otherwise) {
    return Code{ld(arg_low(2)), alu(BPF_XOR, 0x80000000), jge(bound, 0, 1),
                ret(otherwise), alu(BPF_XOR, 0x80000000), ret_a()};
  };
  EXPECT_EQ(outcome(under(0x80050000, kErrno | 1), {any, only(kErrno | 1)}), "equal");
  EXPECT_NE(outcome(under(0x80050001, kErrno | 1), {any, only(kErrno | 1)}), "equal");
  EXPECT_NE(outcome(under(0x00050000, kErrno | 1), {any, only(kErrno | 1)}), "equal");
  EXPECT_NE(outcome(under(0x80050000, kErrno | 2), {any, only(kErrno | 1)}), "equal");
  // Data above 4095, and data of actions that have none, are normalized.
  const Code capped = {ld(arg_low(2)), alu(BPF_AND, 0xffff), alu(BPF_OR, kErrno), ret_a()};
  const Code listed = {ld(arg_low(2)),     alu(BPF_AND, 0xffff), jge(4095, 0, 1),
                       ret(kErrno | 4095), alu(BPF_OR, kErrno),  ret_a()};
  EXPECT_EQ(outcome(listed, {capped}), "equal");
}

TEST(Prove, ProductsWithConstantsAndShiftsByRegistersAreExact) {
  const Code product = {ld(arg_low(0)), alu(BPF_MUL, 3), jeq(21, 0, 1), ret(kErrno | 1), ret(kAllow)};
  EXPECT_EQ(outcome({ld(arg_low(0)), jeq(7, 0, 1), ret(kErrno | 1), ret(kAllow)}, {product}), "equal");
  EXPECT_NE(outcome({ld(arg_low(0)), jeq(8, 0, 1), ret(kErrno | 1), ret(kAllow)}, {product}), "equal");
  const Code shift = {ld(arg_low(0)), alu(BPF_AND, 7),  tax(),           ld_imm(1),
                      alu_x(BPF_LSH), jset(0x14, 0, 1), ret(kErrno | 1), ret(kAllow)};
  EXPECT_EQ(
      outcome({ld(arg_low(0)), alu(BPF_AND, 7), jeq(2, 1, 0), jeq(4, 0, 1), ret(kErrno | 1), ret(kAllow)}, {shift}),
      "equal");
}

TEST(Find, AnInputForWhichARelationHolds) {
  const auto stricter = [](abi::Verdict stack, abi::Verdict flat) {
    return abi::strictness(stack) < abi::strictness(flat);
  };
  const auto looser = [](abi::Verdict stack, abi::Verdict flat) {
    return abi::strictness(stack) > abi::strictness(flat);
  };
  const std::vector<Code> equal = {
      {ld(arg_low(0)), tax(), ld(arg_low(1)), jump_x(BPF_JEQ, 0, 1), ret(kErrno | 1), ret(kAllow)}};
  const std::vector<Code> not_less = {
      {ld(arg_low(0)), tax(), ld(arg_low(1)), jump_x(BPF_JGE, 0, 1), ret(kErrno | 2), ret(kAllow)}};
  EXPECT_TRUE(std::holds_alternative<NoSuchInput>(verify::find(not_less, equal, stricter)));
  const Finding found = verify::find(not_less, equal, looser);
  ASSERT_TRUE(std::holds_alternative<Difference>(found));
  const abi::SeccompData& witness = std::get<Difference>(found).witness;
  EXPECT_GT(abi::read_word(witness, arg_low(1)), abi::read_word(witness, arg_low(0)));
}

TEST(Prove, TakesReferenceProgramsOfAnyLength) {
  Code naive = {ld(kNr)};
  for (std::uint32_t nr = 0; nr < 100'000; nr += 2) {
    naive.push_back(jeq(nr, 0, 1));
    naive.push_back(ret(nr == 60 ? kEperm : kAllow));
  }
  naive.push_back(ret(kAllow));
  const Code flat = {ld(kNr), jeq(60, 0, 1), ret(kEperm), ret(kAllow)};
  Options options;
  options.limits.cells = 1U << 20;
  options.limits.steps = 1'000'000'000;
  EXPECT_EQ(outcome(flat, {naive}, options), "equal");
  const Code far = [] {
    Code code = {ja(300'000)};
    code.resize(300'001, ret(kEperm));
    code.push_back(ret(kAllow));
    return code;
  }();
  EXPECT_EQ(outcome(only(kAllow), {far}), "equal");
}

TEST(Prove, StopsAtItsLimits) {
  Options few_cells;
  few_cells.limits.cells = 4;
  EXPECT_EQ(outcome(deny(5, kEperm), {deny(5, kEperm), deny(7, kAllow)}, few_cells),
            "not decided: 2 classes of architectures times 5 ranges of numbers are more cells than 4");
  Options few_steps;
  few_steps.limits.steps = 10;
  EXPECT_EQ(outcome(deny(5, kEperm), {deny(5, kEperm), deny(7, kAllow)}, few_steps),
            "not decided: the step limit was reached");
}

}  // namespace
}  // namespace seccompress::verify
