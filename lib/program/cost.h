// SPDX-License-Identifier: Apache-2.0
// What one classic instruction becomes in net/core/filter.c bpf_convert_filter, for cost.cc and interpret.cc.
#pragma once

#include "program/program.h"

namespace seccompress::program {

inline constexpr std::uint32_t kPrologue = 3;  // A = 0, X = 0, keep the context

constexpr bool is_compare(const Instruction& insn) {
  return BPF_CLASS(insn.code) == BPF_JMP && BPF_OP(insn.code) != BPF_JA;
}
// eBPF immediates are signed: a constant with bit 31 set is moved to a register first.
constexpr bool needs_wide_constant(const Instruction& insn) { return BPF_SRC(insn.code) == BPF_K && insn.k >> 31 != 0; }
// Jcc and JA. With jt == 0 the comparison is inverted instead, but JSET has no inverse.
constexpr bool needs_two_jumps(const Instruction& insn) {
  return insn.jf != 0 && (insn.jt != 0 || BPF_OP(insn.code) == BPF_JSET);
}

// eBPF instructions that `insn` takes up; and how many of them one execution runs.
std::uint32_t converted_size(const Instruction& insn);
constexpr std::uint32_t executed_compare(const Instruction& insn, bool taken) {
  return 1U + (needs_wide_constant(insn) ? 1U : 0U) + (!taken && needs_two_jumps(insn) ? 1U : 0U);
}

}  // namespace seccompress::program
