// SPDX-License-Identifier: Apache-2.0
// What a diagram does with one word: which exit (a node that does not test the word) each value leads to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagram/store.h"

namespace seccompress::emit {

// The bits of the word on which the exit depends.
std::uint32_t support_of(const diagram::Store& store, diagram::Node node, abi::Word word);

// The values that have no bit outside `support` as ascending ranges (what A holds after AND support);
// nullopt when there are more than `limit` of them.
std::optional<std::vector<diagram::Piece>> ranges_of(const diagram::Store& store, diagram::Node node, abi::Word word,
                                                     std::uint32_t support, std::size_t limit);

// Runs in the nodes of this word: how complicated what it does is, whatever bits are free.
std::size_t runs_of(const diagram::Store& store, diagram::Node node, abi::Word word);

// All values that lead to one exit, summed up. They are exactly {v : (v & mask) == value} iff is_cube().
struct ExitValues {
  diagram::Node exit;
  std::uint32_t all_ones;  // bits set in every value
  std::uint32_t any_ones;  // bits set in some value
  std::uint64_t count;

  std::uint32_t mask() const { return ~(all_ones ^ any_ones); }
  std::uint32_t value() const { return all_ones & mask(); }
  bool is_cube() const;
};
std::vector<ExitValues> exits_of(const diagram::Store& store, diagram::Node node, abi::Word word);

}  // namespace seccompress::emit
