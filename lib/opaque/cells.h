// SPDX-License-Identifier: Apache-2.0
// Which ranges of arch and nr a program may tell apart by tests with constants.
#pragma once

#include <vector>

#include "opaque/facts.h"

namespace seccompress::opaque {

struct Plane {
  std::vector<Interval> arch, nr;  // ascending, each covering all values
};
// One range each when there would be too many cells to look at.
Plane plane_of(program::CodeView code);

}  // namespace seccompress::opaque
