// SPDX-License-Identifier: Apache-2.0
#include "emit/hot_line.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "support/check.h"

namespace seccompress::emit {
namespace {

using Gone = std::array<bool, HotLine::kMaxRanges>;

bool is_one_exit(std::span<const Range> ranges, const bool* gone) {
  const Range* first = nullptr;
  for (std::size_t at = 0; at < ranges.size(); ++at) {
    if (gone[at]) continue;
    if (first != nullptr && first->exit != ranges[at].exit) return false;
    first = &ranges[at];
  }
  return true;
}

}  // namespace

HotLine::HotLine(Ranges ranges, double size_cost) : ranges_(std::move(ranges)), size_cost_(size_cost) {
  const std::size_t n = ranges_.size();
  CHECK(n > 0 && n <= kMaxRanges);
  for (std::size_t i = 0; i < n; ++i)
    if (ranges_[i].is_single()) singles_.push_back(i);
  std::ranges::stable_sort(singles_, std::greater<>(), [&](std::size_t i) { return ranges_[i].weight; });
  best_.resize(n * n * (kMaxHoles + 1));
  for (std::size_t length = 1; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) solve(i, i + length - 1);
}

std::size_t HotLine::heaviest(std::size_t i, std::size_t j, std::size_t* found) const {
  std::size_t count = 0;
  for (const std::size_t single : singles_) {
    if (single < i || single > j) continue;
    if (count == kMaxHoles) break;
    found[count++] = single;
  }
  return count;
}

// All numbers of holes of one part, most holes first.
void HotLine::solve(std::size_t i, std::size_t j) {
  std::array<std::size_t, kMaxHoles> heavy{};
  const std::size_t singles = heaviest(i, j, heavy.data());
  for (std::size_t h = singles + 1; h-- > 0;) {
    Gone gone{};
    double weight = weight_of(part(i, j));
    for (std::size_t hole = 0; hole < h; ++hole) {
      gone.at(heavy.at(hole) - i) = true;
      weight -= ranges_[heavy.at(hole)].weight;
    }
    best(i, j, h) = solve(i, j, h, singles, weight, gone.data());
  }
}

HotLine::Best HotLine::solve(std::size_t i, std::size_t j, std::size_t h, std::size_t singles, double weight,
                             const bool* gone) {
  if (is_one_exit(part(i, j), gone)) return {0, Move::chain, 0};
  Best best_move{std::numeric_limits<double>::infinity(), Move::chain, 0};
  if (const auto chain = chain_of(part(i, j), {gone, j - i + 1}, weight))
    best_move.cost = chain->cost + size_cost_ * static_cast<double>(chain->length);
  const double test = weight + size_cost_;
  if (h < singles && test + best(i, j, h + 1).cost < best_move.cost)
    best_move = {test + best(i, j, h + 1).cost, Move::single, 0};
  std::size_t lower_holes = 0;
  for (std::size_t k = i; k < j; ++k) {
    lower_holes += gone[k - i] ? 1U : 0U;
    const double cost = test + best(i, k, lower_holes).cost + best(k + 1, j, h - lower_holes).cost;
    if (cost < best_move.cost) best_move = {cost, Move::split, static_cast<std::uint8_t>(k)};
  }
  return best_move;
}

OpId HotLine::emit(CodeGraph& graph, std::size_t i, std::size_t j, std::size_t h) const {
  std::array<std::size_t, kMaxHoles> heavy{};
  heaviest(i, j, heavy.data());
  Gone gone{};
  double weight = weight_of(part(i, j));
  for (std::size_t hole = 0; hole < h; ++hole) {
    gone.at(heavy.at(hole) - i) = true;
    weight -= ranges_[heavy.at(hole)].weight;
  }
  const Best& move = best(i, j, h);
  switch (move.move) {
    case Move::chain: {
      const std::span<const bool> holes(gone.data(), j - i + 1);
      return emit_chain(graph, part(i, j), *chain_of(part(i, j), holes, weight), weight);
    }
    case Move::single: {
      const Range& single = ranges_[heavy.at(h)];
      return graph.jump(BPF_JEQ, single.first, single.exit, emit(graph, i, j, h + 1), single.weight / weight);
    }
    case Move::split: break;
  }
  const std::size_t k = move.split;
  const auto lower_holes =
      static_cast<std::size_t>(std::count(gone.begin(), gone.begin() + static_cast<std::ptrdiff_t>(k - i + 1), true));
  double upper = weight_of(part(k + 1, j));
  for (std::size_t at = k + 1; at <= j; ++at)
    if (gone.at(at - i)) upper -= ranges_[at].weight;
  const OpId low = emit(graph, i, k, lower_holes), high = emit(graph, k + 1, j, h - lower_holes);
  return at_least(graph, ranges_[k + 1].first, high, low, weight > 0 ? upper / weight : 0.5);
}

}  // namespace seccompress::emit
