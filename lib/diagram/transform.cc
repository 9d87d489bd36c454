// SPDX-License-Identifier: Apache-2.0
// Input: a diagram and what is known about one word. Output: the simpler diagram. Entry: Store::cofactor,
// Store::substitute. For emit, which tests one mask of a word and then goes on with what is left.
#include <unordered_map>

#include "diagram/store.h"

namespace seccompress::diagram {
namespace {

// Rewrites the nodes of one word; what lies below is kept.
class Rewrite {
 public:
  Rewrite(Store& store, abi::Word word) : store_(store), first_(4 * rank_of(word)) {}
  virtual ~Rewrite() = default;
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;

  Node apply(Node node) {
    if (store_.level(node) >= first_ + 4) return leave(node);
    if (const auto known = done_.find(node); known != done_.end()) return known->second;
    const std::vector<Run> before(store_.runs(node).begin(), store_.runs(node).end());
    const std::uint8_t level = store_.level(node);
    std::vector<Run> after;
    Node old_child = 0, child = 0;
    for (unsigned value = 0, run = 0; value < 256; ++value) {
      while (before[run].last < value) ++run;
      const Node next = level < first_ ? before[run].node : child_for(before, level - first_, value);
      if (value == 0 || next != old_child) old_child = next, child = apply(next);
      if (!after.empty() && after.back().node == child)
        after.back().last = static_cast<std::uint8_t>(value);
      else
        after.push_back({static_cast<std::uint8_t>(value), child});
    }
    const Node result = store_.make(level, after);
    done_[node] = result;
    return result;
  }

 protected:
  static Node at(const std::vector<Run>& runs, unsigned value) {
    for (const Run& run : runs)
      if (run.last >= value) return run.node;
    return runs.back().node;
  }
  virtual Node child_for(const std::vector<Run>& runs, int byte, unsigned value) = 0;
  virtual Node leave(Node exit) = 0;

 private:
  Store& store_;
  int first_;
  std::unordered_map<Node, Node> done_;
};

class Cofactor final : public Rewrite {
 public:
  Cofactor(Store& store, abi::Word word, std::uint32_t mask, std::uint32_t value)
      : Rewrite(store, word), mask_(mask), value_(value) {}

 private:
  Node child_for(const std::vector<Run>& runs, int byte, unsigned value) override {
    const unsigned shift = static_cast<unsigned>(24 - 8 * byte);
    const unsigned mask = (mask_ >> shift) & 255U, fixed = (value_ >> shift) & 255U;
    return at(runs, (value & ~mask) | (fixed & mask));
  }
  Node leave(Node exit) override { return exit; }
  std::uint32_t mask_, value_;
};

class Substitute final : public Rewrite {
 public:
  Substitute(Store& store, abi::Word word, Node from, Node to) : Rewrite(store, word), from_(from), to_(to) {}

 private:
  Node child_for(const std::vector<Run>& runs, int /*byte*/, unsigned value) override { return at(runs, value); }
  Node leave(Node exit) override { return exit == from_ ? to_ : exit; }
  Node from_, to_;
};

}  // namespace

Node Store::cofactor(Node node, abi::Word word, std::uint32_t mask, std::uint32_t value) {
  return Cofactor(*this, word, mask, value).apply(node);
}

Node Store::substitute(Node node, abi::Word word, Node from, Node to) {
  return Substitute(*this, word, from, to).apply(node);
}

}  // namespace seccompress::diagram
