// SPDX-License-Identifier: Apache-2.0
// systemd's groups of system calls ("@mount"): the shipped table by version, or a host's own.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace seccompress::abi {

// The versions that the shipped table tells apart: 252 (Debian 12), 254, 255. 253 had 252's groups, 256 has 255's.
inline constexpr unsigned kOldestSystemd = 252, kNewestSystemd = 256;

// What each group lists itself: names and nested groups.
using SystemdTable = std::map<std::string, std::set<std::string>, std::less<>>;
SystemdTable shipped_systemd_table(unsigned version);

class SystemdGroups {
 public:
  // table: a host's own; null for the shipped one of that version.
  explicit SystemdGroups(unsigned version, std::shared_ptr<const SystemdTable> table = nullptr)
      : version_(version), table_(std::move(table)) {}

  // What the group lists itself. Empty: no such group.
  std::vector<std::string_view> members(std::string_view group) const;
  // All names, those of nested groups included, sorted, each once. nullopt: no such group.
  std::optional<std::vector<std::string_view>> names(std::string_view group) const;

 private:
  void collect(std::string_view group, unsigned depth, std::vector<std::string_view>& names) const;

  unsigned version_;
  std::shared_ptr<const SystemdTable> table_;
};

}  // namespace seccompress::abi
