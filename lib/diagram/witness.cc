// SPDX-License-Identifier: Apache-2.0
// Input: two diagrams and a relation on verdicts. Output: one concrete input on which it holds.
// Entry: Store::witness, Store::difference.
//
// Method: a depth-first walk over the product that remembers pairs without a witness, so each pair is
// looked at once. Values a person knows are tried first (the native architecture, then 0), so that the
// witness reads like a call someone could make.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "abi/arch.h"
#include "diagram/store.h"

namespace seccompress::diagram {
namespace {

class Search {
 public:
  Search(const Store& store, Store::Relation holds) : store_(store), holds_(holds) {
    data_.arch = abi::facts(abi::native_arch()).audit;
    preferred_ = data_;
  }

  bool find(Node a, Node b) {
    if (store_.is_terminal(a) && store_.is_terminal(b)) return holds_(verdict(a), verdict(b));
    if (barren_.contains({a, b})) return false;
    const std::uint8_t level = std::min(store_.level(a), store_.level(b));
    const unsigned liked = preferred_byte(level);
    if (try_byte(a, b, level, liked)) return true;
    for (unsigned value = 0; value < 256; value = end_of_run(a, b, level, value) + 1)
      if (try_byte(a, b, level, value)) return true;
    barren_.insert({a, b});
    return false;
  }

  const abi::SeccompData& data() const { return data_; }

 private:
  abi::Verdict verdict(Node node) const {
    return store_.is_code(node) ? store_.evaluate(node, data_) : store_.verdict(node);
  }

  static unsigned shift(std::uint8_t level) { return static_cast<unsigned>(24 - 8 * (level % 4)); }

  unsigned preferred_byte(std::uint8_t level) const {
    return (abi::read_word(preferred_, word_at(level / 4)) >> shift(level)) & 255U;
  }

  Run run_at(Node node, std::uint8_t level, unsigned value) const {
    if (store_.level(node) != level) return {255, node};
    for (const Run& run : store_.runs(node))
      if (run.last >= value) return run;
    return {255, node};
  }

  unsigned end_of_run(Node a, Node b, std::uint8_t level, unsigned value) const {
    return std::min(run_at(a, level, value).last, run_at(b, level, value).last);
  }

  bool try_byte(Node a, Node b, std::uint8_t level, unsigned value) {
    const abi::Word word = word_at(level / 4);
    const std::uint32_t before = abi::read_word(data_, word);
    const std::uint32_t cleared = before & ~(255U << shift(level));
    abi::write_word(data_, word, cleared | (value << shift(level)));
    if (find(run_at(a, level, value).node, run_at(b, level, value).node)) return true;
    abi::write_word(data_, word, before);
    return false;
  }

  const Store& store_;
  Store::Relation holds_;
  abi::SeccompData data_{};
  abi::SeccompData preferred_{};
  std::set<std::pair<Node, Node>> barren_;
};

// The same walk over all pairs of terminals, with the verdicts that carried code may give.
class Possibility {
 public:
  Possibility(const Store& store, Store::Relation holds) : store_(store), holds_(holds) {}

  bool any(Node a, Node b) {
    if (!seen_.insert({a, b}).second) return false;
    if (store_.is_terminal(a) && store_.is_terminal(b)) return any_verdicts(a, b);
    const std::uint8_t level = std::min(store_.level(a), store_.level(b));
    const std::array<Run, 1> whole_a{{{255, a}}}, whole_b{{{255, b}}};
    const std::span<const Run> left = store_.level(a) == level ? store_.runs(a) : whole_a;
    const std::span<const Run> right = store_.level(b) == level ? store_.runs(b) : whole_b;
    for (std::size_t i = 0, k = 0; i < left.size() && k < right.size();) {
      if (any(left[i].node, right[k].node)) return true;
      const unsigned last = std::min(left[i].last, right[k].last);
      if (left[i].last == last) ++i;
      if (right[k].last == last) ++k;
    }
    return false;
  }

 private:
  bool any_verdicts(Node a, Node b) const {
    if (a == b && store_.is_code(a)) {  // the same code gives the same verdict on both sides
      const auto all = store_.verdicts(a);
      return !all || std::any_of(all->begin(), all->end(), [&](abi::Verdict v) { return holds_(v, v); });
    }
    const auto left = store_.verdicts(a), right = store_.verdicts(b);
    if (!left || !right) return true;
    return std::any_of(left->begin(), left->end(), [&](abi::Verdict mine) {
      return std::any_of(right->begin(), right->end(), [&](abi::Verdict other) { return holds_(mine, other); });
    });
  }

  const Store& store_;
  Store::Relation holds_;
  std::set<std::pair<Node, Node>> seen_;
};

}  // namespace

bool Store::may_hold(Node a, Node b, Relation holds) const { return Possibility(*this, holds).any(a, b); }

std::optional<abi::SeccompData> Store::witness(Node a, Node b, Relation holds) const {
  Search search(*this, holds);
  if (!search.find(a, b)) return std::nullopt;
  return search.data();
}

std::optional<abi::SeccompData> Store::difference(Node a, Node b) const {
  if (a == b) return std::nullopt;
  return witness(a, b, [](abi::Verdict x, abi::Verdict y) { return x != y; });
}

}  // namespace seccompress::diagram
