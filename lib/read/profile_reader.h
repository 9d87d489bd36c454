// SPDX-License-Identifier: Apache-2.0
// What the OCI runtime-spec's linux.seccomp object and docker's profile format have in common: default,
// entries, arguments, flags, listener. oci_reader and docker_reader add what each has alone.
#pragma once

#include <functional>
#include <optional>

#include "policy/policy.h"
#include "read/json_cursor.h"
#include "read/reader.h"

namespace seccompress::read {

// A policy has at most this many (rule, name) pairs after entries have been split.
inline constexpr std::size_t kMaxNames = std::size_t{1} << 16;

class ProfileReader {
 public:
  ProfileReader(json::Cursor& cursor, const Options& options) : cursor_(cursor), options_(options) {}

  // What differs between the formats.
  struct Format {
    bool string_errnos = false;  // podman's errno and defaultErrno ("EPERM") beside errnoRet
    bool single_name = false;    // docker's deprecated `name`
    bool native_token = false;   // SCMP_ARCH_NATIVE in architectures
    // Does the entry apply here? Unset: always. nullopt: reported.
    std::function<std::optional<bool>(const json::Value& entry)> applies;
  };

  // Everything but the architectures and the check of keys. Faults go to the cursor's diagnostics.
  policy::Policy read(const json::Value& profile, const Format& format);
  // Adds the architectures of the list, each once.
  void add_architectures(policy::Policy& policy, const json::Value& list, bool native_token);
  void add_architecture(policy::Policy& policy, const json::Value& name, bool native_token);
  // libseccomp always has the native architecture.
  void add_native(policy::Policy& policy);

 private:
  std::optional<abi::Verdict> read_verdict(const json::Value& object, std::string_view action_key,
                                           std::string_view errno_key, std::string_view string_errno_key);
  std::optional<std::uint16_t> read_errno(const json::Value& value);
  std::optional<std::uint16_t> read_string_errno(const json::Value& value);
  void read_flags(policy::Policy& policy, const json::Value& profile);
  void read_listener(policy::Policy& policy, const json::Value& profile);
  void read_entry(policy::Policy& policy, const json::Value& entry, const Format& format);
  std::optional<std::vector<std::string>> read_names(const json::Value& entry, const Format& format);
  void warn_unknown_names(const json::Value& entry);
  std::optional<std::vector<policy::Condition>> read_conditions(const json::Value& entry);
  std::optional<policy::Condition> read_condition(const json::Value& argument);
  void add_rules(policy::Policy& policy, const json::Value& entry, policy::Rule rule);
  bool within_limit(const json::Value& entry, std::size_t rules, std::size_t names);

  json::Cursor& cursor_;
  const Options& options_;
  std::size_t names_ = 0;
};

}  // namespace seccompress::read
