// SPDX-License-Identifier: Apache-2.0
// kernel/seccomp.c seccomp_is_const_allow(), which decides at attach time what the kernel answers without
// running a program (5.11 and later). Any instruction it does not know ends the emulation with "no".
#include "program/program.h"

namespace seccompress::program {

bool is_constant_allow(CodeView code, std::uint32_t arch, std::uint32_t nr) {
  std::uint32_t a = 0;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& insn = code[pc];
    bool taken = false;
    switch (insn.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (insn.k != 4 * abi::kNr && insn.k != 4 * abi::kArch) return false;
        a = insn.k == 4 * abi::kNr ? nr : arch;
        continue;
      case BPF_ALU | BPF_AND | BPF_K: a &= insn.k; continue;
      case BPF_RET | BPF_K: return insn.k == abi::kAllow;
      case BPF_JMP | BPF_JA: pc += insn.k; continue;
      case BPF_JMP | BPF_JEQ | BPF_K: taken = a == insn.k; break;
      case BPF_JMP | BPF_JGE | BPF_K: taken = a >= insn.k; break;
      case BPF_JMP | BPF_JGT | BPF_K: taken = a > insn.k; break;
      case BPF_JMP | BPF_JSET | BPF_K: taken = (a & insn.k) != 0; break;
      default: return false;
    }
    pc += taken ? insn.jt : insn.jf;
  }
  return false;
}

}  // namespace seccompress::program
