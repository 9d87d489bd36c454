// SPDX-License-Identifier: Apache-2.0
#include "verify/subject.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace seccompress::verify {
namespace {

using program::Instruction;

// What A may hold, as a set. Full: the word as loaded; masked: some bits of it.
enum Held : unsigned { nr_full = 1, nr_masked = 2, arch_full = 4, arch_masked = 8, reached = 16 };

bool well_formed(const Instruction& insn) {
  switch (BPF_CLASS(insn.code)) {
    case BPF_LD:
      if (insn.code == (BPF_LD | BPF_W | BPF_ABS)) return insn.k < sizeof(abi::SeccompData) && insn.k % 4 == 0;
      if (insn.code == (BPF_LD | BPF_MEM)) return insn.k < BPF_MEMWORDS;
      return insn.code == (BPF_LD | BPF_IMM) || insn.code == (BPF_LD | BPF_W | BPF_LEN);
    case BPF_LDX:
      if (insn.code == (BPF_LDX | BPF_MEM)) return insn.k < BPF_MEMWORDS;
      return insn.code == (BPF_LDX | BPF_IMM) || insn.code == (BPF_LDX | BPF_W | BPF_LEN);
    case BPF_ST:
    case BPF_STX: return (insn.code == BPF_ST || insn.code == BPF_STX) && insn.k < BPF_MEMWORDS;
    case BPF_RET: return insn.code == (BPF_RET | BPF_K) || insn.code == (BPF_RET | BPF_A);
    case BPF_MISC: return insn.code == (BPF_MISC | BPF_TAX) || insn.code == (BPF_MISC | BPF_TXA);
    case BPF_JMP:
      if (insn.code > 0xff || BPF_OP(insn.code) > BPF_JSET) return false;
      return BPF_OP(insn.code) != BPF_JA || insn.code == (BPF_JMP | BPF_JA);
    default: break;  // BPF_ALU
  }
  if (insn.code == (BPF_ALU | BPF_NEG)) return true;
  if (insn.code > 0xff || BPF_OP(insn.code) == BPF_NEG || BPF_OP(insn.code) > BPF_XOR) return false;
  if (BPF_OP(insn.code) == BPF_MOD) return false;
  if (BPF_SRC(insn.code) == BPF_X) return true;
  const bool shifts = BPF_OP(insn.code) == BPF_LSH || BPF_OP(insn.code) == BPF_RSH;
  return shifts ? insn.k < 32 : BPF_OP(insn.code) != BPF_DIV || insn.k != 0;
}

// A test that looks at bits from `lowest` up is constant on blocks of 2^lowest values.
void cut_blocks(std::vector<std::uint32_t>& cuts, std::uint32_t mask) {
  constexpr int kFewestBits = 27;  // at most 32 blocks; finer tests are left to the argument executor
  if (mask == 0 || std::countr_zero(mask) < kFewestBits) return;
  const std::uint64_t block = 1ULL << std::countr_zero(mask);
  for (std::uint64_t start = block; start <= 0xffffffffU; start += block)
    cuts.push_back(static_cast<std::uint32_t>(start));
}

constexpr std::size_t kMaxDropped = 4;

void cut_after(std::vector<std::uint32_t>& cuts, std::uint32_t value) {
  if (value != 0xffffffffU) cuts.push_back(value + 1);
}

}  // namespace

std::optional<std::string> Subject::fault(program::CodeView code) {
  if (code.empty()) return "no instructions";
  if (code.size() > kMaxSubject) return fmt::format("{} instructions", code.size());
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& insn = code[pc];
    if (!well_formed(insn)) return fmt::format("instruction {} is not one of seccomp's", pc);
    if (BPF_CLASS(insn.code) == BPF_RET) continue;
    std::size_t reach = 0;
    if (BPF_CLASS(insn.code) == BPF_JMP) reach = BPF_OP(insn.code) == BPF_JA ? insn.k : std::max(insn.jt, insn.jf);
    if (reach >= code.size() - pc - 1) return fmt::format("instruction {} leads past the end", pc);
  }
  return std::nullopt;
}

