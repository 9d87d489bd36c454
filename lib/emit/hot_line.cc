// SPDX-License-Identifier: Apache-2.0
#include "emit/hot_line.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "support/check.h"

namespace seccompress::emit {

HotLine::HotLine(Ranges ranges, double size_cost) : ranges_(std::move(ranges)), size_cost_(size_cost) {
  const std::size_t n = ranges_.size();
  CHECK(n > 0 && n <= kMaxRanges);
  first_wide_ = n;
  while (first_wide_ > 0 && wide_split(ranges_[first_wide_ - 1].first) > 0) --first_wide_;
  below_.assign(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) below_[i + 1] = below_[i] + ranges_[i].weight;
  for (std::size_t i = 0; i < n; ++i)
    if (ranges_[i].is_single()) singles_.push_back(static_cast<std::uint8_t>(i));
  std::ranges::stable_sort(singles_, std::greater<>(), [&](std::size_t i) { return ranges_[i].weight; });
  best_.resize(n * (n + 1) / 2 * kEntries);
  for (std::size_t length = 1; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) solve(i, i + length - 1);
}

HotLine::Heavy HotLine::heavy(std::size_t i, std::size_t j) const {
  Heavy found;
  for (const std::uint8_t single : singles_) {
    if (single < i || single > j) continue;
    if (found.count == kMaxHoles) break;
    found.at.at(found.count++) = single;
  }
  return found;
}

double HotLine::weight(std::size_t i, std::size_t j, Places gone) const {
  double sum = below_[j + 1] - below_[i];
  for (; gone != 0; gone &= gone - 1) sum -= ranges_[static_cast<std::size_t>(std::countr_zero(gone))].weight;
  return std::max(sum, 0.0);
}

// All numbers of holes of one part, most holes first.
void HotLine::solve(std::size_t i, std::size_t j) {
  const Heavy singles = heavy(i, j);
  for (std::size_t h = singles.count + 1; h-- > 0;) best(i, j)[h] = solve(i, j, h, singles);
}

// What is too much for a chain in a part is too much in the whole.
bool HotLine::may_chain(std::size_t i, std::size_t j, std::size_t h, Places gone) const {
  if (i == j) return true;
  return best(i + 1, j)[h - ((gone >> i) & 1U)].may_chain && best(i, j - 1)[h - ((gone >> j) & 1U)].may_chain;
}

HotLine::Best HotLine::solve(std::size_t i, std::size_t j, std::size_t h, const Heavy& heavy) const {
  const Places gone = heavy.first(h);
  const Part rest = part(i, j, gone);
  Best best_move{std::numeric_limits<float>::infinity(), Move::chain, 0, false};
  if (may_chain(i, j, h, gone)) {
    const auto chain = chain_of(rest);
    if (chain && chain->length == 0) return {0, Move::chain, 0, true};
    if (chain) best_move.cost = static_cast<float>(chain->cost + size_cost_ * static_cast<double>(chain->length));
    best_move.may_chain = chain.has_value();
  }
  const double test = rest.weight + size_cost_;
  if (h < heavy.count) {
    const auto cost =
        static_cast<float>(test + wide(ranges_[heavy.at.at(h)].first) * rest.weight) + best(i, j)[h + 1].cost;
    if (cost < best_move.cost) best_move.cost = cost, best_move.move = Move::single;
  }
  try_splits(best_move, i, j, h, gone, test);
  return best_move;
}

void HotLine::try_splits(Best& best_move, std::size_t i, std::size_t j, std::size_t h, Places gone, double test) const {
  // Bounds above 2^31 are all in the upper part of the line.
  const auto narrow = static_cast<float>(test), wide = static_cast<float>(test + test - size_cost_);
  std::size_t lower = index(i, i), upper = index(i + 1, j) + h;  // the lower part's holes come off the upper one's
  float cost = best_move.cost;
  std::size_t split = j;
  for (std::size_t k = i; k < j; ++k) {
    const std::size_t hole = (gone >> k) & 1U;
    lower += hole, upper -= hole;
    const float sum = (k + 1 < first_wide_ ? narrow : wide) + best_[lower].cost + best_[upper].cost;
    if (sum < cost) cost = sum, split = k;
    lower += (k + 1) * kEntries, upper += kEntries;
  }
  if (split == j) return;
  best_move.cost = cost;
  best_move.move = Move::split;
  best_move.split = static_cast<std::uint8_t>(split);
}

OpId HotLine::emit(CodeGraph& graph, std::size_t i, std::size_t j, std::size_t h) const {
  const Heavy singles = heavy(i, j);
  const Places gone = singles.first(h);
  const Part rest = part(i, j, gone);
  const Best& move = best(i, j)[h];
  switch (move.move) {
    case Move::chain: return emit_chain(graph, rest, *chain_of(rest));
    case Move::single: {
      const Range& single = ranges_[singles.at.at(h)];
      return graph.jump(BPF_JEQ, single.first, single.exit, emit(graph, i, j, h + 1),
                        share(single.weight, rest.weight));
    }
    case Move::split: break;
  }
  const std::size_t k = move.split;
  const Places lower = gone & ((Places{2} << k) - 1);
  const auto lower_holes = static_cast<std::size_t>(std::popcount(lower));
  const OpId low = emit(graph, i, k, lower_holes), high = emit(graph, k + 1, j, h - lower_holes);
  return at_least(graph, ranges_[k + 1].first, high, low, share(weight(k + 1, j, gone & ~lower), rest.weight));
}

}  // namespace seccompress::emit
