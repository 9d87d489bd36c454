// SPDX-License-Identifier: Apache-2.0
// Input: config.json. Output: the few facts that the hook needs of it. Entry points: parse_config, Snapshot::take.
// The seccomp rules themselves are read from the same bytes by the `oci` reader.
// Weakness: the runtime read its config.json before any hook ran; that it read these bytes cannot be known, which
// is why the filter itself is taken from the process and this file only prepares and warns.
#include "bundle/config.h"

#include <fcntl.h>

#include <array>

#include "bundle/annotations.h"
#include "read/json_cursor.h"
#include "read/reader.h"
#include "support/file.h"

namespace seccompress::bundle {
namespace {

using read::json::Cursor;
using read::json::Kind;
using read::json::Member;
using read::json::Value;

constexpr std::array<std::string_view, 3> kStages = {"prestart", "createRuntime", "createContainer"};
constexpr std::array<std::string_view, 4> kTopLevelKeys = {"linux", "process", "annotations", "hooks"};

bool check_keys(Cursor& cursor, const Value& root) {
  bool fine = true;
  for (const std::string_view key : kTopLevelKeys) fine = no_case_variants(cursor, root, key) && fine;
  if (const Value* linux_section = root.find("linux"))
    fine = no_case_variants(cursor, *linux_section, "seccomp") && fine;
  if (const Value* process = root.find("process")) fine = no_case_variants(cursor, *process, "noNewPrivileges") && fine;
  return fine;
}

// runc (libcontainer specconv): no default action and no rules means that seccomp is off.
bool read_seccomp(Cursor& cursor, const Value& seccomp, Config& config) {
  if (seccomp.kind == Kind::null) return true;
  if (!cursor.expect(seccomp, Kind::object)) return false;
  const Value* action = seccomp.find("defaultAction");
  const Value* syscalls = seccomp.find("syscalls");
  config.has_seccomp =
      (action != nullptr && !action->text.empty()) || (syscalls != nullptr && !syscalls->elements.empty());
  const Value* listener = seccomp.find("listenerPath");
  if (listener == nullptr || listener->kind == Kind::null) return true;
  const std::string* path = cursor.string(*listener);
  if (path != nullptr) config.listener_path = *path;
  return path != nullptr;
}

bool read_hook(Cursor& cursor, const Value& entry, std::string_view stage, Config& config) {
  if (!cursor.expect(entry, Kind::object)) return false;
  const Value* path = cursor.require(entry, "path");
  const std::string* text = path == nullptr ? nullptr : cursor.string(*path);
  if (text == nullptr) return false;
  RegisteredHook hook{.stage = std::string(stage), .path = *text, .args = {}};
  if (const Value* args = entry.find("args")) {
    auto strings = cursor.strings(*args);
    if (!strings) return false;
    hook.args = std::move(*strings);
  }
  config.hooks.push_back(std::move(hook));
  return true;
}

bool read_hooks(Cursor& cursor, const Value& root, Config& config) {
  const Value* hooks = root.find("hooks");
  if (hooks == nullptr || hooks->kind == Kind::null) return true;
  if (!cursor.expect(*hooks, Kind::object)) return false;
  for (const std::string_view stage : kStages) {
    const Value* entries = hooks->find(stage);
    const std::vector<Value>* list = entries == nullptr ? nullptr : cursor.list(*entries);
    if (entries != nullptr && list == nullptr) return false;
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (!read_hook(cursor, (*list)[i], stage, config)) return false;
  }
  return true;
}

bool read_sections(Cursor& cursor, const Value& root, Config& config) {
  if (const Value* linux_section = root.find("linux"); linux_section != nullptr && linux_section->kind != Kind::null) {
    if (!cursor.expect(*linux_section, Kind::object)) return false;
    const Value* seccomp = linux_section->find("seccomp");
    if (seccomp != nullptr && !read_seccomp(cursor, *seccomp, config)) return false;
  }
  if (const Value* process = root.find("process"); process != nullptr && process->kind != Kind::null) {
    if (!cursor.expect(*process, Kind::object)) return false;
    const Value* no_new_privs = process->find("noNewPrivileges");
    if (no_new_privs != nullptr && no_new_privs->kind != Kind::null) {
      const auto value = cursor.boolean(*no_new_privs);
      if (!value) return false;
      config.no_new_privs = *value;
    }
  }
  if (const Value* root_section = root.find("root"); root_section != nullptr && root_section->kind == Kind::object)
    if (const Value* path = root_section->find("path"); path != nullptr && path->kind == Kind::string)
      config.root_path = path->text;
  return read_hooks(cursor, root, config) && read_annotations(cursor, root, config.annotations);
}

Result<UniqueFd> open_regular(const std::string& path, struct ::stat& status) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return errno_failure(path);
  if (::fstat(fd.get(), &status) != 0) return errno_failure(path + ": fstat");
  if (!S_ISREG(status.st_mode)) return failure(Errc::refused, path + ": not a regular file");
  return fd;
}

}  // namespace

bool no_case_variants(Cursor& cursor, const Value& object, std::string_view key) {
  const Member* variant = object.case_variant_of(key);
  if (variant == nullptr) return true;
  cursor.error("key-case", variant->value,
               "the key '" + variant->key + "' differs from '" + std::string(key) + "' only in case",
               "runc would take it for '" + std::string(key) + "' and crun would not; remove it");
  return false;
}

bool read_annotations(Cursor& cursor, const Value& root, std::map<std::string, std::string>& annotations) {
  const Value* object = root.find("annotations");
  if (object == nullptr || object->kind == Kind::null) return true;
  if (!cursor.expect(*object, Kind::object)) return false;
  for (const Member& member : object->members) {
    const std::string* text = cursor.string(member.value);
    if (text == nullptr) return false;
    annotations.emplace(member.key, *text);
  }
  return true;
}

Result<Config> parse_config(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  TRY_ASSIGN(const read::json::Document document, read::json::parse(text, file, diagnostics));
  Cursor cursor(document, diagnostics);
  Config config;
  const Value& root = document.root();
  if (!cursor.expect(root, Kind::object) || !check_keys(cursor, root) || !read_sections(cursor, root, config))
    return reported();
  return config;
}

Result<Snapshot> Snapshot::take(const std::string& bundle) {
  Snapshot snapshot;
  snapshot.path_ = bundle + "/config.json";
  struct ::stat status {};
  TRY_ASSIGN(const UniqueFd fd, open_regular(snapshot.path_, status));
  snapshot.identity_ = identity_of(status);
  TRY_ASSIGN(snapshot.bytes_, read_fd(fd.get(), snapshot.path_, read::kMaxInputBytes));
  return snapshot;
}

Result<void> Snapshot::unchanged() const {
  struct ::stat status {};
  TRY_ASSIGN(const UniqueFd fd, open_regular(path_, status));
  const auto changed = [&] {
    return failure(Errc::refused, path_ + ": changed while the container was being started");
  };
  if (!(identity_of(status) == identity_)) return changed();
  const Result<std::string> bytes = read_fd(fd.get(), path_, bytes_.size());
  if (!bytes || *bytes != bytes_) return changed();
  return {};
}

}  // namespace seccompress::bundle
