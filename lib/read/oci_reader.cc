// SPDX-License-Identifier: Apache-2.0
// Input: config.json with linux.seccomp, or a bare linux.seccomp object. Output: a policy. Entry: read_oci.
// Source: opencontainers/runtime-spec config-linux.md (seccomp).
#include "read/oci_reader.h"

#include "read/profile_reader.h"

namespace seccompress::read {
namespace {

using json::Kind;
using json::Value;

// runc's decoder ignores case and takes the last key, crun's does not: such a file has two meanings.
bool refuse_case_variant(json::Cursor& cursor, const Value& object, std::string_view key) {
  const json::Member* variant = object.case_variant_of(key);
  if (variant == nullptr) return false;
  cursor.diagnostics().error("key-case", cursor.document().locate(*variant),
                             "a key that differs from \"" + std::string(key) + "\" only in case",
                             "runc reads it, crun does not; remove it");
  return true;
}

const Value* child(json::Cursor& cursor, const Value& object, std::string_view key) {
  if (!cursor.expect(object, Kind::object) || refuse_case_variant(cursor, object, key)) return nullptr;
  const Value* value = object.find(key);
  if (value != nullptr && value->kind != Kind::null) return value;
  cursor.error("no-profile", object, "has no \"" + std::string(key) + "\"", "the container would run without a filter");
  return nullptr;
}

bool is_config(const Value& root) {
  return root.find("ociVersion") != nullptr || root.find("linux") != nullptr ||
         root.case_variant_of("linux") != nullptr;
}

const Value* find_profile(json::Cursor& cursor, const Value& root) {
  if (root.kind != Kind::object || !is_config(root)) return &root;
  const Value* linux_part = child(cursor, root, "linux");
  return linux_part == nullptr ? nullptr : child(cursor, *linux_part, "seccomp");
}

// Runtimes ignore what only docker's own reader understands, and the rule then holds everywhere.
void warn_docker_key(json::Cursor& cursor, const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  if (value == nullptr || (value->text.empty() && value->elements.empty() && value->members.empty())) return;
  cursor.warning("docker-key", *value, "\"" + std::string(key) + "\" is docker's and is ignored here",
                 "read the file as docker: if it is meant");
}

void check_entry_keys(json::Cursor& cursor, const Value& entry) {
  if (entry.kind != Kind::object) return;
  cursor.check_keys(entry, {"names", "name", "action", "errnoRet", "args", "comment", "includes", "excludes", "errno"});
  for (const std::string_view key : {"includes", "excludes", "errno"}) warn_docker_key(cursor, entry, key);
}

void check_keys(json::Cursor& cursor, const Value& profile) {
  cursor.check_keys(profile, {"defaultAction", "defaultErrnoRet", "architectures", "flags", "listenerPath",
                              "listenerMetadata", "syscalls", "archMap", "defaultErrno", "comment"});
  for (const std::string_view key : {"archMap", "defaultErrno"}) warn_docker_key(cursor, profile, key);
  const Value* entries = profile.find("syscalls");
  if (entries == nullptr) return;
  for (const Value& entry : entries->elements) check_entry_keys(cursor, entry);
}

}  // namespace

Result<policy::Policy> read_oci(std::string_view text, const std::string& name, const Options& options,
                                Diagnostics& diagnostics) {
  const std::size_t earlier = diagnostics.error_count();
  TRY_ASSIGN(const json::Document document, json::parse(text, name, diagnostics));
  json::Cursor cursor(document, diagnostics);
  const Value* profile = find_profile(cursor, document.root());
  if (profile == nullptr || !cursor.expect(*profile, Kind::object)) return reported();
  check_keys(cursor, *profile);
  ProfileReader reader(cursor, options);
  policy::Policy policy = reader.read(*profile, {});
  if (const Value* list = profile->find("architectures")) reader.add_architectures(policy, *list, false);
  reader.add_native(policy);
  if (diagnostics.error_count() > earlier) return reported();
  return policy;
}

}  // namespace seccompress::read
