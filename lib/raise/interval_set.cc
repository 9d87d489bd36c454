// SPDX-License-Identifier: Apache-2.0
#include "raise/interval_set.h"

#include <algorithm>
#include <iterator>

namespace seccompress::raise {
namespace {

// The first interval that ends at or after value.
template <class Intervals>
auto holding(Intervals& intervals, std::uint32_t value) {
  return std::lower_bound(intervals.begin(), intervals.end(), value,
                          [](const Interval& interval, std::uint32_t v) { return interval.last < v; });
}

}  // namespace

IntervalSet IntervalSet::all() {
  IntervalSet set;
  set.intervals_.push_back({0, 0xffffffffU});
  return set;
}

IntervalSet IntervalSet::take_at_least(std::uint32_t bound) {
  IntervalSet taken;
  auto at = holding(intervals_, bound);
  if (at != intervals_.end() && at->first < bound) {
    taken.intervals_.push_back({bound, at->last});
    at->last = bound - 1;
    ++at;
  }
  taken.intervals_.insert(taken.intervals_.end(), at, intervals_.end());
  intervals_.erase(at, intervals_.end());
  return taken;
}

bool IntervalSet::take(std::uint32_t value) {
  const auto at = holding(intervals_, value);
  if (at == intervals_.end() || at->first > value) return false;
  if (at->first == value && at->last == value) {
    intervals_.erase(at);
  } else if (at->first == value) {
    ++at->first;
  } else if (at->last == value) {
    --at->last;
  } else {
    const Interval upper{value + 1, at->last};
    at->last = value - 1;
    intervals_.insert(std::next(at), upper);
  }
  return true;
}

void IntervalSet::add(std::uint32_t value) {
  const auto at = holding(intervals_, value);
  intervals_.insert(at, {value, value});
}

void IntervalSet::add(IntervalSet other) {
  if (intervals_.empty()) {
    intervals_ = std::move(other.intervals_);
    return;
  }
  if (other.intervals_.empty()) return;
  std::vector<Interval> merged;
  merged.reserve(intervals_.size() + other.intervals_.size());
  std::ranges::merge(intervals_, other.intervals_, std::back_inserter(merged), {}, &Interval::first, &Interval::first);
  intervals_ = std::move(merged);
}

}  // namespace seccompress::raise
