// SPDX-License-Identifier: Apache-2.0
// The (arch, nr) plane cut into cells on which no program's direct test of arch or nr changes its outcome.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/subject.h"

namespace seccompress::verify {

// Architectures that all programs treat alike. Intervals ascend.
struct ArchClass {
  std::vector<Interval> intervals;
  std::uint32_t representative() const;  // this machine's where it is one of them
  bool single() const { return intervals.size() == 1 && intervals[0].first == intervals[0].last; }
  bool contains(std::uint32_t arch) const;
  std::optional<bool> holds(Relation relation, std::uint32_t mask, std::uint32_t constant) const;
};

std::vector<ArchClass> arch_classes(Cuts cuts);

// The line of nr in cells; a set of cells is a row of bits.
class NrCells {
 public:
  explicit NrCells(const Cuts& cuts);

  std::uint32_t count() const { return static_cast<std::uint32_t>(starts_.size()); }
  std::uint32_t first(std::uint32_t cell) const { return starts_[cell]; }
  std::uint32_t last(std::uint32_t cell) const { return cell + 1 < count() ? starts_[cell + 1] - 1 : 0xffffffffU; }
  Interval interval(std::uint32_t cell) const { return {first(cell), last(cell)}; }
  // The cell that holds nr.
  std::uint32_t find(std::uint32_t nr) const;

 private:
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> direct_;  // cell of each small number
};

}  // namespace seccompress::verify
