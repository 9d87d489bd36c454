// SPDX-License-Identifier: Apache-2.0
// Input: code of the shape that program::check accepts, a cell. Output: facts by instruction. Entry: the constructor.
// Weakness: where ways meet with different constants nothing is known any more.
#include "opaque/facts.h"

#include <bit>

#include "opaque/machine.h"

namespace seccompress::opaque {
namespace {

using program::Instruction;

constexpr Known kNothing{Known::Kind::nothing, 0, 0};
Known constant(std::uint32_t value) { return {Known::Kind::constant, 0, value}; }
Known join(const Known& a, const Known& b) { return a == b ? a : kNothing; }

// The bits that all values of an interval share.
std::uint32_t shared_bits(const Interval& interval) {
  const std::uint32_t differ = interval.first ^ interval.last;
  return differ == 0 ? 0xffffffffU : ~(std::bit_floor(differ) * 2 - 1);
}

}  // namespace

Facts::Facts(program::CodeView code, const Cell& cell) : code_(code), cell_(cell), at_(code.size()), cells_(1) {
  at_[0].reached = true;
  for (std::uint32_t pc = 0; pc < code.size(); ++pc)
    if (at_[pc].reached) step(pc);
}

Known Facts::of_word(abi::Word word, std::uint32_t mask) const {
  if ((mask & ~shared_bits(interval(word))) == 0) return constant(interval(word).first & mask);
  return {Known::Kind::word, word, mask};
}

Known Facts::loaded(const Instruction& insn, const State& state) const {
  switch (BPF_MODE(insn.code)) {
    case BPF_IMM: return constant(insn.k);
    case BPF_LEN: return constant(sizeof(abi::SeccompData));
    case BPF_MEM: return cells_[state.cells][insn.k];
    default: break;
  }
  const auto word = static_cast<abi::Word>(insn.k / 4);
  return word == abi::kNr || word == abi::kArch ? of_word(word, 0xffffffffU) : kNothing;
}

Known Facts::computed(const Instruction& insn, const State& state) const {
  const std::uint32_t operation = BPF_OP(insn.code);
  const bool by_x = BPF_SRC(insn.code) == BPF_X && operation != BPF_NEG;
  const Known operand = by_x ? state.x : constant(insn.k);
  const bool annihilates = (operation == BPF_AND || operation == BPF_MUL) && operand == constant(0);
  if (annihilates) return constant(0);
  if (!operand.is_constant()) return kNothing;
  if (state.a.is_constant()) {
    if (operation == BPF_DIV && operand.data == 0) return kNothing;
    return constant(calculate(operation, state.a.data, operand.data));
  }
  if (state.a.kind == Known::Kind::word && operation == BPF_AND)
    return of_word(state.a.word, state.a.data & operand.data);
  return kNothing;
}

Known Facts::result(std::uint32_t pc) const {
  const Instruction& insn = code_[pc];
  const State& state = at_[pc];
  switch (BPF_CLASS(insn.code)) {
    case BPF_LD:
    case BPF_LDX: return loaded(insn, state);
    case BPF_ALU: return computed(insn, state);
    default: return insn.code == (BPF_MISC | BPF_TAX) ? state.a : state.x;
  }
}

bool Facts::divides_by_zero(std::uint32_t pc) const {
  return code_[pc].code == (BPF_ALU | BPF_DIV | BPF_X) && at_[pc].x == constant(0);
}

std::optional<bool> Facts::outcome(std::uint32_t pc) const {
  const Instruction& insn = code_[pc];
  const State& state = at_[pc];
  if (insn.jt == insn.jf) return true;
  const Known operand = BPF_SRC(insn.code) == BPF_X ? state.x : constant(insn.k);
  const std::uint32_t operation = BPF_OP(insn.code);
  if (!operand.is_constant()) return std::nullopt;
  if (operation == BPF_JSET && operand.data == 0) return false;
  if (state.a.is_constant()) return holds(operation, state.a.data, operand.data);
  if (state.a.kind == Known::Kind::nothing) return std::nullopt;
  const Interval& all = interval(state.a.word);
  if (operation == BPF_JSET) {
    const Known bits = of_word(state.a.word, state.a.data & operand.data);
    return bits.is_constant() ? std::optional(bits.data != 0) : std::nullopt;
  }
  if (state.a.data != 0xffffffffU) return std::nullopt;
  if (operation == BPF_JEQ) {
    if (operand.data < all.first || operand.data > all.last) return false;
    return std::nullopt;  // one value only would be a constant
  }
  const bool first = holds(operation, all.first, operand.data), last = holds(operation, all.last, operand.data);
  return first == last ? std::optional(first) : std::nullopt;
}

std::uint32_t Facts::join(std::uint32_t a, std::uint32_t b) {
  if (a == b || cells_[a] == cells_[b]) return a;
  Cells both;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = opaque::join(cells_[a][i], cells_[b][i]);
  if (both == cells_[a]) return a;
  cells_.push_back(both);
  return static_cast<std::uint32_t>(cells_.size() - 1);
}

void Facts::deliver(std::uint32_t pc, const State& state) {
  State& there = at_[pc];
  if (!there.reached) {
    there = state;
    return;
  }
  there.a = opaque::join(there.a, state.a);
  there.x = opaque::join(there.x, state.x);
  there.cells = join(there.cells, state.cells);
}

void Facts::step(std::uint32_t pc) {
  const Instruction& insn = code_[pc];
  State state = at_[pc];
  switch (BPF_CLASS(insn.code)) {
    case BPF_RET: return;
    case BPF_JMP: {
      if (BPF_OP(insn.code) == BPF_JA) return deliver(pc + 1 + insn.k, state);
      const std::optional<bool> known = outcome(pc);
      if (known.value_or(true)) deliver(pc + 1 + insn.jt, state);
      if (!known.value_or(false)) deliver(pc + 1 + insn.jf, state);
      return;
    }
    case BPF_ST:
    case BPF_STX: {
      Cells cells = cells_[state.cells];
      cells[insn.k] = BPF_CLASS(insn.code) == BPF_ST ? state.a : state.x;
      state.cells = static_cast<std::uint32_t>(cells_.size());
      cells_.push_back(cells);
      break;
    }
    default: {
      if (divides_by_zero(pc)) return;
      const bool sets_x = BPF_CLASS(insn.code) == BPF_LDX || insn.code == (BPF_MISC | BPF_TAX);
      (sets_x ? state.x : state.a) = result(pc);
      break;
    }
  }
  deliver(pc + 1, state);
}

}  // namespace seccompress::opaque
