// SPDX-License-Identifier: Apache-2.0
// Policy -> canonical text for people and golden files: one line a fact, rules in order, no places.
#pragma once

#include <string>

#include "policy/policy.h"

namespace seccompress::policy {

std::string_view operator_name(Operator op);        // "ne", ..., "masked-eq"
std::string to_string(const Condition& condition);  // "a0 == 0x10", "a1 & 0xf == 0x3"
std::string to_string(const Policy& policy);

}  // namespace seccompress::policy
