// SPDX-License-Identifier: Apache-2.0
// Which of A, X and the scratch words a program may still read, by instruction: what is dead tells no states apart.
#pragma once

#include <cstdint>
#include <vector>

#include "opaque/graph.h"
#include "program/program.h"

namespace seccompress::raise {

// Before each instruction: opaque::kReadsA, kReadsX, reads_cell().
std::vector<std::uint32_t> liveness(program::CodeView code);

}  // namespace seccompress::raise
