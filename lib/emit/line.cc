// SPDX-License-Identifier: Apache-2.0
#include "emit/line.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace seccompress::emit {

Line::Line(Ranges ranges, double size_cost) : ranges_(std::move(ranges)) {
  const std::size_t n = ranges_.size();
  best_.resize(n * (n + 1) / 2);
  below_.assign(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) below_[i + 1] = below_[i] + ranges_[i].weight;
  for (std::size_t i = 0; i < n; ++i) at(i, i) = {0, static_cast<std::uint16_t>(i), true, true};
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) solve(i, i + length - 1, size_cost);
}

void Line::solve(std::size_t i, std::size_t j, double size_cost) {
  Best best{std::numeric_limits<float>::infinity(), 0, false, false};
  const std::size_t last = std::min<std::size_t>(at(i + 1, j).split, j - 1);
  for (std::size_t k = std::min<std::size_t>(at(i, j - 1).split, last); k <= last; ++k) {
    const auto extra = static_cast<float>(weight(i, j) * wide_split(ranges_[k + 1].first));
    const float cost = at(i, k).cost + at(k + 1, j).cost + extra;
    if (cost < best.cost) best = {cost, static_cast<std::uint16_t>(k), false, false};
  }
  best.cost += static_cast<float>(weight(i, j) + size_cost);
  // What is too much for a chain in a part is too much in the whole.
  if (at(i + 1, j).may_chain && at(i, j - 1).may_chain)
    if (const auto chain = chain_of(part(i, j))) {
      const auto cost = static_cast<float>(chain->cost + size_cost * static_cast<double>(chain->length));
      best.may_chain = true;
      if (cost <= best.cost) best.cost = cost, best.chain = true;
    }
  at(i, j) = best;
}

OpId Line::emit(CodeGraph& graph, std::size_t i, std::size_t j) const {
  if (is_chain(i, j)) return emit_chain(graph, part(i, j), *chain_of(part(i, j)));
  const std::size_t k = split(i, j);
  const OpId lower = emit(graph, i, k), upper = emit(graph, k + 1, j);
  return at_least(graph, ranges_[k + 1].first, upper, lower, share(weight(k + 1, j), weight(i, j)));
}

}  // namespace seccompress::emit
