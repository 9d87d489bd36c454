// SPDX-License-Identifier: Apache-2.0
// One cell whose verdict depends on arguments: are the stack's regions the flat program's, or is there an input for
// which another relation holds?
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "verify/sequence.h"
#include "verify/symbolic.h"

namespace seccompress::verify {

struct CellProof {
  enum class Kind : std::uint8_t { never, somewhere, undecided } kind = Kind::undecided;
  bool for_this_cell_only = false;  // the outcome depended on arch or nr
  bool exact = true;                // no fresh words: the witness is one
  abi::SeccompData witness{};
  std::string reason;  // undecided
};

class CellProver {
 public:
  // holds(stack's verdict, flat's verdict): what is searched for; "they differ" for a proof of equality.
  using Holds = bool (*)(abi::Verdict, abi::Verdict);
  // shows(input): does it really hold there?
  using Shows = std::function<bool(const abi::SeccompData&)>;
  CellProver(std::span<const Subject> subjects, const Residues& residues, std::uint32_t node_limit, Budget& budget,
             Holds holds, Shows shows);

  // Both sides newest first.
  CellProof prove(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat);

 private:
  std::vector<Mode> modes() const;
  CellProof attempt(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat, Mode mode, bool plane);
  CellProof attempt(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat, Mode mode);
  Regions regions_of(Item item, Edge inside);
  Regions sum_of(std::span<const Item> newest_first, Edge inside);
  Regions add(const Regions& newer, const Regions& older);
  Edge where_it_holds(const Regions& a, const Regions& b);
  Executor::Bits word_of(Item item, Edge inside);
  Executor::Bits word_of(std::span<const Item> newest_first, Edge inside);
  Edge where_words_differ(std::span<const Item> stack, std::span<const Item> flat, Edge inside);

  std::span<const Subject> subjects_;
  const Residues& residues_;
  Budget& budget_;
  Bdd bdd_;
  Executor executor_;
  Holds holds_;
  Shows shows_;
  bool relations_ = false;  // some program relates computed values
  bool computes_ = false;   // some program computes
};

}  // namespace seccompress::verify
