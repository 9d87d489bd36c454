// SPDX-License-Identifier: Apache-2.0
// One cell whose verdict depends on arguments: are the stack's regions the flat program's?
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "verify/sequence.h"
#include "verify/symbolic.h"

namespace seccompress::verify {

struct CellProof {
  enum class Kind : std::uint8_t { equal, differs, undecided } kind = Kind::undecided;
  bool for_this_cell_only = false;  // the outcome depended on arch or nr
  bool exact = true;                // no fresh words: the witness is one
  abi::SeccompData witness{};
  std::string reason;  // undecided
};

class CellProver {
 public:
  // shows(input): do the programs really differ there?
  using Shows = std::function<bool(const abi::SeccompData&)>;
  CellProver(std::span<const Subject> subjects, const Residues& residues, std::uint32_t node_limit, Budget& budget,
             Shows shows);

  // Both sides newest first.
  CellProof prove(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat);

 private:
  std::vector<Mode> modes() const;
  CellProof attempt(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat, Mode mode, bool plane);
  Regions regions_of(Item item, Edge inside);
  Regions sum_of(std::span<const Item> newest_first, Edge inside);
  Regions add(const Regions& newer, const Regions& older);
  Edge where_they_differ(const Regions& a, const Regions& b);

  std::span<const Subject> subjects_;
  const Residues& residues_;
  Budget& budget_;
  Bdd bdd_;
  Executor executor_;
  Shows shows_;
  bool relations_ = false;  // some program relates computed values
  bool computes_ = false;   // some program computes
};

}  // namespace seccompress::verify
