// SPDX-License-Identifier: Apache-2.0
// How often each call is made, for the emitter's expected cost. Shapes: profiles/weights/*.tsv, two columns
// NAME WEIGHT (tab or spaces, '#' comments), or `strace -c` output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/syscalls.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::emit {

// The weights of one architecture's numbers. Only ratios matter.
class NumberWeights {
 public:
  NumberWeights() = default;  // every number alike
  explicit NumberWeights(std::vector<std::pair<std::uint32_t, double>> by_number);

  // Sum over the numbers in [first, last]. Calls that no table names keep a small floor, so that no path is
  // free; so do the x32 numbers, a smaller one.
  double of_range(std::uint32_t first, std::uint32_t last) const;

 private:
  std::vector<std::pair<std::uint32_t, double>> by_number_;  // ascending
  double floor_ = 1.0;                                       // of one unnamed number
};

class Weights {
 public:
  static Weights uniform() { return Weights(); }
  static const Weights& built_in();  // profiles/weights/default.tsv, compiled in; read once
  static Result<Weights> parse(std::string_view text, const std::string& file, Diagnostics& diagnostics);

  // For the numbers that seccomp_data.arch == audit_arch comes with.
  NumberWeights numbers(std::uint32_t audit_arch) const;

 private:
  using Rows = std::vector<std::pair<abi::SyscallNumbers, double>>;  // of a call, its weight
  std::shared_ptr<const Rows> rows_ = std::make_shared<Rows>();      // options are copied, tables are not
};

}  // namespace seccompress::emit
