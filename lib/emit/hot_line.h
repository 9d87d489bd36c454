// SPDX-License-Identifier: Apache-2.0
// The best tree for a short line when single values may also be tested anywhere on the way down.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/ranges.h"

namespace seccompress::emit {

// Dynamic programming over (i, j, h): the part [i, j] with its h heaviest single values already tested. On any
// way down the singles tested are the heaviest ones of the part (an exchange argument: Anderson, Kannan, Karloff,
// Ladner 2002, "Thresholds and optimal binary comparison search trees"; where exits repeat it is a heuristic,
// which chains complete). O(n^3 * kMaxHoles).
class HotLine {
 public:
  static constexpr std::size_t kMaxRanges = 20;
  static constexpr std::size_t kMaxHoles = 5;

  HotLine(Ranges ranges, double size_cost);
  OpId emit(CodeGraph& graph) const { return emit(graph, 0, ranges_.size() - 1, 0); }

 private:
  enum class Move : std::uint8_t { chain, split, single };
  struct Best {
    double cost = 0;
    Move move = Move::chain;
    std::uint8_t split = 0;
  };
  const Best& best(std::size_t i, std::size_t j, std::size_t h) const {
    return best_[(i * ranges_.size() + j) * (kMaxHoles + 1) + h];
  }
  Best& best(std::size_t i, std::size_t j, std::size_t h) {
    return best_[(i * ranges_.size() + j) * (kMaxHoles + 1) + h];
  }
  // Indices of the heaviest singles in [i, j], heaviest first, at most kMaxHoles.
  std::size_t heaviest(std::size_t i, std::size_t j, std::size_t* found) const;
  void solve(std::size_t i, std::size_t j);
  Best solve(std::size_t i, std::size_t j, std::size_t h, std::size_t singles, double weight, const bool* gone);
  OpId emit(CodeGraph& graph, std::size_t i, std::size_t j, std::size_t h) const;
  std::span<const Range> part(std::size_t i, std::size_t j) const { return std::span(ranges_).subspan(i, j - i + 1); }

  Ranges ranges_;
  double size_cost_;
  std::vector<std::size_t> singles_;  // all of them, heaviest first
  std::vector<Best> best_;
};

}  // namespace seccompress::emit
