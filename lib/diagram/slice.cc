// SPDX-License-Identifier: Apache-2.0
// Input: a diagram. Output: places that cut it, or its part between two. Entry points: places_between, slice.
//
// Method: a walk in the order of inputs counts each node's edges where it is first met; places lie where the count
// passes equal shares. A slice makes new nodes along its two bounds alone.
//
// Weakness: a node shared by several parts is in each of them and counted in the first.
#include "diagram/slice.h"

#include <unordered_set>

namespace seccompress::diagram {
namespace {

class Walk {
 public:
  Walk(const Store& store, std::size_t step) : store_(store), step_(step) {}
  std::vector<Place> places;
  std::size_t edges = 0;

  void visit(Node node, Place& path) {
    if (store_.is_terminal(node) || !seen_.insert(node).second) return;
    unsigned first = 0;
    for (const Run& run : store_.runs(node)) {
      path.push_back(static_cast<std::uint8_t>(first));
      if (step_ > 0 && edges >= step_ * (places.size() + 1)) places.push_back(path);
      ++edges;
      visit(run.node, path);
      path.pop_back();
      first = run.last + 1U;
    }
  }

 private:
  const Store& store_;
  std::size_t step_;
  std::unordered_set<Node> seen_;
};

class Slice {
 public:
  Slice(Store& store, const std::optional<Place>& from, const std::optional<Place>& to, Node outside)
      : store_(store), from_(from.value_or(Place{})), to_(to.value_or(Place{})), outside_(outside) {}

  // step: how far down; low, high: the way so far is that bound's.
  Node apply(Node node, std::size_t step, bool low, bool high) {
    low = low && step < from_.size();
    if (high && step == to_.size()) return outside_;
    if (!low && !high) return node;
    const std::vector<Run> before(store_.runs(node).begin(), store_.runs(node).end());
    std::vector<Run> runs;
    for (unsigned value = 0, run = 0; value < 256; ++value) {
      while (before[run].last < value) ++run;
      const bool under = low && value < from_[step], over = high && value > to_[step];
      const Node child =
          under || over ? outside_
                        : apply(before[run].node, step + 1, low && value == from_[step], high && value == to_[step]);
      if (!runs.empty() && runs.back().node == child)
        runs.back().last = static_cast<std::uint8_t>(value);
      else
        runs.push_back({static_cast<std::uint8_t>(value), child});
    }
    return store_.make(store_.level(node), runs);
  }

 private:
  Store& store_;
  Place from_, to_;
  Node outside_;
};

}  // namespace

std::vector<Place> places_between(const Store& store, Node node, std::size_t parts) {
  Place path;
  Walk count(store, 0);
  count.visit(node, path);
  Walk walk(store, count.edges / parts + 1);
  walk.visit(node, path);
  return walk.places;
}

Node slice(Store& store, Node node, const std::optional<Place>& from, const std::optional<Place>& to, Node outside) {
  return Slice(store, from, to, outside).apply(node, 0, from.has_value(), to.has_value());
}

}  // namespace seccompress::diagram
