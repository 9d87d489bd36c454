// SPDX-License-Identifier: Apache-2.0
// How often each call is made, for the emitter's expected cost. Shapes: profiles/weights/*.tsv, two columns
// NAME WEIGHT (tab or spaces, '#' comments), or `strace -c` output.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "abi/arch.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::emit {

class Weights {
 public:
  static Weights uniform() { return Weights(); }
  static Weights built_in();  // profiles/weights/default.tsv, compiled in
  static Result<Weights> parse(std::string_view text, const std::string& file, Diagnostics& diagnostics);

  // Relative weight of a call; a small floor for calls the table does not name, so that no path is free.
  double of(std::uint32_t audit_arch, std::uint32_t nr) const;
  double of_range(std::uint32_t audit_arch, std::uint32_t first, std::uint32_t last) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> weights_;
};

}  // namespace seccompress::emit
