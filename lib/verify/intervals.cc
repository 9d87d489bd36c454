// SPDX-License-Identifier: Apache-2.0
#include "verify/intervals.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace seccompress::verify {
namespace {

constexpr std::uint32_t kMax = 0xffffffffU;

void append(std::vector<Interval>& intervals, Interval next) {
  if (!intervals.empty() && (next.first <= intervals.back().last || next.first == intervals.back().last + 1))
    intervals.back().last = std::max(intervals.back().last, next.last);
  else
    intervals.push_back(next);
}

}  // namespace

bool holds(Relation relation, std::uint32_t value, std::uint32_t constant) {
  switch (relation) {
    case Relation::equal: return value == constant;
    case Relation::greater: return value > constant;
    case Relation::greater_equal: return value >= constant;
    case Relation::any_bit: return (value & constant) != 0;
  }
  return false;
}

std::optional<bool> holds_for_all(Relation relation, std::uint32_t first, std::uint32_t last, std::uint32_t mask,
                                  std::uint32_t constant) {
  if (relation == Relation::any_bit) mask &= constant;
  if (mask == 0 || (first ^ last) >> std::countr_zero(mask) == 0) return holds(relation, first & mask, constant);
  if (relation == Relation::any_bit) return std::nullopt;
  // Bits that the mask takes away and that all values share: what is left is a range again.
  const std::uint32_t varying = (std::uint32_t{1} << std::bit_width((first ^ last) >> 1) << 1) - 1;
  if ((~mask & varying) != 0) return std::nullopt;
  first &= mask;
  last &= mask;
  if (relation == Relation::equal) {
    if (constant < first || constant > last) return false;
    return std::nullopt;
  }
  const bool answer = holds(relation, first, constant);
  if (answer != holds(relation, last, constant)) return std::nullopt;
  return answer;
}

IntervalSet IntervalSet::all() {
  IntervalSet set;
  set.intervals_.push_back({0, kMax});
  return set;
}

IntervalSet IntervalSet::extract(Relation relation, std::uint32_t constant) {
  CHECK(relation != Relation::any_bit);
  if (relation == Relation::equal) return extract_range(constant, constant);
  if (relation == Relation::greater_equal) return extract_range(constant, kMax);
  if (constant == kMax) return {};
  return extract_range(constant + 1, kMax);
}

IntervalSet IntervalSet::extract_range(std::uint32_t first, std::uint32_t last) {
  IntervalSet taken;
  const auto begin =
      std::partition_point(intervals_.begin(), intervals_.end(), [&](const Interval& i) { return i.last < first; });
  auto end = begin;
  std::optional<Interval> before, after;
  for (; end != intervals_.end() && end->first <= last; ++end) {
    taken.intervals_.push_back({std::max(end->first, first), std::min(end->last, last)});
    if (end->first < first) before = Interval{end->first, first - 1};
    if (end->last > last) after = Interval{last + 1, end->last};
  }
  const auto gap = intervals_.erase(begin, end);
  const auto behind = after ? intervals_.insert(gap, *after) : gap;
  if (before) intervals_.insert(behind, *before);
  return taken;
}

void IntervalSet::unite(const IntervalSet& other) {
  std::vector<Interval> both;
  both.reserve(intervals_.size() + other.intervals_.size());
  auto mine = intervals_.begin();
  auto theirs = other.intervals_.begin();
  while (mine != intervals_.end() || theirs != other.intervals_.end()) {
    const bool take_mine =
        theirs == other.intervals_.end() || (mine != intervals_.end() && mine->first <= theirs->first);
    append(both, take_mine ? *mine++ : *theirs++);
  }
  intervals_.swap(both);
}

}  // namespace seccompress::verify
