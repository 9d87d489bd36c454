// SPDX-License-Identifier: Apache-2.0
// VERB: Report -> one SVG picture: bars with the range of the trials as whiskers. No scripts, fonts or links.
#pragma once

#include <string>

#include "bench/report.h"

namespace seccompress::bench {

std::string to_svg(const Report& report);

}  // namespace seccompress::bench
