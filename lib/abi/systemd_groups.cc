// SPDX-License-Identifier: Apache-2.0
// The table is systemd_groups.def, sorted by group: made from `systemd-analyze syscall-filter` of Debian 12's 252.39
// and from syscall_filter_sets of systemd's src/shared/seccomp-util.c for later versions. Weakness: @known is 252's in
// every version. Its later additions are names that libseccomp 2.5.4 does not know.
#include "abi/systemd_groups.h"

#include <algorithm>
#include <iterator>

namespace seccompress::abi {
namespace {

struct Member {
  std::string_view group, name;
  unsigned first, last;  // systemd versions
};
constexpr Member kMembers[] = {
#define MEMBER(group, name, first, last) {group, name, first, last},
#include "abi/systemd_groups.def"
#undef MEMBER
};

constexpr unsigned kDeepest = 4;  // groups nest two deep

std::vector<std::string_view> shipped_members(std::string_view group, unsigned version) {
  std::vector<std::string_view> members;
  const auto* member = std::lower_bound(std::begin(kMembers), std::end(kMembers), group,
                                        [](const Member& m, std::string_view name) { return m.group < name; });
  for (; member != std::end(kMembers) && member->group == group; ++member)
    if (member->first <= version && version <= member->last) members.push_back(member->name);
  return members;
}

}  // namespace

SystemdTable shipped_systemd_table(unsigned version) {
  SystemdTable table;
  for (const Member& member : kMembers)
    if (member.first <= version && version <= member.last) table[std::string(member.group)].emplace(member.name);
  return table;
}

std::vector<std::string_view> SystemdGroups::members(std::string_view group) const {
  if (table_ == nullptr) return shipped_members(group, version_);
  const auto found = table_->find(group);
  if (found == table_->end()) return {};
  return {found->second.begin(), found->second.end()};
}

void SystemdGroups::collect(std::string_view group, unsigned depth, std::vector<std::string_view>& names) const {
  if (depth > kDeepest) return;
  for (const std::string_view member : members(group))
    if (member.starts_with('@'))
      collect(member, depth + 1, names);
    else
      names.push_back(member);
}

std::optional<std::vector<std::string_view>> SystemdGroups::names(std::string_view group) const {
  std::vector<std::string_view> names;
  collect(group, 0, names);
  if (names.empty()) return std::nullopt;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace seccompress::abi
