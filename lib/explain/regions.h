// SPDX-License-Identifier: Apache-2.0
// Which verdict comes for which values of the arguments that were not given.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "explain/argument.h"

namespace seccompress::explain {

inline constexpr std::size_t kMaxRegions = 200;

// A call with some of its values known.
struct PartialCall {
  std::uint32_t arch = 0, nr = 0;
  std::array<std::optional<std::uint64_t>, kValues> values;  // a0..a5, ip
};

struct Region {
  abi::Verdict verdict = abi::kKillProcess;
  abi::SeccompData example{};     // one call of the region, with this verdict; values that do not matter are 0
  std::vector<std::string> when;  // conditions that all hold; empty: always
  // Not empty: carried code computes the verdict from these values ("a0", "a1"), some of which are not given.
  std::vector<std::string> computed_from;
  // What it may be: `verdict` alone, or all that the code returns; empty when it returns a word that it computed.
  std::vector<abi::Verdict> possible;
  bool is_computed() const { return !computed_from.empty(); }
};

struct Regions {
  std::vector<Region> regions;  // disjoint, together every call; strictest first
  bool complete = true;         // false: more than kMaxRegions, the last ones are left out
};
Regions regions_of(const diagram::Store& store, diagram::Node root, const PartialCall& call);

}  // namespace seccompress::explain
