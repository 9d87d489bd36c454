// SPDX-License-Identifier: Apache-2.0
#include "raise/raise.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::raise {
namespace {

using namespace seccompress::test;
using abi::kAllow;
using abi::kArch;
using abi::kErrno;
using abi::kNr;
using diagram::Compare;
using diagram::Node;
using program::Instruction;

constexpr abi::Verdict kEperm = kErrno | 1;

class RaiseTest : public testing::Test {
 protected:
  Node raised(const Code& code) {
    EXPECT_TRUE(program::check(code));
    const auto node = raise(code, store);
    EXPECT_TRUE(node) << (node ? "" : node.error().what);
    return node ? *node : 0;
  }
  // A function of one loaded word against (word == 59 ? EPERM : ALLOW) and the like.
  void expect_test(std::vector<Instruction> computation, Instruction test, Compare compare, std::uint32_t k,
                   std::uint32_t mask = ~0U) {
    std::vector<Instruction> code = {ld(4)};
    code.insert(code.end(), computation.begin(), computation.end());
    code.insert(code.end(), {test, ret(kEperm), ret(kAllow)});
    EXPECT_EQ(raised(code), store.test(4, mask, compare, k, eperm, allow)) << program::disassemble(code);
  }
  diagram::Store store;
  Node allow = store.terminal(kAllow);
  Node eperm = store.terminal(kEperm);
  Node is_execve = store.test(kNr, ~0U, Compare::eq, 59, eperm, allow);
};

TEST_F(RaiseTest, ALinearListAndATreeAreTheSameFunction) {
  const Code list = {ld(kNr), jeq(1, 3, 0), jeq(2, 2, 0), jeq(3, 1, 0), ret(kAllow), ret(kEperm)};
  const Code tree = {ld(kNr), jge(4, 2, 0), jge(1, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(list), raised(tree));
}

TEST_F(RaiseTest, ArchitectureMayBeTestedLast) {
  const Code late = {ld(kNr), jeq(59, 0, 3), ld(kArch), jeq(kX8664, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(late), store.test(kArch, ~0U, Compare::eq, kX8664, is_execve, allow));
}

TEST_F(RaiseTest, NumbersMayBeMasked) {
  const Code masked = {ld(kNr), alu(BPF_AND, 0xff), jeq(5, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(masked), store.test(kNr, 0xff, Compare::eq, 5, eperm, allow));
  const Code ranged = {ld(kNr), alu(BPF_AND, 0xf0), jge(0x20, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(ranged), store.test(kNr, 0xf0, Compare::ge, 0x20, eperm, allow));
}

TEST_F(RaiseTest, ReloadingANumberAfterAnArgumentWorks) {
  const Code code = {ld(4), jeq(7, 0, 3), ld(kNr), jeq(59, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(code),
            store.test(kNr, ~0U, Compare::eq, 59, store.test(4, ~0U, Compare::eq, 7, eperm, allow), allow));
}

TEST_F(RaiseTest, TheInstructionPointerIsAWordLikeAnother) {
  const Code code = {ld(abi::kIpHigh), jgt(0x7fff, 0, 1), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(code), store.test(abi::kIpHigh, ~0U, Compare::gt, 0x7fff, eperm, allow));
}

TEST_F(RaiseTest, ConstantsFoldAway) {
  EXPECT_EQ(raised({ld_len(), jeq(64, 0, 1), ret(kEperm), ret(kAllow)}), eperm);
  EXPECT_EQ(raised({ld_imm(3), alu(BPF_MUL, 7), alu(BPF_SUB, 22), ret_a()}), store.terminal(0xffffffff));
  EXPECT_EQ(raised({ld_imm(kEperm), ret_a()}), eperm);
  EXPECT_EQ(raised({jeq(0, 0, 1), ret(kEperm), ret(kAllow)}), eperm) << "A is 0 at entry";
  EXPECT_EQ(raised({ld(4), alu(BPF_AND, 0), jeq(0, 0, 1), ret(kEperm), ret(kAllow)}), eperm);
  EXPECT_EQ(raised({ld(kNr), alu(BPF_ADD, 0), alu(BPF_DIV, 1), jeq(59, 0, 1), ret(kEperm), ret(kAllow)}), is_execve);
}

TEST_F(RaiseTest, ComparisonsAreUnsignedOverTheWholeRange) {
  EXPECT_EQ(raised({ld(kNr), jge(0, 0, 1), ret(kEperm), ret(kAllow)}), eperm);
  EXPECT_EQ(raised({ld(kNr), jgt(0xffffffff, 0, 1), ret(kEperm), ret(kAllow)}), allow);
  EXPECT_EQ(raised({ld(kNr), jset(0, 0, 1), ret(kEperm), ret(kAllow)}), allow);
  EXPECT_EQ(raised({ld(kNr), jge(0x80000000, 0, 1), ret(kEperm), ret(kAllow)}),
            store.test(kNr, 0x80000000, Compare::set, 0x80000000, eperm, allow));
}

TEST_F(RaiseTest, StrayOffsetsAndDeadCodeAreIgnored) {
  Code code = {ld(kNr), jeq(59, 0, 1), ret(kEperm), ret(kAllow), tax(), ret(kEperm)};
  code[0].jt = 77;
  code[2].jf = 9;
  EXPECT_EQ(raised(code), is_execve);
  EXPECT_EQ(raised({ld(kNr), jeq(59, 0, 0), ret(kAllow)}), allow) << "jt == jf";
}

TEST_F(RaiseTest, ArithmeticOnOneWordBecomesTests) {
  expect_test({alu(BPF_ADD, 5)}, jeq(12, 0, 1), Compare::eq, 7);
  expect_test({alu(BPF_SUB, 5)}, jeq(12, 0, 1), Compare::eq, 17);
  expect_test({alu(BPF_SUB, 5)}, jeq(0xffffffff, 0, 1), Compare::eq, 4);
  expect_test({alu(BPF_XOR, 0x80000001)}, jeq(0x80000003, 0, 1), Compare::eq, 2);
  expect_test({neg()}, jeq(0xfffffff0, 0, 1), Compare::eq, 16);
  expect_test({alu(BPF_RSH, 8)}, jge(3, 0, 1), Compare::ge, 0x300);
  expect_test({alu(BPF_DIV, 4)}, jgt(3, 0, 1), Compare::ge, 16);
  expect_test({alu(BPF_LSH, 4)}, jeq(0x50, 0, 1), Compare::eq, 5, 0x0fffffff);
  expect_test({alu(BPF_MUL, 16)}, jset(0x10, 0, 1), Compare::set, 1, 1);
  expect_test({alu(BPF_OR, 0xf0)}, jeq(0xf3, 0, 1), Compare::eq, 3, ~0xf0U);
  expect_test({alu(BPF_MUL, 3)}, jeq(21, 0, 1), Compare::eq, 7);
}

TEST_F(RaiseTest, ARangeMovedByAConstantIsOneRange) {
  const Code moved = {ld(4), alu(BPF_SUB, 100), jge(50, 1, 0), ret(kEperm), ret(kAllow)};
  const Code plain = {ld(4), jge(100, 0, 2), jge(150, 1, 0), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(moved), raised(plain));
}

TEST_F(RaiseTest, XAndScratchMemoryAreFollowed) {
  EXPECT_EQ(raised({ldx_imm(59), ld(kNr), jump_x(BPF_JEQ, 0, 1), ret(kEperm), ret(kAllow)}), is_execve);
  EXPECT_EQ(raised({ld(kNr), tax(), ld_imm(59), jump_x(BPF_JEQ, 0, 1), ret(kEperm), ret(kAllow)}), is_execve);
  EXPECT_EQ(raised({ld(kNr), st(3), ld(4), ld_mem(3), jeq(59, 0, 1), ret(kEperm), ret(kAllow)}), is_execve);
  EXPECT_EQ(raised({ld_imm(kEperm), st(0), ldx_mem(0), txa(), ret_a()}), eperm);
  EXPECT_EQ(raised({ldx_imm(0), ld(4), alu_x(BPF_DIV), ret(kAllow)}), store.terminal(abi::kKillThread));
  EXPECT_EQ(raised({ld(4), tax(), jump_x(BPF_JEQ, 0, 1), ret(kEperm), ret(kAllow)}), eperm) << "a word equals itself";
}

TEST_F(RaiseTest, BothHalvesOfAnArgumentAgainstZeroAreTests) {
  const Code code = {ld(4), tax(), ld(5), alu_x(BPF_OR), jeq(0, 1, 0), ret(kEperm), ret(kAllow)};
  EXPECT_EQ(raised(code), store.test(5, ~0U, Compare::eq, 0, store.test(4, ~0U, Compare::eq, 0, allow, eperm), eperm));
}

// Evaluated like the program, and no diagram of verdicts alone.
TEST_F(RaiseTest, WhatADiagramCannotHoldIsCarried) {
  const Code codes[] = {
      {ld(4), tax(), ld(6), jump_x(BPF_JEQ, 0, 1), ret(kEperm), ret(kAllow)},
      {ld(4), tax(), ld(6), jump_x(BPF_JGT, 0, 1), ret(kEperm), ret(kAllow)},
      {ld(4), tax(), ld(6), alu_x(BPF_MUL), jeq(12, 0, 1), ret(kEperm), ret(kAllow)},
      {ld(4), tax(), ld(6), alu_x(BPF_DIV), jeq(3, 0, 1), ret(kEperm), ret(kAllow)},
      {ld(4), tax(), ld(6), alu_x(BPF_ADD), jeq(7, 0, 1), ret(kEperm), ret(kAllow)},
      {ld(4), st(2), ld(6), tax(), ld_mem(2), alu_x(BPF_LSH), jset(8, 0, 1), ret(kEperm), ret(kAllow)},
      {ld(4), ret_a()},
  };
  for (const Code& code : codes) {
    const Node node = raised(code);
    EXPECT_TRUE(store.has_code(node)) << program::disassemble(code);
    for (const std::uint64_t a0 : {0ULL, 1ULL, 3ULL, 4ULL, 7ULL, 0xffffffffULL, 0x80000000ULL})
      for (const std::uint64_t a1 : {0ULL, 1ULL, 3ULL, 4ULL, 12ULL, 0xffffffffULL, 0x80000000ULL}) {
        const abi::SeccompData data = call(kX8664, 1, a0, a1);
        EXPECT_EQ(store.evaluate(node, data), abi::normalize(program::interpret(code, data)))
            << program::disassemble(code) << a0 << ' ' << a1;
      }
  }
}

TEST_F(RaiseTest, CodeIsCarriedOnlyForTheNumbersThatNeedIt) {
  // Arguments are compared first, and matter for number 7 alone.
  const Node node = raised({ld(4), tax(), ld(6), jump_x(BPF_JEQ, 0, 4), ld(kNr), jeq(7, 0, 1), ret(kEperm), ret(kAllow),
                            ld(kNr), jeq(9, 0, 1), ret(kEperm), ret(kAllow)});
  const Node seven = store.cofactor(store.cofactor(node, kArch, ~0U, kX8664), kNr, ~0U, 7);
  EXPECT_TRUE(store.is_code(seven));
  EXPECT_EQ(store.cofactor(store.cofactor(node, kArch, ~0U, kX8664), kNr, ~0U, 8), allow);
}

TEST_F(RaiseTest, LongChainsAreReadInLinearSteps) {
  Code code = {ld(kNr)};
  for (std::uint32_t nr = 0; nr < 2000; ++nr) {
    code.push_back(jeq(nr * 3, 0, 1));
    code.push_back(ret(kErrno | (nr % 100)));
  }
  code.push_back(ret(kAllow));
  const Node node = raised(code);
  EXPECT_EQ(store.evaluate(node, call(kX8664, 3 * 1234)), kErrno | 34);
  EXPECT_EQ(store.evaluate(node, call(kX8664, 3 * 1234 + 1)), kAllow);
}

}  // namespace
}  // namespace seccompress::raise
