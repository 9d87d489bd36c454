// SPDX-License-Identifier: Apache-2.0
#include "verify/partition.h"

#include <algorithm>
#include <array>
#include <bit>

#include "abi/arch.h"

namespace seccompress::verify {
namespace {

constexpr std::uint32_t kSmall = 1024;  // most numbers of calls: a bitmap sorts them, a table finds them

void sort_unique(std::vector<std::uint32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

bool ArchClass::contains(std::uint32_t arch) const {
  return std::any_of(intervals.begin(), intervals.end(),
                     [&](const Interval& i) { return i.first <= arch && arch <= i.last; });
}

std::uint32_t ArchClass::representative() const {
  const std::uint32_t native = abi::facts(abi::native_arch()).audit;
  return contains(native) ? native : intervals.front().first;
}

std::optional<bool> ArchClass::holds(Relation relation, std::uint32_t mask, std::uint32_t constant) const {
  std::optional<bool> all;
  for (const Interval& i : intervals) {
    const std::optional<bool> one = holds_for_all(relation, i.first, i.last, mask, constant);
    if (!one || (all && *all != *one)) return std::nullopt;
    all = one;
  }
  return all;
}

// Between two range cuts, all values that no equality test singles out are one class.
std::vector<ArchClass> arch_classes(Cuts cuts) {
  cuts.ranges.push_back(0);
  sort_unique(cuts.ranges);
  sort_unique(cuts.singles);
  std::vector<ArchClass> classes;
  auto single = cuts.singles.begin();
  for (std::size_t i = 0; i < cuts.ranges.size(); ++i) {
    const std::uint64_t end = i + 1 < cuts.ranges.size() ? cuts.ranges[i + 1] : 1ULL << 32;
    ArchClass rest;
    std::uint64_t at = cuts.ranges[i];
    for (; single != cuts.singles.end() && *single < end; ++single) {
      if (at < *single) rest.intervals.push_back({static_cast<std::uint32_t>(at), *single - 1});
      classes.push_back({{{*single, *single}}});
      at = std::uint64_t{*single} + 1;
    }
    if (at < end) rest.intervals.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - 1)});
    if (!rest.intervals.empty()) classes.push_back(std::move(rest));
  }
  return classes;
}

NrCells::NrCells(const Cuts& cuts) {
  std::array<std::uint64_t, kSmall / 64> small{1};  // 0 starts the first cell
  std::vector<std::uint32_t> large;
  for (const std::uint32_t cut : cuts.ranges) {
    if (cut < kSmall)
      small[cut / 64] |= 1ULL << cut % 64;
    else
      large.push_back(cut);
  }
  sort_unique(large);
  direct_.resize(kSmall);
  for (std::uint32_t nr = 0; nr < kSmall; ++nr) {
    if ((small[nr / 64] >> nr % 64 & 1) != 0) starts_.push_back(nr);
    direct_[nr] = count() - 1;
  }
  starts_.insert(starts_.end(), large.begin(), large.end());
}

std::uint32_t NrCells::find(std::uint32_t nr) const {
  if (nr < kSmall) return direct_[nr];
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), nr);
  return static_cast<std::uint32_t>(next - starts_.begin()) - 1;
}

}  // namespace seccompress::verify
