// SPDX-License-Identifier: Apache-2.0
// Alternating trials of one loop under several stacks of filters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/worker.h"

namespace seccompress::bench {

struct Plan {
  int trials = 7;
  double seconds = 0.5;  // of one trial
};

// Told what is being done, and how much of the bench's work is over (0 to 1).
using Progress = std::function<void(const std::string& what, double share)>;

struct Variant {
  std::string label;
  std::vector<program::VerifiedProgram> filters;  // oldest first
};

// Rows in the order of the variants, rounds a second by trial: A B C A B C ...
Result<std::vector<Row>> measure_rates(const std::vector<Variant>& variants, Loop loop, const Plan& plan,
                                       const std::function<void(double share)>& progress);
// The same of the time that installing takes, in microseconds.
Result<std::vector<Row>> measure_installing(const std::vector<Variant>& variants, const Plan& plan);

// A filter as the type that install takes: proved equal to itself, which is all there is to prove of it.
Result<program::VerifiedProgram> as_verified(const program::Code& code);
Result<std::vector<program::VerifiedProgram>> as_verified(const std::vector<program::Code>& filters);

}  // namespace seccompress::bench
