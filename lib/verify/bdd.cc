// SPDX-License-Identifier: Apache-2.0
// See bdd.h. Recursion is as deep as there are variables on a path, at most kMaxLevel.
#include "verify/bdd.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace seccompress::verify {
namespace {

constexpr std::uint32_t kExclusive = 0x80000000U;  // marks f of a cached exclusive or
constexpr std::uint32_t kInputLevels = 32 * abi::kWords;
constexpr std::size_t kCacheSize = std::size_t{1} << 10;
constexpr std::size_t kLargeCacheSize = std::size_t{1} << 17;

// arch, nr, a0.hi, a0.lo, ..., a5.lo, ip.hi, ip.lo
constexpr std::uint32_t rank_of(WordId word) {
  if (word == abi::kArch) return 0;
  if (word == abi::kNr) return 1;
  return (word >= abi::kArgs ? word - 2 : word + 12) ^ 1U;
}

constexpr WordId word_at(std::uint32_t rank) {
  if (rank == 0) return abi::kArch;
  if (rank == 1) return abi::kNr;
  const std::uint32_t straight = rank ^ 1U;
  return straight < 14 ? straight + 2 : straight - 12;
}

constexpr bool ranks_invert() {
  for (WordId word = 0; word < abi::kWords; ++word)
    if (word_at(rank_of(word)) != word) return false;
  return rank_of(abi::arg_high(0)) == 2 && rank_of(abi::arg_low(0)) == 3 && rank_of(abi::kIpHigh) == 14;
}
static_assert(ranks_invert());

}  // namespace

Bdd::Bdd(std::uint32_t node_limit, Budget& budget)
    : node_limit_(std::min(node_limit, kMaxNodes)), budget_(budget), unique_(2048), cache_(kCacheSize) {
  reset(Order::word_by_word);
}

void Bdd::reset(Order order) {
  order_ = order;
  overflowed_ = false;
  nodes_.clear();
  nodes_.push_back(pack(kTerminal, kTrue, kTrue));
  unique_.clear();
  cache_.assign(cache_.size(), Cached{0, 0, 0});  // (kTrue, kTrue) is never looked up
  predicates_.clear();
  predicate_index_.clear();
}

std::uint32_t Bdd::level_of(WordId word, unsigned bit) const {
  if (word >= kFreshWords) return kInputLevels + 32 * (word - kFreshWords) + (31 - bit);
  if (order_ == Order::word_by_word) return 32 * rank_of(word) + (31 - bit);
  return abi::kWords * (31 - bit) + rank_of(word);
}

Edge Bdd::make(std::uint32_t level, Edge high, Edge low) {
  if (high == low) return high;
  const Edge sign = high & 1;
  high ^= sign;
  low ^= sign;
  if (nodes_.size() >= node_limit_ || level >= kTerminal || budget_.exhausted()) {
    overflowed_ = true;
    return kFalse;
  }
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const Node node = pack(level, high, low);
  const std::uint32_t found = unique_.find_or_file(
      mix(node), next, [&](std::uint32_t at) { return nodes_[at] == node; },
      [&](std::uint32_t at) { return mix(nodes_[at]); });
  if (found == next) {
    nodes_.push_back(node);
    if (nodes_.size() == 4 * kCacheSize && cache_.size() < kLargeCacheSize)
      cache_.assign(kLargeCacheSize, Cached{0, 0, 0});
  }
  return found << 1 | sign;
}

Bdd::Cached& Bdd::cached(std::uint32_t f, std::uint32_t g) {
  return cache_[mix(std::uint64_t{f} << 32 | g) & (cache_.size() - 1)];
}

template <class Operation>
Edge Bdd::recurse(std::uint32_t tag, Edge f, Edge g, Operation operation) {
  if (const Cached& known = cached(f | tag, g); known.f == (f | tag) && known.g == g) return known.result;
  budget_.spend(4);
  if (overflowed_ || budget_.exhausted()) {
    overflowed_ = true;
    return kFalse;
  }
  const std::uint32_t top = std::min(level(f), level(g));
  const bool split_f = level(f) == top;
  const bool split_g = level(g) == top;
  const Edge high_part = operation(split_f ? high(f) : f, split_g ? high(g) : g);
  const Edge low_part = operation(split_f ? low(f) : f, split_g ? low(g) : g);
  const Edge result = make(top, high_part, low_part);
  cached(f | tag, g) = {f | tag, g, result};
  return result;
}

Edge Bdd::bit(WordId word, unsigned bit) { return make(level_of(word, bit), kTrue, kFalse); }

Edge Bdd::conjunction(Edge f, Edge g) {
  if (f == kFalse || g == kFalse || f == negate(g)) return kFalse;
  if (f == kTrue || f == g) return g;
  if (g == kTrue) return f;
  if (f > g) std::swap(f, g);
  return recurse(0, f, g, [this](Edge a, Edge b) { return conjunction(a, b); });
}

