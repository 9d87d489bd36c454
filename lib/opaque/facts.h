// SPDX-License-Identifier: Apache-2.0
// What is known before each instruction of a program when arch and nr lie in given ranges: constant propagation, one
// pass forward because jumps only go forward.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.h"

namespace seccompress::opaque {

struct Interval {
  std::uint32_t first = 0, last = 0xffffffffU;  // inclusive
};

// A rectangle of the (arch, nr) plane.
struct Cell {
  Interval arch, nr;
};

// A value as far as it is known: a constant, bits of nr or arch, or nothing.
struct Known {
  enum class Kind : std::uint8_t { constant, word, nothing } kind = Kind::constant;
  abi::Word word = 0;      // kNr or kArch
  std::uint32_t data = 0;  // the constant, or the mask
  bool operator==(const Known&) const = default;
  bool is_constant() const { return kind == Kind::constant; }
};

class Facts {
 public:
  Facts(program::CodeView code, const Cell& cell);

  bool reached(std::uint32_t pc) const { return at_[pc].reached; }
  const Known& a(std::uint32_t pc) const { return at_[pc].a; }
  const Known& x(std::uint32_t pc) const { return at_[pc].x; }
  // What the instruction at pc leaves in A (LD, ALU, TXA) or in X (LDX, TAX).
  Known result(std::uint32_t pc) const;
  // Does the conditional jump at pc always go one way?
  std::optional<bool> outcome(std::uint32_t pc) const;
  // A division that always ends the program.
  bool divides_by_zero(std::uint32_t pc) const;

 private:
  struct State {
    bool reached = false;
    Known a, x;
    std::uint32_t cells = 0;  // index into cells_; 0: all zero
  };
  using Cells = std::array<Known, BPF_MEMWORDS>;

  void step(std::uint32_t pc);
  void deliver(std::uint32_t pc, const State& state);
  std::uint32_t join(std::uint32_t a, std::uint32_t b);
  Known loaded(const program::Instruction& insn, const State& state) const;
  Known computed(const program::Instruction& insn, const State& state) const;
  Known of_word(abi::Word word, std::uint32_t mask) const;
  const Interval& interval(abi::Word word) const { return word == abi::kNr ? cell_.nr : cell_.arch; }

  program::CodeView code_;
  Cell cell_;
  std::vector<State> at_;
  std::vector<Cells> cells_;
};

}  // namespace seccompress::opaque
