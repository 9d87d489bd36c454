// SPDX-License-Identifier: Apache-2.0
// One 64-bit condition as tests of 32-bit words.
#pragma once

#include "diagram/store.h"
#include "policy/policy.h"

namespace seccompress::lower {

// condition holds ? yes : no
diagram::Node lower_condition(diagram::Store& store, const policy::Condition& condition, diagram::Node yes,
                              diagram::Node no);

}  // namespace seccompress::lower
