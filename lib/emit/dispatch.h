// SPDX-License-Identifier: Apache-2.0
// A search over the ranges of the word that A holds.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/code_graph.h"

namespace seccompress::emit {

struct Range {
  std::uint32_t first, last;
  OpId exit;
  double weight;  // how often A lies in it; only ratios matter
};

// ranges: ascending, covering all 2^32 values.
OpId dispatch(CodeGraph& graph, std::vector<Range> ranges);

}  // namespace seccompress::emit
