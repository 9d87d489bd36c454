// SPDX-License-Identifier: Apache-2.0
// VERB: Policy -> Diagram, and Policy -> the naive reference program that verify proves against.
#pragma once

#include "diagram/store.h"
#include "policy/policy.h"
#include "program/program.h"
#include "support/result.h"

namespace seccompress::lower {

// More (number, rule) pairs than this for one architecture are Errc::budget.
inline constexpr std::size_t kMaxCalls = std::size_t{1} << 16;

// The policy as a function. Method: per architecture, per number, the rules for it become one argument
// diagram; the numbers become one select over nr; the architectures one select over arch.
Result<diagram::Node> lower(const policy::Policy& policy, diagram::Store& store);

// The same policy as the most obvious program there is: per architecture, per number, rules in order of
// strictness, no sharing, any length; never installed. Written without a look at lower(). For policies that
// lower() accepted; a rule has at most six conditions.
program::Code reference_program(const policy::Policy& policy);

}  // namespace seccompress::lower
