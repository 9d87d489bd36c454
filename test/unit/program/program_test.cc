// SPDX-License-Identifier: Apache-2.0
// Tables for check, interpret, cost and cache. Expectations were taken from the kernel
// (test/differential/kernel_accepts_test.cc holds them to it).
#include "program/program.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::program {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the assembler
using abi::kAllow, abi::kErrno, abi::kKillProcess, abi::kKillThread, abi::kNr, abi::kArch, abi::kTrap;

std::string refusal(const Code& code) {
  const auto checked = check(code);
  return checked ? "accepted" : checked.error().what;
}

abi::Verdict verdict(const Code& code, std::uint64_t a0 = 0, std::uint64_t a1 = 0) {
  EXPECT_EQ(refusal(code), "accepted");
  return interpret(code, call(kX8664, 500, a0, a1));
}

TEST(FromBytes, ReadsWhatToBytesWrote) {
  const Code code = {ld(kNr), jeq(59, 1, 2), ret(kAllow), ret(kErrno | 1)};
  const auto back = from_bytes(to_bytes(code), "x.bpf");
  ASSERT_TRUE(back);
  EXPECT_TRUE(same_code(*back, code));
  EXPECT_FALSE(same_code(*back, Code{ret(kAllow)}));
  EXPECT_EQ(to_bytes(Code{jeq(0x01020304, 5, 6)}), std::string("\x15\x00\x05\x06\x04\x03\x02\x01", 8));
}

TEST(FromBytes, RefusesOtherSizes) {
  EXPECT_EQ(from_bytes("", "x.bpf").error().what, "x.bpf: empty, not a program");
  EXPECT_EQ(from_bytes("123456789", "x.bpf").error().what, "x.bpf: size 9 is not a multiple of 8");
}

TEST(Check, NamesTheFirstOffendingInstruction) {
  const std::pair<Code, std::string> table[] = {
      {{}, "0 instructions: must be 1 to 4096"},
      {Code(4097, ret(kAllow)), "4097 instructions: must be 1 to 4096"},
      {{ld(kNr)}, "instruction 0: the last instruction is not a RET"},
      {{ret(kAllow), ld(kNr)}, "instruction 1: the last instruction is not a RET"},
      {{jeq(1, 1, 0), ret(kAllow)}, "instruction 0: jump target 2 is past the end"},
      {{jeq(1, 0, 1), ret(kAllow)}, "instruction 0: jump target 2 is past the end"},
      {{ja(1), ret(kAllow)}, "instruction 0: jump target 2 is past the end"},
      {{ja(0xffffffff), ret(kAllow)}, "instruction 0: jump target 4294967296 is past the end"},
      {{alu(BPF_DIV, 0), ret(kAllow)}, "instruction 0: division by the constant 0"},
      {{alu(BPF_LSH, 32), ret(kAllow)}, "instruction 0: shift by 32"},
      {{alu(BPF_RSH, 32), ret(kAllow)}, "instruction 0: shift by 32"},
      {{alu(BPF_MOD, 3), ret(kAllow)}, "instruction 0: opcode 0x0094 is not allowed in seccomp"},
      {{raw(BPF_LD | BPF_H | BPF_ABS), ret(kAllow)}, "instruction 0: opcode 0x0028 is not allowed in seccomp"},
      {{raw(BPF_LD | BPF_W | BPF_IND), ret(kAllow)}, "instruction 0: opcode 0x0040 is not allowed in seccomp"},
      {{raw(BPF_RET | BPF_X)}, "instruction 0: opcode 0x000e is not allowed in seccomp"},
      {{raw(0x100 | BPF_RET | BPF_K)}, "instruction 0: opcode 0x0106 is not allowed in seccomp"},
      {{raw(BPF_LD | BPF_W | BPF_ABS, 2), ret(kAllow)},
       "instruction 0: load at offset 2: must be a multiple of 4 below 64"},
      {{raw(BPF_LD | BPF_W | BPF_ABS, 64), ret(kAllow)},
       "instruction 0: load at offset 64: must be a multiple of 4 below 64"},
      {{st(16), ret(kAllow)}, "instruction 0: there is no scratch word M[16]"},
      {{ld_mem(3), ret(kAllow)}, "instruction 0: reads M[3], which may be unset"},
      {{jeq(0, 0, 1), st(3), ldx_mem(3), ret(kAllow)}, "instruction 2: reads M[3], which may be unset"},
      // The kernel's scan goes on past a RET with what was set before it.
      {{ret(kAllow), ld_mem(3), ret(kAllow)}, "instruction 1: reads M[3], which may be unset"},
  };
  for (const auto& [code, expected] : table) EXPECT_EQ(refusal(code), expected);
}

