// SPDX-License-Identifier: Apache-2.0
// The lints themselves, one function each; lint.cc registers them.
#pragma once

#include "policy/policy.h"
#include "support/diagnostic.h"

namespace seccompress::lint {

void shadowed(const policy::Policy& policy, Diagnostics& diagnostics);
void never_true(const policy::Policy& policy, Diagnostics& diagnostics);
void or_turned(const policy::Policy& policy, Diagnostics& diagnostics);
void no_effect(const policy::Policy& policy, Diagnostics& diagnostics);
void int_argument(const policy::Policy& policy, Diagnostics& diagnostics);

}  // namespace seccompress::lint
