// SPDX-License-Identifier: Apache-2.0
// VERB of the last step: a graph of operations -> instructions with addresses.
#pragma once

#include "emit/code_graph.h"
#include "support/result.h"

namespace seccompress::emit {

// Errc::budget beyond 4096 instructions.
Result<program::Code> layout(const CodeGraph& graph, OpId root);

}  // namespace seccompress::emit
