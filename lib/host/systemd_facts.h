// SPDX-License-Identifier: Apache-2.0
// This host's systemd: its version and its groups of system calls, which decide what a unit's filters are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/systemd_groups.h"
#include "support/result.h"

namespace seccompress::host {

struct SystemdFacts {
  unsigned version = 0;
  abi::SystemdTable groups;
  bool operator==(const SystemdFacts&) const = default;
};

inline constexpr std::size_t kMaxSyscallFilterText = std::size_t{1} << 20;

// "systemd 252 (252.39-1~deb12u2)\n+PAM ...", of `systemd-analyze --version`.
Result<unsigned> parse_banner(std::string_view text);
// The output of `systemd-analyze syscall-filter`. Only what it can look like is accepted: every group is there once,
// none is empty, nested ones are defined and end, @default and @known are among them.
Result<abi::SystemdTable> parse_syscall_filter(std::string_view text);

// What tells a host's groups from the shipped table of its version: "+@mount fsopen", "-@clock adjtimex", sorted.
std::vector<std::string> differences(const SystemdFacts& facts);
// What tells some groups from others, the same way.
std::vector<std::string> differences(const abi::SystemdTable& groups, const abi::SystemdTable& from);
// And back.
Result<SystemdFacts> with_differences(unsigned version, std::span<const std::string> lines);

}  // namespace seccompress::host
