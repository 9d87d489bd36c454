// SPDX-License-Identifier: Apache-2.0
// VERB: Diagram -> Program: the cheapest classic-BPF program we can make for it (cost model: emit/weights.h).
#pragma once

#include "diagram/store.h"
#include "emit/weights.h"
#include "program/program.h"
#include "support/result.h"

namespace seccompress::emit {

inline constexpr double kCachedShare = 0.05;

struct Options {
  Weights weights = Weights::built_in();
  // Kernels >= 5.11 answer constant ALLOW calls from a bitmap: they weigh kCachedShare of their count (older
  // kernels, the emulation at install time), not all of it.
  bool cache_model = true;
};

// Errors: Errc::budget when the program does not fit 4096 instructions. Deterministic to the byte.
// Guarantee: on every path that ends in a constant ALLOW only LD nr/arch, JEQ/JGT/JGE/JSET K, JA, AND K and
// RET 0x7fff0000 are executed.
Result<program::Code> emit(diagram::Store& store, diagram::Node root, const Options& options = {});

}  // namespace seccompress::emit
