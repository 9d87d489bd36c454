// SPDX-License-Identifier: Apache-2.0
// What the assignments of a unit and its drop-ins amount to, as systemd 252 reads them (src/core/load-fragment.c):
// the later wins, lists add up, empty assignments reset. No seccomp yet: that is systemd_filters.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/arch.h"
#include "abi/systemd_groups.h"
#include "read/reader.h"
#include "read/unit_file.h"
#include "support/diagnostic.h"

namespace seccompress::read::systemd {

// Errno of an entry: none of its own, or kill.
inline constexpr int kNoErrno = -1, kKill = -2;

// System call names as small numbers, so that lists of groups are cheap to add and remove.
class CallNames {
 public:
  explicit CallNames(abi::SystemdGroups groups) : known_groups_(std::move(groups)) {}

  using Id = std::uint32_t;
  std::optional<Id> find_call(const std::string& name);        // nullopt: libseccomp knows no such call
  const std::vector<Id>* find_group(const std::string& name);  // null: no such group
  const std::string& name(Id id) const { return names_[id]; }

 private:
  Id add(std::string_view name);

  abi::SystemdGroups known_groups_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, Id> ids_;
  std::unordered_map<std::string, std::vector<Id>> groups_;
};

// SystemCallFilter= or SystemCallLog=.
class CallList {
 public:
  struct Entry {
    bool listed = false;
    int error = kNoErrno;
    std::uint32_t place = 0;
    bool removed = false;  // by the assignment at place
  };

  void reset();
  void begin(bool allow, Location where);  // the first assignment decides what the list means
  bool begun() const { return begun_; }
  bool allow() const { return allow_; }
  const Location& where() const { return where_; }  // of the first assignment
  bool empty() const;

  std::uint32_t add_place(Location where);
  // `invert` is the assignment's '~'.
  void put(CallNames::Id id, bool invert, int error, std::uint32_t place);
  const std::vector<Entry>& entries() const { return entries_; }  // by id
  bool lists(CallNames::Id id) const { return id < entries_.size() && entries_[id].listed; }
  const Location& place(std::uint32_t index) const { return places_[index]; }

 private:
  bool begun_ = false, allow_ = false;
  Location where_;
  std::vector<Entry> entries_;
  std::vector<Location> places_;
};

struct Switch {
  bool on = false;
  Location where;
};

struct Families {
  bool begun = false, allow = false;
  std::map<int, Location> listed;
  Location where;  // of the last assignment
};

struct Settings {
  explicit Settings(abi::SystemdGroups groups) : names(std::move(groups)) {}

  CallNames names;
  CallList filter, log;
  int error_number = kKill;
  Location error_number_where;
  std::set<abi::Arch> architectures;  // native ones included
  Location architectures_where;
  Families families;
  std::optional<std::uint32_t> retained_namespaces;   // CLONE_NEW*; nullopt: never assigned
  std::map<std::uint32_t, Location> namespace_where;  // of the assignment that took each one away
  std::optional<std::uint32_t> personality;
  Switch protect_hostname, memory_deny_write_execute, restrict_realtime, restrict_suid_sgid, protect_kernel_tunables,
      protect_kernel_modules, protect_kernel_logs, protect_clock, private_devices, lock_personality, no_new_privileges,
      dynamic_user;
};

// What `no` retains: cgroup, ipc, net, mnt, pid, user, uts. `time` is known by name but is not part of it, so that a
// unit that refuses anything refuses new time namespaces too unless it names them.
inline constexpr std::uint32_t kNamespaces = 0x7e020000, kTimeNamespace = 0x80;

// More assignments or words than this in a unit are an error.
inline constexpr std::size_t kMaxAssignments = std::size_t{1} << 16, kMaxWords = std::size_t{1} << 16;

// Applies assignments one by one. Only those of `section` count (empty: of any section that can hold them).
class SettingsReader {
 public:
  SettingsReader(const Options& options, std::string section, Diagnostics& diagnostics);

  void apply(const unit::Assignment& assignment);
  bool seen_section() const { return seen_section_; }
  // DynamicUser= and what else systemd turns on by itself once everything is read.
  Settings finish();

  struct Directive {
    std::string_view name;
    void (SettingsReader::*apply)(const unit::Assignment&);
    Switch Settings::*toggle;  // for directives that are yes or no
  };

 private:
  void apply_directive(const Directive& directive, const unit::Assignment& assignment);
  void apply_switch(Switch& toggle, const unit::Assignment& assignment);
  void system_call_filter(const unit::Assignment& assignment);
  void system_call_log(const unit::Assignment& assignment);
  void system_call_error_number(const unit::Assignment& assignment);
  void system_call_architectures(const unit::Assignment& assignment);
  void restrict_address_families(const unit::Assignment& assignment);
  void restrict_namespaces(const unit::Assignment& assignment);
  void personality(const unit::Assignment& assignment);

  void add_calls(CallList& list, std::string_view words, bool invert, bool with_errors,
                 const unit::Assignment& assignment);
  void add_call_word(CallList& list, const std::string& word, bool invert, bool with_errors, const Location& where);
  void merge_namespaces(std::uint32_t flags, bool invert, const Location& where);
  bool take_word(const unit::Assignment& assignment);
  void warn_unknown(const unit::Assignment& assignment);
  void ignore(const Location& where, std::string what, std::string hint = {});

  static const Directive kDirectives[];

  unsigned version_;
  abi::Arch native_;
  std::string section_;
  Diagnostics& diagnostics_;
  Settings settings_;
  std::size_t assignments_ = 0, words_ = 0, unknown_ = 0;
  bool seen_section_ = false;
};

}  // namespace seccompress::read::systemd
