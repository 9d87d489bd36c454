// SPDX-License-Identifier: Apache-2.0
#include "lint/lint.h"

#include <array>

#include "lint/rules.h"

namespace seccompress::lint {
namespace {

constexpr std::array kLints = {
    Lint{"lint-shadowed", "a rule for a call that an unconditional rule decides already", shadowed},
    Lint{"lint-never-true", "a condition that no argument meets", never_true},
    Lint{"lint-or-turned", "conditions that runtimes turn from AND into OR, because an argument occurs twice",
         or_turned},
    Lint{"lint-no-effect", "a rule whose action is the default's, which runtimes skip", no_effect},
    Lint{"lint-int-argument", "an int argument compared as 64 bits: high bits that the kernel ignores evade the rule",
         int_argument},
};

}  // namespace

std::span<const Lint> lints() { return kLints; }

void lint(const policy::Policy& policy, Diagnostics& diagnostics) {
  for (const Lint& one : kLints) one.run(policy, diagnostics);
}

}  // namespace seccompress::lint
