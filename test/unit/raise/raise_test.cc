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

constexpr abi::Verdict kEperm = kErrno | 1;

class RaiseTest : public testing::Test {
 protected:
  Node raised(const Code& code) {
    EXPECT_TRUE(program::check(code));
    const auto node = raise(code, store);
    EXPECT_TRUE(node) << (node ? "" : node.error().what);
    return node ? *node : 0;
  }
  std::string refusal(const Code& code) {
    EXPECT_TRUE(program::check(code));
    const auto node = raise(code, store);
    if (node) return "accepted";
    EXPECT_EQ(node.error().code, make_error_code(Errc::inexact));
    return node.error().what;
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

TEST_F(RaiseTest, WhatADiagramCannotHoldIsRefusedAtItsInstruction) {
  EXPECT_EQ(refusal({ld(kNr), tax(), ret(kAllow)}), "instruction 1: the X register cannot become a decision diagram");
  EXPECT_EQ(refusal({ld(kNr), st(0), ret(kAllow)}), "instruction 1: scratch memory cannot become a decision diagram");
  EXPECT_EQ(refusal({ld(kNr), alu(BPF_ADD, 1), jeq(5, 0, 1), ret(kEperm), ret(kAllow)}),
            "instruction 1: arithmetic on a loaded word cannot become a decision diagram");
  EXPECT_EQ(refusal({ld(kNr), ret_a()}), "instruction 1: returning a loaded word cannot become a decision diagram");
  EXPECT_EQ(refusal({ld(kNr), jump_x(BPF_JEQ, 0, 1), ret(kEperm), ret(kAllow)}),
            "instruction 1: a comparison with X cannot become a decision diagram");
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
