// SPDX-License-Identifier: Apache-2.0
// Input: weighted ranges with exits. Output: a tree of JEQ, JGE and JGT. Entry: dispatch().
//
// Method, in three steps:
//   1. the whole line is solved over splits (JGE) and chains of single values (line.h, O(n^2));
//   2. parts of that tree that carry little weight become one range each, with their tree as exit, until at
//      most HotLine::kMaxRanges ranges are left;
//   3. those are solved with single values tested anywhere on the way down as well (hot_line.h): what is hot is
//      found in as few tests as its weight asks for, what is cold keeps its small tree.
// Costs are tests executed, weighted; every test adds size_cost, so that rare ranges take little room. Lines
// longer than kLongLine are halved by weight first. Search::small is step 1 alone.
#include "emit/dispatch.h"

#include <utility>

#include "emit/hot_line.h"
#include "emit/line.h"

namespace seccompress::emit {
namespace {

constexpr std::size_t kLongLine = 512;
// What an instruction is worth in tests executed per call. A search of a few ranges has no room to save.
constexpr std::size_t kFew = 10, kRoomy = 100;
constexpr double size_cost(Search kind, std::size_t ranges) {
  if (ranges <= kFew) return 1e-5;
  return kind == Search::fast ? 0.05 : 0.3;
}

// Step 2: the parts of the line's tree that are lighter than `light`, and the single ranges of heavier chains.
class Coarsening {
 public:
  using Bounds = std::pair<std::size_t, std::size_t>;
  Coarsening(const Line& line, double light) : line_(line), light_(light) {}
  std::vector<Bounds> run() {
    add(0, line_.ranges().size() - 1);
    return std::move(parts_);
  }

 private:
  void add(std::size_t i, std::size_t j) {
    if (i == j || line_.weight(i, j) < light_) {
      parts_.emplace_back(i, j);
    } else if (line_.is_chain(i, j)) {
      for (std::size_t at = i; at <= j; ++at) parts_.emplace_back(at, at);
    } else {
      add(i, line_.split(i, j));
      add(line_.split(i, j) + 1, j);
    }
  }

  const Line& line_;
  double light_;
  std::vector<Bounds> parts_;
};

// A line whose light parts are one range each; what it costs to search within them.
struct Coarse {
  Ranges ranges;
  double inner_cost = 0;
};

Coarse coarse(CodeGraph& graph, const Line& line) {
  const double whole = line.weight(0, line.ranges().size() - 1);
  for (double light = whole / 256;; light *= 1.5) {
    const auto parts = Coarsening(line, light).run();
    if (parts.size() > HotLine::kMaxRanges) continue;
    Coarse found;
    for (const auto& [i, j] : parts) {
      found.ranges.push_back(
          {line.ranges()[i].first, line.ranges()[j].last, line.emit(graph, i, j), line.weight(i, j)});
      found.inner_cost += line.cost(i, j);
    }
    return found;
  }
}

std::size_t middle(const Ranges& ranges) {
  const double half = weight_of(ranges) / 2;
  double below = 0;
  std::size_t at = 0;
  while (at + 2 < ranges.size() && below < half) below += ranges[at++].weight;
  return at + 1;
}

Found hot_search(CodeGraph& graph, Coarse line, double size_cost) {
  const HotLine search(std::move(line.ranges), size_cost);
  return {search.emit(graph), search.cost() + line.inner_cost};
}

Found build(CodeGraph& graph, Ranges ranges, double size_cost, Search kind) {
  join_equal_neighbours(ranges);
  const std::size_t n = ranges.size();
  if (n == 1) return {ranges.front().exit, 0};
  if (kind == Search::fast && n <= HotLine::kMaxRanges) return hot_search(graph, {std::move(ranges)}, size_cost);
  if (n <= kLongLine) {
    const Line line(std::move(ranges), size_cost);
    if (kind == Search::small) return {line.emit(graph, 0, n - 1), line.cost(0, n - 1)};
    return hot_search(graph, coarse(graph, line), size_cost);
  }
  const double weight = weight_of(ranges);
  const auto upper = ranges.begin() + static_cast<std::ptrdiff_t>(middle(ranges));
  const std::uint32_t bound = upper->first;
  const Found low = build(graph, Ranges(ranges.begin(), upper), size_cost, kind);
  const Found high = build(graph, Ranges(upper, ranges.end()), size_cost, kind);
  return {at_least(graph, bound, high.root, low.root, 0.5), weight + size_cost + low.cost + high.cost};
}

// A floor of weight for every range, so that rare ones are still found by halving: this share of the whole in all.
// Searches that are neither short nor long have room for it: there no call is found later than in an unweighted tree.
double floor_share(Search kind, std::size_t ranges) {
  return kind == Search::fast && ranges > kFew && ranges <= kRoomy ? 0.05 : 1e-4;
}

}  // namespace

Found dispatch(CodeGraph& graph, Ranges ranges, Search kind) {
  const double floor =
      (weight_of(ranges) + 1e-9) * floor_share(kind, ranges.size()) / static_cast<double>(ranges.size());
  for (Range& range : ranges) range.weight += floor;
  const double total = weight_of(ranges);
  const double cost = size_cost(kind, ranges.size());
  return build(graph, std::move(ranges), total * cost, kind);
}

}  // namespace seccompress::emit
