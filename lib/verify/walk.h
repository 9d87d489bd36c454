// SPDX-License-Identifier: Apache-2.0
// One program on all numbers of one class of architectures at once: sets of cells go forward through the
// code, so that a list of 400 tests costs 400 set operations. Where the outcome depends on something else
// than arch and nr, a residue is left: the place, and what A holds there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verify/budget.h"
#include "verify/partition.h"
#include "verify/subject.h"

namespace seccompress::verify {

// What A holds, in one word: a masked word of the input, or a constant.
struct Held {
  static constexpr std::uint8_t kConstant = abi::kWords;
  std::uint8_t word = kConstant;
  // Only instructions that the kernel's cache emulator knows led here (kernel/seccomp.c
  // seccomp_is_const_allow).
  bool emulated = true;
  std::uint32_t bits = 0;  // the mask; or the constant

  bool operator==(const Held&) const = default;
};

// Sets of cells with the same outcome; all together they are a partition of the cells.
struct Outcomes {
  struct Constant {
    abi::Verdict verdict;  // as returned
    bool emulated;
    std::uint32_t set;
  };
  struct Residue {
    std::uint32_t pc;
    Held held;
    std::uint32_t set;
  };
  std::vector<Constant> constants;
  std::vector<Residue> residues;
};

class Walker {
 public:
  Walker(const NrCells& cells, Budget& budget) : cells_(cells), budget_(budget), stride_((cells.count() + 63) / 64) {}

  // The result is valid until the next call.
  const Outcomes& walk(const Subject& subject, const ArchClass& arch);

  // Calls visit(cell) for each cell of a set, ascending.
  template <class Visit>
  void for_each(std::uint32_t set, Visit visit) const {
    for (std::uint32_t w = 0; w < stride_; ++w)
      for (std::uint64_t rest = words_[set + w]; rest != 0; rest &= rest - 1)
        visit(w * 64 + static_cast<std::uint32_t>(__builtin_ctzll(rest)));
  }
  std::uint32_t stride() const { return stride_; }
  const std::uint64_t* row(std::uint32_t set) const { return words_.data() + set; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  struct Pending {
    Held held;
    std::uint32_t set;
    std::uint32_t next;
  };

  std::uint32_t allocate();
  void release(std::uint32_t set) { free_.push_back(set); }
  bool is_empty(std::uint32_t set) const;
  std::uint32_t full_set();
  std::uint32_t take_from(std::uint32_t set, std::uint32_t first_cell);

  void start(const Subject& subject);
  void deliver(std::uint32_t pc, Held held, std::uint32_t set);
  void step(std::uint32_t pc, Held held, std::uint32_t set);
  void jump(std::uint32_t pc, Held held, std::uint32_t set);
  void jump_on_nr(std::uint32_t pc, Held held, std::uint32_t set);
  void split_by_cell(std::uint32_t pc, Held held, std::uint32_t set);
  void finish(abi::Verdict verdict, bool emulated, std::uint32_t set);
  void finish_cell(abi::Verdict verdict, bool emulated, std::uint32_t cell);
  void stop(std::uint32_t pc, Held held, std::uint32_t set) { outcomes_.residues.push_back({pc, held, set}); }

  const NrCells& cells_;
  Budget& budget_;
  std::uint32_t stride_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> free_;

  const Subject* subject_ = nullptr;
  const ArchClass* arch_ = nullptr;
  std::vector<std::uint32_t> heads_;    // by pc: first pending entry; all kNone between walks
  std::vector<std::uint64_t> reached_;  // by pc: is anything pending; all 0 between walks
  std::vector<Pending> pending_;
  Outcomes outcomes_;
};

}  // namespace seccompress::verify
