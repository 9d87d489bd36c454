// SPDX-License-Identifier: Apache-2.0
// VERB: code x a cell of the (arch, nr) plane -> what is left of it there.
#pragma once

#include "opaque/facts.h"
#include "opaque/graph.h"

namespace seccompress::opaque {

// `code`: accepted by program::check, or of that shape. The result starts from nothing: it reads neither A, X nor M
// before it sets them. A constant when the graph says is_verdict().
OpId specialise(Graph& graph, program::CodeView code, const Cell& cell);

}  // namespace seccompress::opaque
