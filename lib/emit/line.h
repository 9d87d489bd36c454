// SPDX-License-Identifier: Apache-2.0
// The best tree of splits and chains for every part of a line of ranges.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/ranges.h"

namespace seccompress::emit {

// Dynamic programming over parts [i, j]. Split points are searched between those of the two parts that are one
// shorter (Knuth 1971), which makes the whole O(n^2); with chains that bound is a heuristic.
class Line {
 public:
  // At most 65535 ranges, neighbours with different exits. size_cost: what a test costs by being there.
  Line(Ranges ranges, double size_cost);

  const Ranges& ranges() const { return ranges_; }
  double weight(std::size_t i, std::size_t j) const { return below_[j + 1] - below_[i]; }
  double cost(std::size_t i, std::size_t j) const { return static_cast<double>(at(i, j).cost); }
  std::size_t split(std::size_t i, std::size_t j) const { return at(i, j).split; }  // last of the lower part
  bool is_chain(std::size_t i, std::size_t j) const { return at(i, j).chain; }
  OpId emit(CodeGraph& graph, std::size_t i, std::size_t j) const;

 private:
  struct Best {
    float cost = 0;
    std::uint16_t split = 0;
    bool chain = false;
    bool may_chain = false;  // it is one, if not the best
  };
  // Parts are sorted by their end.
  Best& at(std::size_t i, std::size_t j) { return best_[j * (j + 1) / 2 + i]; }
  const Best& at(std::size_t i, std::size_t j) const { return best_[j * (j + 1) / 2 + i]; }
  Part part(std::size_t i, std::size_t j) const { return {std::span(ranges_).subspan(i, j - i + 1), 0, weight(i, j)}; }
  void solve_ending_at(std::size_t j);
  Best best_split(std::size_t i, std::size_t j, std::size_t first, const Best* ending_at_j) const;
  void try_chain(std::size_t i, std::size_t j, Best& best) const;

  Ranges ranges_;
  double size_cost_;
  std::size_t first_wide_ = 0;  // from this range on, splits compare with a wide constant
  std::vector<Best> best_;
  std::vector<double> below_;  // weight of the ranges before
};

}  // namespace seccompress::emit
