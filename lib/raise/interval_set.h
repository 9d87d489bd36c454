// SPDX-License-Identifier: Apache-2.0
// A set of 32-bit values as disjoint ascending intervals: which values of A reach an instruction.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace seccompress::raise {

struct Interval {
  std::uint32_t first, last;  // inclusive
};

class IntervalSet {
 public:
  IntervalSet() = default;
  static IntervalSet all();

  bool empty() const { return intervals_.empty(); }
  const std::vector<Interval>& intervals() const { return intervals_; }

  // Removes and returns what is >= bound (O(log n) + moved intervals).
  IntervalSet take_at_least(std::uint32_t bound);
  // Removes `value`; was it there?
  bool take(std::uint32_t value);
  void add(std::uint32_t value);
  // Disjoint union.
  void add(IntervalSet other);

 private:
  std::vector<Interval> intervals_;
};

}  // namespace seccompress::raise
