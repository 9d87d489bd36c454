// SPDX-License-Identifier: Apache-2.0
#include "emit/line.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace seccompress::emit {

Line::Line(Ranges ranges, double size_cost) : ranges_(std::move(ranges)), size_cost_(size_cost) {
  const std::size_t n = ranges_.size();
  first_wide_ = n;
  while (first_wide_ > 0 && wide_split(ranges_[first_wide_ - 1].first) > 0) --first_wide_;
  best_.resize(n * (n + 1) / 2);
  below_.assign(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) below_[i + 1] = below_[i] + ranges_[i].weight;
  for (std::size_t j = 0; j < n; ++j) solve_ending_at(j);
}

void Line::solve_ending_at(std::size_t j) {
  Best* const parts = &at(0, j);  // by their beginning
  parts[j] = {0, static_cast<std::uint16_t>(j), true, true};
  if (j == 0) return;
  const Best* const shorter = &at(0, j - 1);
  for (std::size_t i = j; i-- > 0;) {
    parts[i] = best_split(i, j, shorter[i].split, parts);
    // What is too much for a chain in a part is too much in the whole.
    if (parts[i + 1].may_chain && shorter[i].may_chain) try_chain(i, j, parts[i]);
  }
}

// Parts with one end lie next to each other; those with one beginning a row further each: (i, k + 1) is k + 1 behind
// (i, k).
Line::Best Line::best_split(std::size_t i, std::size_t j, std::size_t first, const Best* ending_at_j) const {
  const std::size_t last = std::min<std::size_t>(ending_at_j[i + 1].split, j - 1);
  std::size_t k = std::min(first, last), lower = k * (k + 1) / 2 + i;
  const double test = weight(i, j);
  const auto wide = static_cast<float>(test);
  Best best{std::numeric_limits<float>::infinity(), 0, false, false};
  for (; k <= last; lower += ++k) {
    float cost = best_[lower].cost + ending_at_j[k + 1].cost;
    if (k + 1 >= first_wide_) cost += wide;
    if (cost < best.cost) best.cost = cost, best.split = static_cast<std::uint16_t>(k);
  }
  best.cost += static_cast<float>(test + size_cost_);
  return best;
}

void Line::try_chain(std::size_t i, std::size_t j, Best& best) const {
  const auto chain = chain_of(part(i, j));
  if (!chain) return;
  const auto cost = static_cast<float>(chain->cost + size_cost_ * static_cast<double>(chain->length));
  best.may_chain = true;
  if (cost <= best.cost) best.cost = cost, best.chain = true;
}

OpId Line::emit(CodeGraph& graph, std::size_t i, std::size_t j) const {
  if (is_chain(i, j)) return emit_chain(graph, part(i, j), *chain_of(part(i, j)));
  const std::size_t k = split(i, j);
  const OpId lower = emit(graph, i, k), upper = emit(graph, k + 1, j);
  return at_least(graph, ranges_[k + 1].first, upper, lower, share(weight(k + 1, j), weight(i, j)));
}

}  // namespace seccompress::emit
