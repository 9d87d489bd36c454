// SPDX-License-Identifier: Apache-2.0
// systemd's groups of system calls ("@mount"), by version.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace seccompress::abi {

// The versions that the table tells apart: 252 (Debian 12), 254, 255. 253 had 252's groups, 256 has 255's.
inline constexpr unsigned kOldestSystemd = 252, kNewestSystemd = 256;

// What the group lists itself: names and nested groups. Empty: no such group in that version.
std::vector<std::string_view> systemd_group_members(std::string_view group, unsigned version);

// All names, those of nested groups included, sorted, each once. nullopt: no such group in that version.
std::optional<std::vector<std::string_view>> systemd_group(std::string_view group, unsigned version);

}  // namespace seccompress::abi
