// SPDX-License-Identifier: Apache-2.0
// Reduced ordered binary decision diagrams with complement edges, over the bits of seccomp_data's words and
// of words that stand for results nobody computed (symbolic.h). Two functions are equal iff their edges are.
//
// Order: either word by word (arch, nr, arguments high half first, ip), most significant bit first, which
// suits comparisons with constants; or bit by bit across the words, which keeps relations between words
// (a0 == a1) linear. A change of order forgets everything.
//
// Limits: a node limit (at most kMaxNodes) and the proof's step budget. Beyond them every operation returns some edge
// and overflowed() is true; the caller throws the result away.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "abi/word.h"
#include "verify/budget.h"
#include "verify/chunks.h"
#include "verify/hash_index.h"
#include "verify/intervals.h"

namespace seccompress::verify {

using Edge = std::uint32_t;  // node << 1 | negated
inline constexpr Edge kTrue = 0, kFalse = 1;
constexpr Edge negate(Edge edge) { return edge ^ 1; }

enum class Order : std::uint8_t { word_by_word, bit_by_bit };

// Words beyond seccomp_data's sixteen are fresh ones.
using WordId = std::uint32_t;
inline constexpr WordId kFreshWords = abi::kWords;

class Bdd {
 public:
  Bdd(std::uint32_t node_limit, Budget& budget);

  void reset(Order order);
  Order order() const { return order_; }
  bool overflowed() const { return overflowed_; }
  std::size_t node_count() const { return nodes_.size(); }

  Edge bit(WordId word, unsigned bit);
  Edge conjunction(Edge f, Edge g);
  Edge disjunction(Edge f, Edge g) { return negate(conjunction(negate(f), negate(g))); }
  Edge difference(Edge f, Edge g);  // exclusive or
  Edge choose(Edge condition, Edge yes, Edge no);

  // (word & mask) relation value, built from the bottom without any operation.
  Edge compare(WordId word, std::uint32_t mask, Relation relation, std::uint32_t value);

  // word is in the set (ascending, disjoint intervals).
  Edge member(WordId word, std::span<const Interval> set);

  // One assignment that satisfies f (not kFalse), written into data; bits it leaves open stay.
  void satisfy(Edge f, abi::SeccompData& data) const;

 private:
  // A node in eight bytes: level, node of the high edge (never negated), low edge.
  using Node = std::uint64_t;
  static constexpr unsigned kEdgeBits = 21, kLevelShift = 2 * kEdgeBits - 1;
  static constexpr std::uint32_t kMaxNodes = 1U << (kEdgeBits - 1), kTerminal = (1U << (64 - kLevelShift)) - 1;
  static constexpr Node pack(std::uint32_t level, Edge high, Edge low) {
    return Node{level} << kLevelShift | Node{high >> 1} << kEdgeBits | low;
  }
  struct Cached {
    std::uint32_t f, g;
    Edge result;
  };

  std::uint32_t level_of(WordId word, unsigned bit) const;
  Edge make(std::uint32_t level, Edge high, Edge low);
  std::uint32_t level(Edge edge) const { return static_cast<std::uint32_t>(nodes_[edge >> 1] >> kLevelShift); }
  Edge high(Edge edge) const {
    return (static_cast<Edge>(nodes_[edge >> 1] >> kEdgeBits & (kMaxNodes - 1)) << 1) ^ (edge & 1);
  }
  Edge low(Edge edge) const { return static_cast<Edge>(nodes_[edge >> 1] & (2 * kMaxNodes - 1)) ^ (edge & 1); }
  Cached& cached(std::uint32_t f, std::uint32_t g);
  Edge member_part(WordId word, unsigned bits, std::uint32_t first, std::span<const Interval> set);
  Edge build(WordId word, std::uint32_t mask, Relation relation, std::uint32_t value);
  template <class Operation>
  Edge recurse(std::uint32_t tag, Edge f, Edge g, Operation operation);

  struct Predicate {
    WordId word;
    std::uint32_t mask, value;
    Relation relation;
    Edge edge;
  };

  std::uint32_t node_limit_;
  Budget& budget_;
  Order order_ = Order::word_by_word;
  bool overflowed_ = false;
  Chunks<Node> nodes_;
  HashIndex unique_;
  std::vector<Cached> cache_;
  std::vector<Predicate> predicates_;
  HashIndex predicate_index_;
};

}  // namespace seccompress::verify
