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
#include <cmath>
#include <limits>
#include <span>

namespace seccompress::emit {
namespace {

constexpr std::size_t kWindow = 24;
constexpr std::size_t kMaxChain = 6;
constexpr double kSizeCost = 1e-2;  // of the total weight, per test

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
OpId at_least(CodeGraph& graph, std::uint32_t bound, OpId yes, OpId no, double yes_share) {
  if (bound == 0x80000000U) return graph.jump(BPF_JGT, 0x7fffffffU, yes, no, yes_share);
  return graph.jump(BPF_JGE, bound, yes, no, yes_share);
}

// The exit that all non-single ranges share and the single exceptions to it; empty when there is none.
struct Chain {
  bool possible = false;
  OpId base = 0;
  std::vector<Range> exceptions;  // heaviest first
  double cost = 0;                // weighted tests
  double weight = 0;              // of all ranges
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
  chain.weight = weight_of(ranges);
  double left = chain.weight;
  for (const Range& range : chain.exceptions) {
    chain.cost += left;
    left -= range.weight;
  }
  chain.possible = true;
  return chain;
}

OpId emit_chain(CodeGraph& graph, const Chain& chain) {
  OpId rest = chain.base;
  double weight = chain.weight;
  for (const Range& range : chain.exceptions) weight -= range.weight;
  for (auto range = chain.exceptions.rbegin(); range != chain.exceptions.rend(); ++range) {
    weight += range->weight;
    rest = graph.jump(BPF_JEQ, range->first, range->exit, rest, range->weight / weight);
  }
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
    const double share = weight_of(part(split + 1, j)) / weight_of(part(i, j));
    return at_least(graph_, ranges_[split + 1].first, upper, lower, share);
  }

  CodeGraph& graph_;
  std::span<const Range> ranges_;
  std::size_t n_;
  double size_cost_;
  std::vector<Best> best_;
};

// Entropy of a choice that goes one way `part` times out of `whole`, times whole.
double choice(double part, double whole) {
  const double rest = whole - part;
  if (part <= 0 || rest <= 0) return 0;
  return part * std::log2(whole / part) + rest * std::log2(whole / rest);
}

class Dispatcher {
 public:
  Dispatcher(CodeGraph& graph, double total) : graph_(graph), size_cost_(total * kSizeCost) {}

  OpId build(Ranges ranges) {
    join_equal_neighbours(ranges);
    if (ranges.size() == 1) return ranges.front().exit;
    const double whole = weight_of(ranges);
    const Gain split = best_split(ranges, whole), single = best_single(ranges, whole);
    if (ranges.size() > 2 && single.bits > split.bits) return test_single(std::move(ranges), single.at, whole);
    if (ranges.size() <= kWindow) return Window(graph_, ranges, size_cost_).emit();
    return test_bound(ranges, split.at, whole);
  }

 private:
  struct Gain {
    double bits = 0;  // times the weight
    std::size_t at = 0;
  };

  // The first range of the upper part.
  static Gain best_split(const Ranges& ranges, double whole) {
    Gain best;
    double below = 0;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      below += ranges[i - 1].weight;
      if (const double bits = choice(below, whole); bits > best.bits) best = {bits, i};
    }
    return best;
  }

  // A single value tested on its own also joins its neighbours when they share an exit.
  static Gain best_single(const Ranges& ranges, double whole) {
    Gain best;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (!is_single(ranges[i])) continue;
      double bits = choice(ranges[i].weight, whole);
      if (i > 0 && i + 1 < ranges.size() && ranges[i - 1].exit == ranges[i + 1].exit)
        bits += choice(ranges[i - 1].weight, ranges[i - 1].weight + ranges[i + 1].weight);
      if (bits > best.bits) best = {bits, i};
    }
    return best;
  }

  OpId test_single(Ranges ranges, std::size_t at, double whole) {
    const Range single = ranges[at];
    // Its value cannot occur any more: a neighbour takes its place.
    if (at > 0)
      ranges[at - 1].last = single.last;
    else
      ranges[at + 1].first = single.first;
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(at));
    return graph_.jump(BPF_JEQ, single.first, single.exit, build(std::move(ranges)), single.weight / whole);
  }

  OpId test_bound(const Ranges& ranges, std::size_t at, double whole) {
    const auto middle = ranges.begin() + static_cast<std::ptrdiff_t>(at);
    const OpId lower = build(Ranges(ranges.begin(), middle));
    const OpId upper = build(Ranges(middle, ranges.end()));
    const double share = weight_of({middle, ranges.end()}) / whole;
    return at_least(graph_, ranges[at].first, upper, lower, share);
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
