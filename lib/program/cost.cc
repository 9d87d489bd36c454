// SPDX-License-Identifier: Apache-2.0
// Input: code that check() accepts. Output: its length as eBPF. Rules: cost.h.
#include "program/cost.h"

namespace seccompress::program {

std::uint32_t converted_size(const Instruction& insn) {
  if (is_compare(insn)) return 1U + (needs_wide_constant(insn) ? 1U : 0U) + (needs_two_jumps(insn) ? 1U : 0U);
  if (insn.code == (BPF_RET | BPF_K)) return 2;
  // A test of X comes first: mov32 X, X; jne X, 0, +2; xor A, A; exit; div.
  if (insn.code == (BPF_ALU | BPF_DIV | BPF_X)) return 5;
  return 1;
}

std::uint32_t converted_length(CodeView code) {
  std::uint32_t length = kPrologue;
  for (const Instruction& insn : code) length += converted_size(insn);
  return length;
}

}  // namespace seccompress::program