TEST(Check, AcceptsWhatTheKernelDoesNotLookAt) {
  const Code table[] = {
      Code(4096, ret(kAllow)),
      {raw(BPF_LD | BPF_W | BPF_ABS, 0, 255, 255), raw(BPF_RET | BPF_K, kAllow, 9, 9)},
      {raw(BPF_JMP | BPF_JA, 0, 200, 200), ret_a()},
      {ret(kAllow), jeq(1, 0, 0), alu(BPF_ADD, 1), ret(kAllow)},  // unreachable
      {ja(1), ld_mem(3), ret(kAllow)},                            // unset, but only after a jump over it
      {jeq(0, 0, 1), ja(1), st(3), ret(kAllow)},
      {st(3), jeq(0, 0, 1), stx(4), ld_mem(3), ret(kAllow)},
      {alu(BPF_LSH, 31), alu_x(BPF_DIV), neg(), tax(), txa(), ld_len(), ldx_len(), ret_a()},
      {raw(BPF_LD | BPF_W | BPF_ABS, 60), ret(kAllow)},
  };
  for (const Code& code : table) EXPECT_EQ(refusal(code), "accepted");
}

TEST(Interpret, FollowsTheKernelInEveryCorner) {
  EXPECT_EQ(verdict({ret_a()}), 0U);         // A = 0 at entry
  EXPECT_EQ(verdict({txa(), ret_a()}), 0U);  // X = 0 at entry
  EXPECT_EQ(verdict({ld_len(), ret_a()}), 64U);
  EXPECT_EQ(verdict({ldx_len(), txa(), ret_a()}), 64U);
  EXPECT_EQ(verdict({ld_imm(7), alu_x(BPF_DIV), ret(kAllow)}),
            kKillThread);  // X = 0: the program ends with 0
  EXPECT_EQ(verdict({ld_imm(7), ldx_imm(2), alu_x(BPF_DIV), ret_a()}), 3U);
  EXPECT_EQ(verdict({ld_imm(1), ldx_imm(33), alu_x(BPF_LSH), ret_a()}), 2U);  // modulo 32
  EXPECT_EQ(verdict({ld_imm(4), ldx_imm(33), alu_x(BPF_RSH), ret_a()}), 2U);
  EXPECT_EQ(verdict({ld_imm(1), neg(), ret_a()}), 0xffffffffU);
  EXPECT_EQ(verdict({ld_imm(1), alu(BPF_SUB, 2), ret_a()}), 0xffffffffU);
  EXPECT_EQ(verdict({ld_imm(0x10001), alu(BPF_MUL, 0x10001), ret_a()}), 0x20001U);
  EXPECT_EQ(verdict({ld_imm(0xf0), alu(BPF_XOR, 0xff), alu(BPF_OR, 0x100), ret_a()}), 0x10fU);
  EXPECT_EQ(verdict({ld(abi::arg_low(0)), st(2), ld(abi::arg_high(0)), tax(), ld_mem(2), alu_x(BPF_ADD), ret_a()},
                    0x500000003),
            8U);
  EXPECT_EQ(verdict({ld(abi::arg_low(0)), tax(), ld(abi::arg_low(1)), jump_x(BPF_JEQ, 0, 1), ret(1), ret(2)}, 9, 9),
            1U);
  EXPECT_EQ(verdict({ld(abi::arg_low(0)), tax(), ld(abi::arg_low(1)), jump_x(BPF_JEQ, 0, 1), ret(1), ret(2)}, 9, 8),
            2U);
  // Comparisons are unsigned.
  EXPECT_EQ(verdict({ld_imm(0xffffffff), jgt(0x7fffffff, 0, 1), ret(1), ret(2)}), 1U);
  EXPECT_EQ(verdict({ld_imm(5), jge(5, 0, 1), ret(1), ret(2)}), 1U);
  EXPECT_EQ(verdict({ld_imm(5), jset(2, 0, 1), ret(1), ret(2)}), 2U);
  // jt and jf of others are not followed; jt == jf; a last RET reached only by a jump.
  EXPECT_EQ(verdict({raw(BPF_LD | BPF_IMM, 3, 9, 9), raw(BPF_JMP | BPF_JA, 0, 7, 7), ret_a()}), 3U);
  EXPECT_EQ(verdict({jeq(0, 1, 1), ret(1), ret(2)}), 2U);
  EXPECT_EQ(verdict({ja(1), ret(1), ret(2)}), 2U);
}

TEST(Interpret, IsTotalOnCodeThatRunsOffItsEnd) {
  EXPECT_EQ(interpret({}, call(kX8664, 1)), kKillProcess);
  EXPECT_EQ(interpret(Code{ja(5), ret(kAllow)}, call(kX8664, 1)), kKillProcess);
}

TEST(InterpretStack, TakesTheStrictestAndTheNewestOfEquals) {
  const auto stack_of = [](std::initializer_list<abi::Verdict> oldest_first) {
    std::vector<Code> codes;
    for (const abi::Verdict one : oldest_first) codes.push_back({ret(one)});
    return interpret_stack(codes, call(kX8664, 1));
  };
  EXPECT_EQ(stack_of({}), kAllow);
  EXPECT_EQ(stack_of({kAllow | 7}), kAllow);  // never smaller than the kernel's start value
  EXPECT_EQ(stack_of({kErrno | 1, kErrno | 2}), kErrno | 2);
  EXPECT_EQ(stack_of({kErrno | 2, kErrno | 1}), kErrno | 1);
  EXPECT_EQ(stack_of({kKillThread, 0xffff0000}), 0xffff0000U);  // negative beats KILL_THREAD
  EXPECT_EQ(stack_of({0xffff0000, kKillProcess}), kKillProcess);
  EXPECT_EQ(stack_of({0x00060000, kErrno | 1}), kErrno | 1);
  EXPECT_EQ(stack_of({0x00040000, kErrno | 1}), 0x00040000U);
}