// One pass suffices because jumps only go forward. Scratch words and X are not followed: what comes out of
// them counts as possibly nr. Missing a cut costs time, never truth.
void Subject::collect(Cuts& nr, Cuts& arch) {
  std::vector<std::uint8_t> held(code_.size());
  held[0] = reached;
  for (std::size_t pc = 0; pc < code_.size(); ++pc) {
    if (held[pc] == 0) continue;
    const Instruction& insn = code_[pc];
    unsigned next = held[pc];
    const auto flow = [&](std::size_t target) { held[target] = static_cast<std::uint8_t>(held[target] | next); };
    switch (BPF_CLASS(insn.code)) {
      case BPF_RET: continue;
      case BPF_JMP:
        if (BPF_OP(insn.code) == BPF_JA) {
          flow(pc + 1 + insn.k);
          continue;
        }
        uses_x_ = uses_x_ || BPF_SRC(insn.code) == BPF_X;
        collect_test(insn, held[pc], nr, arch);
        flow(pc + 1 + insn.jt);
        flow(pc + 1 + insn.jf);
        continue;
      case BPF_LD:
        next = reached;
        if (insn.code == (BPF_LD | BPF_MEM)) next |= nr_full;
        if (insn.code == (BPF_LD | BPF_W | BPF_ABS) && insn.k == 4 * abi::kNr) next |= nr_full;
        if (insn.code == (BPF_LD | BPF_W | BPF_ABS) && insn.k == 4 * abi::kArch) next |= arch_full;
        break;
      case BPF_ALU:
        uses_x_ = uses_x_ || BPF_SRC(insn.code) == BPF_X;
        computes_ = computes_ || insn.code != (BPF_ALU | BPF_AND | BPF_K);
        if (insn.code == (BPF_ALU | BPF_AND | BPF_K) && insn.k == 0xffffffffU) break;  // still the whole word
        next = reached;
        if (insn.code == (BPF_ALU | BPF_AND | BPF_K)) drop_bits(~insn.k);
        if (insn.code == (BPF_ALU | BPF_AND | BPF_K))
          next |= (held[pc] & (nr_full | nr_masked) ? nr_masked : 0U) |
                  (held[pc] & (arch_full | arch_masked) ? arch_masked : 0U);
        break;
      case BPF_MISC:
        if (insn.code == (BPF_MISC | BPF_TXA)) next = reached | nr_full;
        break;
      default: break;
    }
    flow(pc + 1);
  }
}

void Subject::drop_bits(std::uint32_t bits) {
  if (!std::has_single_bit(bits) || dropped_.size() == kMaxDropped) return;
  if (std::find(dropped_.begin(), dropped_.end(), bits) == dropped_.end()) dropped_.push_back(bits);
}

void Subject::collect_test(const Instruction& insn, unsigned held, Cuts& nr, Cuts& arch) const {
  if (BPF_SRC(insn.code) == BPF_X) return;
  // nr without one bit (x32 calls tested as native ones): the same cut where the bit is set.
  if ((held & nr_masked) != 0 && relation_of(insn.code) != Relation::any_bit)
    for (const std::uint32_t bit : dropped_) {
      if (relation_of(insn.code) != Relation::greater) nr.ranges.push_back(insn.k | bit);
      if (relation_of(insn.code) != Relation::greater_equal) cut_after(nr.ranges, insn.k | bit);
    }
  switch (relation_of(insn.code)) {
    case Relation::equal:
      if (held & nr_full) {
        nr.ranges.push_back(insn.k);
        cut_after(nr.ranges, insn.k);
      }
      if (held & arch_full) arch.singles.push_back(insn.k);
      break;
    case Relation::greater:
      if (held & nr_full) cut_after(nr.ranges, insn.k);
      if (held & arch_full) cut_after(arch.ranges, insn.k);
      break;
    case Relation::greater_equal:
      if (held & nr_full) nr.ranges.push_back(insn.k);
      if (held & arch_full) arch.ranges.push_back(insn.k);
      break;
    case Relation::any_bit:
      if (held & (nr_full | nr_masked)) cut_blocks(nr.ranges, insn.k);
      if (held & (arch_full | arch_masked)) cut_blocks(arch.ranges, insn.k);
      break;
  }
}

}  // namespace seccompress::verify
