// SPDX-License-Identifier: Apache-2.0
// VERB: Diagram -> Program: the cheapest classic-BPF program we can make for it (cost model: emit/weights.h).
#pragma once

#include "diagram/store.h"
#include "emit/weights.h"
#include "program/program.h"
#include "support/result.h"

namespace seccompress::emit {

struct Options {
  Weights weights = Weights::uniform();
  bool cache_model = true;  // constant ALLOW calls of native architectures weigh nothing (kernel >= 5.11)
};

// Errors: Errc::budget when the program does not fit 4096 instructions. Deterministic to the byte.
// Guarantee: on every path that ends in a constant ALLOW only LD nr/arch, JEQ/JGT/JGE/JSET K, JA, AND K and
// RET 0x7fff0000 are executed.
Result<program::Code> emit(diagram::Store& store, diagram::Node root, const Options& options = {});

}  // namespace seccompress::emit
