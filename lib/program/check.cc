// SPDX-License-Identifier: Apache-2.0
// Input: code. Output: would the kernel attach it. Entry point: check.
//
// The order of the rules is the kernel's: length (kernel/seccomp.c seccomp_prepare_filter), each instruction
// and the last one (net/core/filter.c bpf_check_classic), scratch memory (check_load_and_stores), and
// seccomp's own list of instructions (seccomp_check_filter), which is the narrower one, so it alone is kept
// here. What the kernel does not look at is not looked at: jt and jf of instructions that do not jump,
// reachability.
#include <fmt/core.h>

#include <algorithm>

#include "program/program.h"

namespace seccompress::program {
namespace {

tl::unexpected<Error> refuse(std::size_t pc, const std::string& why) {
  return failure(Errc::malformed, fmt::format("instruction {}: {}", pc, why));
}

bool is_conditional(std::uint16_t code) { return BPF_CLASS(code) == BPF_JMP && BPF_OP(code) != BPF_JA; }

// seccomp_check_filter(): the opcodes, compared as whole words.
bool is_allowed(std::uint16_t code) {
  switch (code) {
    case BPF_LD | BPF_W | BPF_ABS:
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_W | BPF_LEN:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_ALU | BPF_ADD | BPF_K:
    case BPF_ALU | BPF_ADD | BPF_X:
    case BPF_ALU | BPF_SUB | BPF_K:
    case BPF_ALU | BPF_SUB | BPF_X:
    case BPF_ALU | BPF_MUL | BPF_K:
    case BPF_ALU | BPF_MUL | BPF_X:
    case BPF_ALU | BPF_DIV | BPF_K:
    case BPF_ALU | BPF_DIV | BPF_X:
    case BPF_ALU | BPF_AND | BPF_K:
    case BPF_ALU | BPF_AND | BPF_X:
    case BPF_ALU | BPF_OR | BPF_K:
    case BPF_ALU | BPF_OR | BPF_X:
    case BPF_ALU | BPF_XOR | BPF_K:
    case BPF_ALU | BPF_XOR | BPF_X:
    case BPF_ALU | BPF_LSH | BPF_K:
    case BPF_ALU | BPF_LSH | BPF_X:
    case BPF_ALU | BPF_RSH | BPF_K:
    case BPF_ALU | BPF_RSH | BPF_X:
    case BPF_ALU | BPF_NEG:
    case BPF_LD | BPF_IMM:
    case BPF_LDX | BPF_IMM:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA:
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
    case BPF_JMP | BPF_JA:
    case BPF_JMP | BPF_JEQ | BPF_K:
    case BPF_JMP | BPF_JEQ | BPF_X:
    case BPF_JMP | BPF_JGE | BPF_K:
    case BPF_JMP | BPF_JGE | BPF_X:
    case BPF_JMP | BPF_JGT | BPF_K:
    case BPF_JMP | BPF_JGT | BPF_X:
    case BPF_JMP | BPF_JSET | BPF_K:
    case BPF_JMP | BPF_JSET | BPF_X: return true;
    default: return false;
  }
}

Result<void> check_jump(CodeView code, std::size_t pc) {
  const Instruction& insn = code[pc];
  const std::size_t room = code.size() - pc - 1;  // offsets below this stay inside
  std::size_t offset = insn.k;
  if (is_conditional(insn.code)) offset = std::max(insn.jt, insn.jf);
  if (offset >= room) return refuse(pc, fmt::format("jump target {} is past the end", pc + 1 + offset));
  return {};
}

Result<void> check_instruction(CodeView code, std::size_t pc) {
  const Instruction& insn = code[pc];
  if (!is_allowed(insn.code)) return refuse(pc, fmt::format("opcode {:#06x} is not allowed in seccomp", insn.code));
  switch (insn.code) {
    case BPF_ALU | BPF_DIV | BPF_K:
      if (insn.k == 0) return refuse(pc, "division by the constant 0");
      break;
    case BPF_ALU | BPF_LSH | BPF_K:
    case BPF_ALU | BPF_RSH | BPF_K:
      if (insn.k >= 32) return refuse(pc, fmt::format("shift by {}", insn.k));
      break;
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
      if (insn.k >= BPF_MEMWORDS) return refuse(pc, fmt::format("there is no scratch word M[{}]", insn.k));
      break;
    case BPF_LD | BPF_W | BPF_ABS:
      if (insn.k >= sizeof(abi::SeccompData) || insn.k % 4 != 0)
        return refuse(pc, fmt::format("load at offset {}: must be a multiple of 4 below 64", insn.k));
      break;
    default: break;
  }
  if (BPF_CLASS(insn.code) == BPF_JMP) return check_jump(code, pc);
  return {};
}

// check_load_and_stores(): which scratch words are set on every way that the kernel sees to an instruction.
// RET does not end such a way there, a jump does; programs after a RET depend on it.
Result<void> check_scratch(CodeView code) {
  std::vector<std::uint16_t> masks(code.size(), 0xffff);
  std::uint16_t valid = 0;
  const auto narrow = [&](std::size_t target) { masks[target] = masks[target] & valid; };
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& insn = code[pc];
    valid = valid & masks[pc];
    if (insn.code == BPF_ST || insn.code == BPF_STX) {
      valid = static_cast<std::uint16_t>(valid | 1U << insn.k);
    } else if (insn.code == (BPF_LD | BPF_MEM) || insn.code == (BPF_LDX | BPF_MEM)) {
      if ((valid >> insn.k & 1) == 0) return refuse(pc, fmt::format("reads M[{}], which may be unset", insn.k));
    } else if (BPF_CLASS(insn.code) == BPF_JMP) {
      if (is_conditional(insn.code)) {
        narrow(pc + 1 + insn.jt);
        narrow(pc + 1 + insn.jf);
      } else {
        narrow(pc + 1 + insn.k);
      }
      valid = 0xffff;
    }
  }
  return {};
}

}  // namespace

Result<void> check(CodeView code) {
  if (code.empty() || code.size() > kMaxInstructions)
    return failure(Errc::malformed, fmt::format("{} instructions: must be 1 to {}", code.size(), kMaxInstructions));
  for (std::size_t pc = 0; pc < code.size(); ++pc) TRY(check_instruction(code, pc));
  const std::uint16_t last = code.back().code;
  if (last != (BPF_RET | BPF_K) && last != (BPF_RET | BPF_A))
    return refuse(code.size() - 1, "the last instruction is not a RET");
  return check_scratch(code);
}

}  // namespace seccompress::program
