// SPDX-License-Identifier: Apache-2.0
// A search over the ranges of the word that A holds.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/code_graph.h"
#include "emit/ranges.h"

namespace seccompress::emit {

// fast: where calls are made. small: where few are, or nothing is known (other architectures): room first.
enum class Search : std::uint8_t { fast, small };

// cost: weighted tests, in the unit of the ranges' weights.
struct Found {
  OpId root = 0;
  double cost = 0;
};

// ranges: ascending and without gaps.
Found dispatch(CodeGraph& graph, Ranges ranges, Search kind);

}  // namespace seccompress::emit
