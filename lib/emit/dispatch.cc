// SPDX-License-Identifier: Apache-2.0
// Input: weighted ranges with exits. Output: a tree of JEQ, JGE and JGT. Entry: dispatch().
//
// Method, from the outside in:
//   1. a single value that carries more than a third of the weight is tested first (JEQ), and its place is
//      then free: its neighbours join over it;
//   2. more ranges than kWindow are split by weight (JGE);
//   3. a window of up to kWindow ranges is solved exactly over splits and chains by dynamic programming in
//      O(kWindow^3). A chain: all ranges but single values share one exit; each single value costs one JEQ,
//      which beats the two splits it would cost otherwise.
// Costs are tests executed, weighted; every test adds kSizeCost so that ties go to the smaller program.
//
// Weakness: splits of large ranges are chosen greedily by weight, so the outer tree may be off the optimum.
#include "emit/dispatch.h"

#include <algorithm>
#include <limits>
#include <span>

namespace seccompress::emit {
namespace {

constexpr std::size_t kWindow = 24;
constexpr std::size_t kMaxChain = 6;
constexpr double kSizeCost = 1e-3;  // of the total weight, per test

using Ranges = std::vector<Range>;

bool is_single(const Range& range) { return range.first == range.last; }

double weight_of(std::span<const Range> ranges) {
  double sum = 0;
  for (const Range& range : ranges) sum += range.weight;
  return sum;
}

void join_equal_neighbours(Ranges& ranges) {
  std::size_t kept = 0;
  for (const Range& range : ranges) {
    if (kept > 0 && ranges[kept - 1].exit == range.exit) {
      ranges[kept - 1].last = range.last;
      ranges[kept - 1].weight += range.weight;
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

// A >= bound. A constant with bit 31 costs an extra converted instruction (it is sign extended).
OpId at_least(CodeGraph& graph, std::uint32_t bound, OpId yes, OpId no) {
  if (bound == 0x80000000U) return graph.jump(BPF_JGT, 0x7fffffffU, yes, no);
  return graph.jump(BPF_JGE, bound, yes, no);
}

// The exit that all non-single ranges share and the single exceptions to it; empty when there is none.
struct Chain {
  bool possible = false;
  OpId base = 0;
  std::vector<Range> exceptions;  // heaviest first
  double cost = 0;                // weighted tests
};

Chain chain_of(std::span<const Range> ranges) {
  Chain chain;
  const auto wide = std::ranges::find_if_not(ranges, is_single);
  chain.base = wide == ranges.end() ? ranges.back().exit : wide->exit;
  for (const Range& range : ranges) {
    if (range.exit == chain.base) continue;
    if (!is_single(range) || chain.exceptions.size() == kMaxChain) return chain;
    chain.exceptions.push_back(range);
  }
  std::ranges::stable_sort(chain.exceptions, std::greater<>(), &Range::weight);
  double left = weight_of(ranges);
  for (const Range& range : chain.exceptions) {
    chain.cost += left;
    left -= range.weight;
  }
  chain.possible = true;
  return chain;
}

OpId emit_chain(CodeGraph& graph, const Chain& chain) {
  OpId rest = chain.base;
  for (auto range = chain.exceptions.rbegin(); range != chain.exceptions.rend(); ++range)
    rest = graph.jump(BPF_JEQ, range->first, range->exit, rest);
  return rest;
}

// Exact over splits and chains for a small window.
class Window {
 public:
  Window(CodeGraph& graph, std::span<const Range> ranges, double size_cost)
      : graph_(graph), ranges_(ranges), n_(ranges.size()), size_cost_(size_cost), best_(n_ * n_) {
    for (std::size_t length = 1; length <= n_; ++length)
      for (std::size_t first = 0; first + length <= n_; ++first) solve(first, first + length - 1);
  }
  OpId emit() { return emit(0, n_ - 1); }

 private:
  static constexpr std::size_t kUseChain = std::numeric_limits<std::size_t>::max();
  struct Best {
    double cost = 0;
    std::size_t split = kUseChain;  // last range of the lower part
  };
  Best& at(std::size_t i, std::size_t j) { return best_[i * n_ + j]; }
  std::span<const Range> part(std::size_t i, std::size_t j) const { return ranges_.subspan(i, j - i + 1); }

  void solve(std::size_t i, std::size_t j) {
    const Chain chain = chain_of(part(i, j));
    Best best{std::numeric_limits<double>::infinity(), kUseChain};
    if (chain.possible)
      best.cost = chain.cost + size_cost_ * static_cast<double>(chain.exceptions.size());
    const double weight = weight_of(part(i, j)) + size_cost_;
    for (std::size_t k = i; k < j; ++k) {
      const double cost = weight + at(i, k).cost + at(k + 1, j).cost;
      if (cost < best.cost) best = {cost, k};
    }
    at(i, j) = best;
  }

  OpId emit(std::size_t i, std::size_t j) {
    const std::size_t split = at(i, j).split;
    if (split == kUseChain) return emit_chain(graph_, chain_of(part(i, j)));
    const OpId lower = emit(i, split), upper = emit(split + 1, j);
    return at_least(graph_, ranges_[split + 1].first, upper, lower);
  }

  CodeGraph& graph_;
  std::span<const Range> ranges_;
  std::size_t n_;
  double size_cost_;
  std::vector<Best> best_;
};

class Dispatcher {
 public:
  Dispatcher(CodeGraph& graph, double total) : graph_(graph), size_cost_(total * kSizeCost) {}

  OpId build(Ranges ranges) {
    join_equal_neighbours(ranges);
    if (ranges.size() == 1) return ranges.front().exit;
    if (ranges.size() <= 2) return Window(graph_, ranges, size_cost_).emit();
    const std::size_t hot = hottest_single(ranges);
    if (hot < ranges.size()) return test_hot(std::move(ranges), hot);
    if (ranges.size() <= kWindow) return Window(graph_, ranges, size_cost_).emit();
    return split(std::move(ranges));
  }

 private:
  // A single value that carries more than a third of the weight; ranges.size() if there is none.
  static std::size_t hottest_single(const Ranges& ranges) {
    const double third = weight_of(ranges) / 3;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (is_single(ranges[i]) && ranges[i].weight > third) return i;
    return ranges.size();
  }

  OpId test_hot(Ranges ranges, std::size_t hot) {
    const Range single = ranges[hot];
    // Its value cannot occur any more: a neighbour takes its place.
    if (hot > 0)
      ranges[hot - 1].last = single.last;
    else
      ranges[hot + 1].first = single.first;
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(hot));
    return graph_.jump(BPF_JEQ, single.first, single.exit, build(std::move(ranges)));
  }

  OpId split(Ranges ranges) {
    const double half = weight_of(ranges) / 2;
    double below = 0;
    std::size_t at = 1;  // first range of the upper part
    for (; at + 1 < ranges.size(); ++at) {
      below += ranges[at - 1].weight;
      if (below + ranges[at].weight / 2 > half) break;
    }
    const std::uint32_t bound = ranges[at].first;
    const auto middle = ranges.begin() + static_cast<std::ptrdiff_t>(at);
    const OpId lower = build(Ranges(ranges.begin(), middle));
    const OpId upper = build(Ranges(middle, ranges.end()));
    return at_least(graph_, bound, upper, lower);
  }

  CodeGraph& graph_;
  double size_cost_;
};

}  // namespace

OpId dispatch(CodeGraph& graph, std::vector<Range> ranges) {
  // A floor for every range, so that rare ones are still found by halving.
  const double floor = (weight_of(ranges) + 1e-9) * 1e-3 / static_cast<double>(ranges.size());
  for (Range& range : ranges) range.weight += floor;
  const double total = weight_of(ranges);
  return Dispatcher(graph, total).build(std::move(ranges));
}

}  // namespace seccompress::emit
