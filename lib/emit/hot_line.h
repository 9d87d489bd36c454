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
  static constexpr std::size_t kMaxRanges = 30;
  static constexpr std::size_t kMaxHoles = 6;

  HotLine(Ranges ranges, double size_cost);
  OpId emit(CodeGraph& graph) const { return emit(graph, 0, ranges_.size() - 1, 0); }
  double cost() const { return static_cast<double>(best(0, ranges_.size() - 1)[0].cost); }

 private:
  using Places = std::uint64_t;  // a set of ranges, bit by bit
  enum class Move : std::uint8_t { chain, split, single };
  struct Best {
    float cost = 0;
    Move move = Move::chain;
    std::uint8_t split = 0;
    bool may_chain = true;  // no part of it is known not to be a chain
  };
  // The singles of a part, heaviest first, at most kMaxHoles.
  struct Heavy {
    std::array<std::uint8_t, kMaxHoles> at{};
    std::size_t count = 0;
    Places first(std::size_t holes) const {
      Places places = 0;
      for (std::size_t hole = 0; hole < holes; ++hole) places |= Places{1} << at.at(hole);
      return places;
    }
  };

  // By h. Parts are sorted by their end: (i + 1, j) is the next part, (i, j + 1) the one j + 1 further.
  static constexpr std::size_t kEntries = kMaxHoles + 1;
  static std::size_t index(std::size_t i, std::size_t j) { return (j * (j + 1) / 2 + i) * kEntries; }
  const Best* best(std::size_t i, std::size_t j) const { return &best_[index(i, j)]; }
  Best* best(std::size_t i, std::size_t j) { return &best_[index(i, j)]; }
  bool may_chain(std::size_t i, std::size_t j, std::size_t h, Places gone) const;
  Heavy heavy(std::size_t i, std::size_t j) const;
  double weight(std::size_t i, std::size_t j, Places gone) const;
  void solve(std::size_t i, std::size_t j);
  Best solve(std::size_t i, std::size_t j, std::size_t h, const Heavy& heavy) const;
  void try_splits(Best& best_move, std::size_t i, std::size_t j, std::size_t h, Places gone, double test) const;
  OpId emit(CodeGraph& graph, std::size_t i, std::size_t j, std::size_t h) const;
  Part part(std::size_t i, std::size_t j, Places gone) const {
    return {std::span(ranges_).subspan(i, j - i + 1), gone >> i, weight(i, j, gone)};
  }

  Ranges ranges_;
  double size_cost_;
  std::size_t first_wide_ = 0;         // from this range on, splits compare with a wide constant
  std::vector<double> below_;          // weight of the ranges before
  std::vector<std::uint8_t> singles_;  // all of them, heaviest first
  std::vector<Best> best_;
};

}  // namespace seccompress::emit
