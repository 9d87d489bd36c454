// SPDX-License-Identifier: Apache-2.0
// One program under proof, and what a single look at its bytes tells: whether it is well formed (own rules:
// elements of a stack may be longer than the kernel's limit) and against which constants it may test nr and
// arch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "verify/bdd.h"

namespace seccompress::verify {

inline constexpr std::size_t kMaxSubject = std::size_t{1} << 22;  // instructions

// Constants after which a test of a word can change its outcome: the word's line is cut before each.
struct Cuts {
  std::vector<std::uint32_t> ranges;   // from tests other than equality (nr: all tests)
  std::vector<std::uint32_t> singles;  // values that equality tests single out (arch only)
};

class Subject {
 public:
  // Why the bytes are no program: a wrong opcode, a jump out of range, no end.
  static std::optional<std::string> fault(program::CodeView code);

  explicit Subject(program::CodeView code) : code_(code) {}

  program::CodeView code() const { return code_; }
  const program::Instruction& at(std::uint32_t pc) const { return code_[pc]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(code_.size()); }
  // Does some instruction relate two values that the program computed?
  bool uses_x() const { return uses_x_; }
  // Is there arithmetic other than masks?
  bool computes() const { return uses_x_ || computes_; }

  // Finds the cuts of nr and arch that this program may make.
  void collect(Cuts& nr, Cuts& arch);

  // What A held is lost at pc: the next thing is a load or a constant verdict.
  bool forgets_a(std::uint32_t pc) const {
    const std::uint16_t code = code_[pc].code;
    return BPF_CLASS(code) == BPF_LD || code == (BPF_RET | BPF_K);
  }

 private:
  void drop_bits(std::uint32_t bits);
  void collect_test(const program::Instruction& insn, unsigned holds, Cuts& nr, Cuts& arch) const;

  program::CodeView code_;
  std::vector<std::uint32_t> dropped_;  // bits that some AND alone takes away from nr
  bool uses_x_ = false;
  bool computes_ = false;
};

inline Relation relation_of(std::uint16_t code) {
  switch (BPF_OP(code)) {
    case BPF_JEQ: return Relation::equal;
    case BPF_JGT: return Relation::greater;
    case BPF_JGE: return Relation::greater_equal;
    default: return Relation::any_bit;
  }
}

}  // namespace seccompress::verify
