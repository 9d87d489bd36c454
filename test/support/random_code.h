// SPDX-License-Identifier: Apache-2.0
// Random programs that a diagram can express, and inputs that matter to them. Deterministic per seed:
// SEED=N in the environment replaces the default, and every test prints the seed it used.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "program/program.h"

namespace seccompress::test {

using Random = std::mt19937_64;

// SEED from the environment, or `fallback`; printed.
std::uint64_t seed_or(std::uint64_t fallback);

struct CodeShape {
  std::size_t length = 24;      // instructions before the final RETs
  bool masks = true;            // AND K and JSET
  bool many_words = true;       // ip and all arguments, not only nr, arch and a0
  std::uint32_t constants = 8;  // how many different constants
};

// Checked code: loads, JEQ/JGE/JGT/JSET K, AND K, JA, RET K.
program::Code random_code(Random& random, const CodeShape& shape);

// Inputs whose words are constants of the code, their neighbours, or their bits.
abi::SeccompData random_data(Random& random, std::span<const program::Code> codes);

}  // namespace seccompress::test