Edge Bdd::difference(Edge f, Edge g) {
  const Edge sign = (f ^ g) & 1;
  f &= ~1U;
  g &= ~1U;
  if (f == g) return kFalse ^ sign;
  if (f == kTrue) return negate(g) ^ sign;
  if (g == kTrue) return negate(f) ^ sign;
  if (f > g) std::swap(f, g);
  return recurse(kExclusive, f, g, [this](Edge a, Edge b) { return difference(a, b); }) ^ sign;
}

Edge Bdd::choose(Edge condition, Edge yes, Edge no) {
  if (yes == no || condition == kTrue) return yes;
  if (condition == kFalse) return no;
  return disjunction(conjunction(condition, yes), conjunction(negate(condition), no));
}

Edge Bdd::compare(WordId word, std::uint32_t mask, Relation relation, std::uint32_t value) {
  const auto hash = [](const Predicate& p) {
    return mix((std::uint64_t{p.mask} << 32 | p.value) + 0x9e3779b97f4a7c15U * (4 * p.word + unsigned(p.relation)));
  };
  const Predicate wanted{word, mask, value, relation, kFalse};
  const auto next = static_cast<std::uint32_t>(predicates_.size());
  const std::uint32_t found = predicate_index_.find_or_file(
      hash(wanted), next,
      [&](std::uint32_t at) {
        const Predicate& p = predicates_[at];
        return p.word == word && p.mask == mask && p.value == value && p.relation == relation;
      },
      [&](std::uint32_t at) { return hash(predicates_[at]); });
  if (found == next) {
    predicates_.push_back(wanted);
    predicates_.back().edge = build(word, mask, relation, value);
  }
  return predicates_[found].edge;
}

// From the last variable to the first: `edge` is the answer when all bits above are equal.
Edge Bdd::build(WordId word, std::uint32_t mask, Relation relation, std::uint32_t value) {
  Edge edge = relation == Relation::equal || relation == Relation::greater_equal ? kTrue : kFalse;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const bool wanted = (value >> bit & 1) != 0;
    const bool variable = (mask >> bit & 1) != 0;
    if (relation == Relation::any_bit) {
      if (wanted && variable) edge = make(level_of(word, bit), kTrue, edge);
    } else if (!variable) {  // the bit is 0
      if (wanted) edge = kFalse;
    } else if (wanted) {
      edge = make(level_of(word, bit), edge, kFalse);
    } else {
      edge = make(level_of(word, bit), relation == Relation::equal ? kFalse : kTrue, edge);
    }
  }
  return edge;
}

// What one test tells is a test: those are remembered.
Edge Bdd::member(WordId word, std::span<const Interval> set) {
  constexpr std::uint32_t kLast = 0xffffffffU;
  if (set.size() == 1) {
    const auto [first, last] = set.front();
    if (first == last) return compare(word, kLast, Relation::equal, first);
    if (last == kLast) return compare(word, kLast, Relation::greater_equal, first);
    if (first == 0) return negate(compare(word, kLast, Relation::greater, last));
  }
  if (set.size() == 2 && set[0].first == 0 && set[1].last == kLast && set[1].first - set[0].last == 2)
    return negate(compare(word, kLast, Relation::equal, set[0].last + 1));
  return member_part(word, 32, 0, set);
}

// Of the 2^bits values from `first` on. `set` begins at the first interval that ends there or later.
Edge Bdd::member_part(WordId word, unsigned bits, std::uint32_t first, std::span<const Interval> set) {
  const auto last = static_cast<std::uint32_t>(first + (1ULL << bits) - 1);
  while (!set.empty() && set.front().last < first) set = set.subspan(1);
  if (set.empty() || set.front().first > last) return kFalse;
  if (set.front().first <= first && set.front().last >= last) return kTrue;
  const Edge one = member_part(word, bits - 1, first + (1U << (bits - 1)), set);
  const Edge zero = member_part(word, bits - 1, first, set);
  return make(level_of(word, bits - 1), one, zero);
}

void Bdd::satisfy(Edge f, abi::SeccompData& data) const {
  CHECK(f != kFalse);
  while (f >> 1 != 0) {
    const std::uint32_t here = level(f);
    const bool one = low(f) == kFalse;
    f = one ? high(f) : low(f);
    if (here >= kInputLevels) continue;
    const bool by_word = order_ == Order::word_by_word;
    const auto word = static_cast<abi::Word>(word_at(by_word ? here / 32 : here % abi::kWords));
    const std::uint32_t mask = 1U << (31 - (by_word ? here % 32 : here / abi::kWords));
    const std::uint32_t old = abi::read_word(data, word);
    abi::write_word(data, word, one ? old | mask : old & ~mask);
  }
}

}  // namespace seccompress::verify
