// SPDX-License-Identifier: Apache-2.0
// Policies as one line, for tables of cases:
//     default ALLOW; ERRNO(1) personality a0==2 && a2!=0; KILL_THREAD personality a1&6==2
// One rule a part: verdict, name, conditions joined by &&. Architecture: x86_64, and those of `arch x32 x86`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/policy.h"
#include "support/result.h"

namespace seccompress::test {

std::optional<std::uint64_t> parse_number(std::string_view text);  // decimal, 0x hexadecimal, ~0
std::optional<abi::Verdict> parse_verdict(std::string_view text);  // "ERRNO(EPERM)", "ERRNO(38)", "ALLOW"
Result<policy::Policy> parse_policy(std::string_view text);

}  // namespace seccompress::test
