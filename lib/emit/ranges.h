// SPDX-License-Identifier: Apache-2.0
// The line that a search works on: ascending ranges of A's values with exits and weights.
#pragma once

#include <algorithm>
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

// Neighbouring ranges, some of which cannot occur any more.
struct Part {
  std::span<const Range> ranges;
  std::uint64_t gone = 0;  // bit by bit; only the first 64 can be gone
  double weight = 0;       // of those that are left
  bool is_gone(std::size_t at) const { return at < 64 && ((gone >> at) & 1U) != 0; }
};

// Single values with exits of their own where all other ranges share one exit: one JEQ each, heaviest first.
inline constexpr std::size_t kMaxChain = 6;
struct Chain {
  OpId base = 0;
  std::array<std::size_t, kMaxChain> exceptions{};  // indices into the ranges, heaviest first
  std::size_t length = 0;
  double cost = 0;  // weighted tests
};
// nullopt: not a chain, or one of more than kMaxChain tests. Length 0: all that is left has one exit.
std::optional<Chain> chain_of(const Part& part);
OpId emit_chain(CodeGraph& graph, const Part& part, const Chain& chain);

// A constant with bit 31 costs a converted instruction of its own (it would be sign extended).
constexpr double wide(std::uint32_t constant) { return constant >> 31 != 0 ? 1.0 : 0.0; }
constexpr double wide_split(std::uint32_t bound) { return bound == 0x80000000U ? 0.0 : wide(bound); }  // see at_least
constexpr double share(double part, double whole) { return whole > 0 ? std::min(part / whole, 1.0) : 0.5; }

}  // namespace seccompress::emit
