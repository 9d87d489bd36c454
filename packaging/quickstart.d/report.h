// SPDX-License-Identifier: Apache-2.0
// The quickstart's figures: what stacked filters and the one program cost, counted and measured.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"
#include "support/result.h"

namespace seccompress::quickstart {

using Filters = std::vector<program::Code>;  // oldest first

// ---- counted (costs.cc) ----------------------------------------------------------------------------------
struct Call {
  std::string name;
  abi::SeccompData data;
  double weight;
};
Result<std::vector<Call>> read_calls(const std::string& path);

// Mean instructions executed, weighted; converted is what the kernel really runs (eBPF), classic as written.
// A call that the kernel answers from its constant-action cache executes none.
struct Executed {
  double converted = 0, classic = 0;
};
// Over the calls of this name; of all when it is empty.
Executed executed(const Filters& filters, const std::vector<Call>& calls, const std::string& name);

// ---- measured (live.cc) ----------------------------------------------------------------------------------
struct Nanoseconds {
  double openat = 0, mprotect = 0;  // openat with its close
};
// The same calls in children under each of the stacks, trials alternating, medians.
Result<std::vector<Nanoseconds>> measure(const std::vector<Filters>& stacks);

}  // namespace seccompress::quickstart
