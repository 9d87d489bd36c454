// SPDX-License-Identifier: Apache-2.0
// Sets of values of one word as ascending disjoint intervals that do not touch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace seccompress::verify {

enum class Relation : std::uint8_t { equal, greater, greater_equal, any_bit };

// The outcome of (value relation constant).
bool holds(Relation relation, std::uint32_t value, std::uint32_t constant);
// The outcome of ((value & mask) relation constant) for all values first..last; nullopt when they disagree or
// are not seen to agree.
std::optional<bool> holds_for_all(Relation relation, std::uint32_t first, std::uint32_t last, std::uint32_t mask,
                                  std::uint32_t constant);

struct Interval {
  std::uint32_t first, last;
  bool operator==(const Interval&) const = default;
};

class IntervalSet {
 public:
  IntervalSet() = default;
  static IntervalSet all();

  bool is_empty() const { return intervals_.empty(); }
  std::span<const Interval> intervals() const { return intervals_; }

  // Takes the values out for which (value relation constant) holds; not for any_bit.
  IntervalSet extract(Relation relation, std::uint32_t constant);
  void unite(const IntervalSet& other);

 private:
  IntervalSet extract_range(std::uint32_t first, std::uint32_t last);

  std::vector<Interval> intervals_;
};

}  // namespace seccompress::verify