TEST(ConvertedLength, CountsAsTheKernelConverts) {
  EXPECT_EQ(converted_length(Code{ret(kAllow)}), 5U);
  EXPECT_EQ(converted_length(Code{ret_a()}), 4U);
  EXPECT_EQ(converted_length(Code{ld(kNr), jeq(59, 0, 1), ret(1), ret(2)}), 3U + 1 + 1 + 4);
  EXPECT_EQ(converted_length(Code{ld(kNr), jeq(59, 1, 0), ret(1), ret(2)}), 3U + 1 + 1 + 4);
  EXPECT_EQ(converted_length(Code{ld(kNr), jeq(59, 1, 2), ret(1), ret(2), ret(3)}), 3U + 1 + 2 + 6);
  EXPECT_EQ(converted_length(Code{ld(kArch), jeq(kX8664, 1, 0), ret(1), ret(2)}), 3U + 1 + 2 + 4);
  EXPECT_EQ(converted_length(Code{ld(kNr), jset(1, 0, 1), ret(1), ret(2)}),
            3U + 1 + 2 + 4);  // JSET has no inverse
  EXPECT_EQ(converted_length(Code{ld(kNr), jset(1, 1, 0), ret(1), ret(2)}), 3U + 1 + 1 + 4);
  EXPECT_EQ(converted_length(Code{ld(kNr), jset(1, 0, 0), ret(1)}), 3U + 1 + 1 + 2);
  EXPECT_EQ(converted_length(Code{alu_x(BPF_DIV), ret(1)}), 3U + 5 + 2);
}

TEST(Run, CountsExecutedInstructions) {
  const Code code = {ld(kArch), jeq(kX8664, 1, 2), ret(1), ld(kNr), jset(1, 0, 1), ret(2), ret(3)};
  const program::Run odd = run(code, call(kX8664, 501));
  EXPECT_EQ(odd.verdict, 2U);
  EXPECT_EQ(odd.executed, 5U);
  EXPECT_EQ(odd.executed_converted, 1U + 2 + 1 + 1 + 2);
  EXPECT_EQ(odd.loads, 2U);
  EXPECT_EQ(run(code, call(kX8664, 500)).executed_converted, 1U + 2 + 1 + 2 + 2);  // JSET's false edge
  EXPECT_EQ(run(code, call(kI386, 501)).executed_converted, 1U + 3 + 1 + 2);       // both offsets set, false edge
  const program::Run both = run_stack(std::vector<Code>{code, Code{ret(kAllow)}}, call(kX8664, 501));
  EXPECT_EQ(both.verdict, 2U);
  EXPECT_EQ(both.executed, 6U);
  EXPECT_EQ(both.executed_converted, 9U);
}

TEST(IsConstantAllow, KnowsOnlyTheKernelsInstructions) {
  const Code by_number = {ld(kArch),    jeq(kX8664, 0, 4), ld(kNr),    alu(BPF_AND, 0xff),
                          jeq(5, 0, 1), ret(kAllow),       ret(kErrno)};
  EXPECT_TRUE(is_constant_allow(by_number, kX8664, 5));
  EXPECT_TRUE(is_constant_allow(by_number, kX8664, 0x105));
  EXPECT_FALSE(is_constant_allow(by_number, kX8664, 6));
  EXPECT_FALSE(is_constant_allow(by_number, kI386, 5));
  EXPECT_TRUE(is_constant_allow(Code{jeq(0, 0, 1), ret(kAllow), ret(0)}, kX8664, 9));  // A starts at 0
  EXPECT_FALSE(is_constant_allow(Code{ret(kAllow | 1)}, kX8664, 5));
  const Instruction killers[] = {
      ld(abi::kIpLow), ld(abi::arg_low(0)), ld_imm(1),     ld_len(), ldx_imm(1), tax(), txa(), st(0), stx(0),
      neg(),           alu(BPF_OR, 0),      alu_x(BPF_AND)};
  for (const Instruction& killer : killers)
    EXPECT_FALSE(is_constant_allow(Code{killer, ret(kAllow)}, kX8664, 5)) << killer.code;
  EXPECT_FALSE(is_constant_allow(Code{jump_x(BPF_JEQ, 0, 0), ret(kAllow)}, kX8664, 5));
  EXPECT_FALSE(is_constant_allow(Code{ld_imm(0xffffffff), ret_a()}, kX8664, 5));
}

}  // namespace
}  // namespace seccompress::program
