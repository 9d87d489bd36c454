// SPDX-License-Identifier: Apache-2.0
// The listing's format, as people and other tests read it.
#include <gtest/gtest.h>

#include "program/program.h"
#include "support/program_builder.h"

namespace seccompress::program {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the assembler
using abi::kAllow, abi::kErrno, abi::kNr, abi::kArch;

TEST(Disassemble, NamesNumbersAfterTheArchitectureThatWasTested) {
  const Code code = {
      ld(kArch), jeq(kX8664, 1, 0), jeq(kI386, 4, 6), ld(kNr),    jge(0x40000000, 4, 0), jeq(59, 3, 0), ja(2),
      ld(kNr),   jeq(11, 0, 1),     ret(kErrno | 1),  ret(kAllow)};
  EXPECT_EQ(disassemble(code),
            "   0: ld   [arch]\n"
            "   1: jeq  #0xc000003e x86_64 jt 3  jf 2\n"
            "   2: jeq  #0x40000003 i386  jt 7  jf 9\n"
            "   3: ld   [nr]\n"
            "   4: jge  #0x40000000 x32   jt 9  jf 5\n"
            "   5: jeq  #59 execve        jt 9  jf 6\n"
            "   6: ja   9\n"
            "   7: ld   [nr]\n"
            "   8: jeq  #11 execve        jt 9  jf 10\n"
            "   9: ret  #0x00050001 ERRNO(1 EPERM)\n"
            "  10: ret  #0x7fff0000 ALLOW\n");
}

TEST(Disassemble, LeavesNumbersBareWhenTheArchitectureIsNotKnown) {
  EXPECT_EQ(disassemble(Code{ld(kNr), jeq(59, 0, 0), ld(abi::arg_high(3)), jeq(59, 0, 0), jset(16, 0, 0), ret_a()}),
            "   0: ld   [nr]\n"
            "   1: jeq  #59               jt 2  jf 2\n"
            "   2: ld   [a3.hi]\n"
            "   3: jeq  #0x3b             jt 4  jf 4\n"
            "   4: jset #0x10             jt 5  jf 5\n"
            "   5: ret  a\n");
}

TEST(Disassemble, HasALineForEveryInstructionEvenUnknownOnes) {
  const Code code = {ld_imm(5),
                     ld_len(),
                     ld_mem(1),
                     ldx_imm(6),
                     ldx_len(),
                     ldx_mem(2),
                     st(3),
                     stx(4),
                     tax(),
                     txa(),
                     neg(),
                     alu(BPF_ADD, 1),
                     alu_x(BPF_SUB),
                     jump_x(BPF_JGT, 0, 9),
                     raw(0x123, 7, 1, 2),
                     ja(0xffffffff)};
  EXPECT_EQ(disassemble(code),
            "   0: ld   #0x5\n"
            "   1: ld   len\n"
            "   2: ld   M[1]\n"
            "   3: ldx  #0x6\n"
            "   4: ldx  len\n"
            "   5: ldx  M[2]\n"
            "   6: st   M[3]\n"
            "   7: stx  M[4]\n"
            "   8: tax\n"
            "   9: txa\n"
            "  10: neg\n"
            "  11: add  #0x1\n"
            "  12: sub  x\n"
            "  13: jgt  x                 jt 14  jf 23\n"
            "  14: .raw code 0x0123 jt 1 jf 2 k 0x7\n"
            "  15: ja   4294967311\n");
}

}  // namespace
}  // namespace seccompress::program
