// SPDX-License-Identifier: Apache-2.0
// The search over a whole number space: like dispatch, but the two halves that x86-64 keeps apart by one bit may share
// their code.
#pragma once

#include "emit/code_graph.h"
#include "emit/dispatch.h"
#include "emit/ranges.h"

namespace seccompress::emit {

// ranges: ascending, covering all 2^32 values of nr. The x32 half is always small; the cost is the native half's.
Found dispatch_numbers(CodeGraph& graph, Ranges ranges, Search kind);

}  // namespace seccompress::emit
