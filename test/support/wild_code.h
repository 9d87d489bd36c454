// SPDX-License-Identifier: Apache-2.0
// Random programs with every instruction that seccomp has, on whole words: relations of arguments, products, quotients,
// shifts by arguments, scratch memory, computed verdicts. Mostly behind tests of arch and nr, as real filters are.
#pragma once

#include "support/random_code.h"

namespace seccompress::test {

struct WildShape {
  std::size_t length = 24;    // instructions before the final RETs
  std::uint32_t numbers = 6;  // different system call numbers that are looked at
  bool computed_verdicts = false;
};

// Accepted by program::check.
program::Code wild_code(Random& random, const WildShape& shape);

// Inputs near the constants of the programs, numbers that they look at, arguments that often are equal or next to each
// other.
abi::SeccompData wild_data(Random& random, std::span<const program::Code> codes, const WildShape& shape);

}  // namespace seccompress::test
