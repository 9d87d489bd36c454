// SPDX-License-Identifier: Apache-2.0
// CallNames and CallList: lists of system calls that whole groups are added to and taken from.
#include "abi/syscalls.h"
#include "read/systemd_settings.h"

namespace seccompress::read::systemd {

CallNames::Id CallNames::add(std::string_view name) {
  const auto [found, is_new] = ids_.try_emplace(std::string(name), static_cast<Id>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return found->second;
}

std::optional<CallNames::Id> CallNames::find_call(const std::string& name) {
  if (!abi::is_syscall_name(name)) return std::nullopt;
  return add(name);
}

const std::vector<CallNames::Id>* CallNames::find_group(const std::string& name) {
  if (const auto known = groups_.find(name); known != groups_.end()) return &known->second;
  const auto members = known_groups_.names(name);
  if (!members) return nullptr;
  std::vector<Id> ids;
  for (const std::string_view member : *members)
    if (abi::is_syscall_name(member)) ids.push_back(add(member));
  return &groups_.emplace(name, std::move(ids)).first->second;
}

void CallList::reset() { *this = {}; }

void CallList::begin(bool allow, Location where) {
  begun_ = true;
  allow_ = allow;
  where_ = std::move(where);
}

bool CallList::empty() const {
  for (const Entry& entry : entries_)
    if (entry.listed) return false;
  return true;
}

std::uint32_t CallList::add_place(Location where) {
  places_.push_back(std::move(where));
  return static_cast<std::uint32_t>(places_.size() - 1);
}

// seccomp_parse_syscall_filter(): what agrees with the list's sense is put on it, what does not is taken off, but an
// entry of '~' with an errno of its own stays on an allow-list.
void CallList::put(CallNames::Id id, bool invert, int error, std::uint32_t place) {
  if (id >= entries_.size()) entries_.resize(id + 1);
  const bool on = invert != allow_ || (invert && allow_ && error != kNoErrno);
  entries_[id] = on ? Entry{true, error, place} : Entry{.place = place, .removed = true};
}

}  // namespace seccompress::read::systemd
