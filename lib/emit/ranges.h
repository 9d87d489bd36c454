// SPDX-License-Identifier: Apache-2.0
// The line that a search works on: ascending ranges of A's values with exits and weights.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emit/code_graph.h"

namespace seccompress::emit {

struct Range {
  std::uint32_t first, last;
  OpId exit;
  double weight;  // how often A lies in it; only ratios matter
  bool is_single() const { return first == last; }
};
using Ranges = std::vector<Range>;

double weight_of(std::span<const Range> ranges);
void join_equal_neighbours(Ranges& ranges);

// A >= bound ? yes : no
OpId at_least(CodeGraph& graph, std::uint32_t bound, OpId yes, OpId no, double yes_share);

// Single values with exits of their own where all other ranges share one exit: one JEQ each, heaviest first.
inline constexpr std::size_t kMaxChain = 6;
struct Chain {
  OpId base = 0;
  std::array<std::size_t, kMaxChain> exceptions{};  // indices into the ranges, heaviest first
  std::size_t length = 0;
  double cost = 0;  // weighted tests
};
// nullopt: not a chain, or one of more than kMaxChain tests. Ranges marked in `gone` cannot occur any more;
// `weight` is that of the others. An empty `gone` marks none.
std::optional<Chain> chain_of(std::span<const Range> ranges, std::span<const bool> gone, double weight);
OpId emit_chain(CodeGraph& graph, std::span<const Range> ranges, const Chain& chain, double weight);

}  // namespace seccompress::emit
