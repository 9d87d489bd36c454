// SPDX-License-Identifier: Apache-2.0
// Calls that matter to a policy, made from its own conditions, and the comparison of everything that can
// answer them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "support/random_code.h"

namespace seccompress::test {

struct Number {
  std::uint32_t audit;
  std::uint32_t nr;
};

// Every number that a rule names on a listed architecture, all below 512 (and with x32's bit), the borders of the
// number space, and an architecture that is not listed.
std::vector<Number> numbers_of(const policy::Policy& policy);
// Only those that rules name (for long runs).
std::vector<Number> named_numbers(const policy::Policy& policy);

// The calls of one number: every combination of the interesting values of the conditions that rules have on
// it, at most `limit` (then drawn at random); unconditioned arguments hold noise.
std::vector<abi::SeccompData> calls_of(const policy::Policy& policy, Number number, std::size_t limit, Random& random);

// evaluate == diagram == reference program on all of them. The text of the first disagreement, with the
// policy; nullopt when there is none.
struct Agreement {
  std::size_t calls = 0;
  std::optional<std::string> disagreement;
};
Agreement compare_lowering(const policy::Policy& policy, const std::vector<Number>& numbers, std::size_t limit,
                           Random& random);

}  // namespace seccompress::test
