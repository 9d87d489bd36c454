// SPDX-License-Identifier: Apache-2.0
// A search over the ranges of the word that A holds.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/code_graph.h"
#include "emit/ranges.h"

namespace seccompress::emit {

// ranges: ascending, covering all 2^32 values. size_cost: what an instruction may cost in executed tests, as a
// share of all executions of this search.
OpId dispatch(CodeGraph& graph, Ranges ranges, double size_cost);

}  // namespace seccompress::emit
