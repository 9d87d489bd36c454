// SPDX-License-Identifier: Apache-2.0
// What is probably not meant in a policy that is valid. Pure functions over policies; readers lint nothing.
#pragma once

#include <span>
#include <string_view>

#include "policy/policy.h"
#include "support/diagnostic.h"

namespace seccompress::lint {

struct Lint {
  std::string_view code;     // of its diagnostics: "lint-shadowed"
  std::string_view summary;  // one line for the manual
  void (*run)(const policy::Policy& policy, Diagnostics& diagnostics);
};

// The only registry, in the order in which they run.
std::span<const Lint> lints();

// All of them. Only warnings, each at the rule or condition it is about.
void lint(const policy::Policy& policy, Diagnostics& diagnostics);

}  // namespace seccompress::lint
