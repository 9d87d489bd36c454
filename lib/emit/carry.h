// SPDX-License-Identifier: Apache-2.0
// Carried code as operations: what a diagram's terminal becomes when it is no verdict.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "emit/code_graph.h"
#include "opaque/leaf.h"

namespace seccompress::emit {

class Carrier {
 public:
  // Gives up beyond max_operations.
  Carrier(CodeGraph& graph, opaque::Leaves& leaves, std::size_t max_operations)
      : graph_(graph), leaves_(leaves), max_operations_(max_operations) {}

  // nullopt: too many operations, or no scratch words left (then lacks_cells()).
  std::optional<OpId> emit(opaque::LeafId leaf);
  bool lacks_cells() const { return lacks_cells_; }

 private:
  // What stays the same while the code of one leaf runs.
  struct Place {
    opaque::LeafId items;  // what is left of the stack, the code that runs included
    std::uint32_t set;     // scratch words that are set on the way here
    auto operator<=>(const Place&) const = default;
  };
  static constexpr std::uint32_t kNone = 0xffffffffU;

  OpId ret(abi::Verdict verdict, std::uint32_t set) { return graph_.ret_carried(BPF_RET | BPF_K, verdict, set); }
  OpId stack(const opaque::Items& items, std::uint32_t cell, std::uint32_t set);
  OpId code(opaque::OpId root, const Place& place, std::uint32_t cell);
  OpId make(opaque::OpId root, const Place& place, std::uint32_t cell);
  OpId given(abi::Verdict verdict, const Place& place, std::uint32_t cell);
  OpId computed(const Place& place, std::uint32_t cell);
  OpId divide(opaque::OpId quotient, const Place& place, std::uint32_t cell);
  OpId unless_stricter(std::uint32_t cell, abi::Verdict verdict, OpId verdict_wins, OpId cell_wins);
  opaque::Items after(const Place& place) const;
  abi::Verdict before(const Place& place) const;
  void choose_cells(opaque::LeafId leaf);
  bool has_cell(std::size_t which);

  CodeGraph& graph_;
  opaque::Leaves& leaves_;
  std::size_t max_operations_;
  std::map<std::tuple<opaque::OpId, Place, std::uint32_t>, OpId> done_;
  // Scratch words that no code of the leaf uses: two for words that were computed as verdicts, one for a dividend.
  std::array<std::uint32_t, 3> cells_{kNone, kNone, kNone};
  bool exhausted_ = false, lacks_cells_ = false;
};

}  // namespace seccompress::emit
