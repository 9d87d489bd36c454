// SPDX-License-Identifier: Apache-2.0
// Input: paths. Output: bytes, and what they were. Entry points: HostFiles::read, HostFiles::list, changed_since.
// Method: an input is described from the bytes that were used, never by a second look at the file.
#include "inputs.h"

#include <algorithm>
#include <tuple>

#include "read/reader.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

constexpr std::size_t kMaxFolderEntries = 4096;
constexpr char kAbsent[] = "absent";
constexpr char kFolder[] = "folder:";
constexpr char kUnit[] = "unit:";  // before a unit's name, and before the hash of its paths
constexpr char kSystemd[] = "the host's systemd", kSystemdHash[] = "systemd:";

std::string names_hash(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + '\0';
  return kFolder + sha256(text);
}

bool is_gone(const Error& error) { return error.code == std::errc::no_such_file_or_directory; }

// The same input as it is now; an error's text stands for one that cannot be read any more.
Input look_again(HostFiles& files, const Input& then) {
  const std::size_t before = files.inputs().size();
  const bool folder = then.sha256 == kAbsent || then.sha256.starts_with(kFolder);
  std::string error;
  if (then.sha256.starts_with(kUnit)) {
    if (auto unit = files.find(then.path.substr(sizeof kUnit - 1)); !unit) error = to_string(unit.error());
  } else if (then.sha256.starts_with(kSystemdHash)) {
    if (auto libraries = files.find_systemd(); !libraries) error = to_string(libraries.error());
  } else if (folder) {
    if (auto names = files.list(then.path, true); !names) error = to_string(names.error());
  } else {
    if (auto file = files.read(then.path, read::kMaxInputBytes); !file) error = to_string(file.error());
  }
  if (files.inputs().size() != before) return files.inputs().back();
  Input now = then;
  now.sha256 = error;
  return now;
}

}  // namespace

Result<bundle::TrustedFile> HostFiles::read(const std::string& path, std::size_t limit) {
  TRY_ASSIGN(bundle::TrustedFile file, reader_.read(path, limit));
  inputs_.push_back({.path = path,
                     .size = file.bytes.size(),
                     .mtime_seconds = file.identity.mtime_seconds,
                     .mtime_nanoseconds = file.identity.mtime_nanoseconds,
                     .sha256 = sha256(file.bytes)});
  return file;
}

Result<std::vector<std::string>> HostFiles::list(const std::string& path, bool absent_is_empty) {
  auto names = bundle::list_trusted_folder(path, kMaxFolderEntries);
  const bool absent = !names && absent_is_empty && is_gone(names.error());
  if (!names && !absent) return names;
  Input input;
  input.path = path;
  input.sha256 = absent ? kAbsent : names_hash(*names);
  inputs_.push_back(std::move(input));
  return absent ? std::vector<std::string>() : std::move(*names);
}

Result<host::UnitPaths> HostFiles::find(const std::string& unit) {
  TRY_ASSIGN(host::UnitPaths paths, host::find_unit(unit));
  std::string text = paths.name + '\0' + paths.fragment + '\0';
  for (const std::string& path : paths.drop_ins) text += path + '\0';
  Input input;
  input.path = kUnit + unit;
  input.sha256 = kUnit + sha256(text);
  inputs_.push_back(std::move(input));
  return paths;
}

Result<std::vector<host::SystemdLibrary>> HostFiles::find_systemd() {
  TRY_ASSIGN(std::vector<host::SystemdLibrary> libraries, host::find_systemd_libraries());
  Input input;
  input.path = kSystemd;
  std::string paths;
  for (const host::SystemdLibrary& library : libraries) {
    TRY_ASSIGN(const bool trusted, bundle::trusted_file_exists(library.path));
    if (!trusted) return failure(Errc::refused, library.path + ": went away meanwhile");
    paths += library.path + '\0';
    input.size += library.size;
    if (std::tie(library.mtime_seconds, library.mtime_nanoseconds) >
        std::tie(input.mtime_seconds, input.mtime_nanoseconds)) {
      input.mtime_seconds = library.mtime_seconds;
      input.mtime_nanoseconds = library.mtime_nanoseconds;
    }
  }
  input.sha256 = kSystemdHash + sha256(paths);
  inputs_.push_back(std::move(input));
  return libraries;
}

void HostFiles::add(const std::vector<Input>& inputs) {
  for (const Input& input : inputs)
    if (std::find(inputs_.begin(), inputs_.end(), input) == inputs_.end()) inputs_.push_back(input);
}

std::string content_hash(const std::vector<Input>& inputs) {
  std::string text;
  for (const Input& input : inputs) text += input.path + '\0' + input.sha256 + '\0';
  return sha256(text);
}

std::string changed_since(const std::vector<Input>& then) {
  HostFiles files;
  for (const Input& input : then) {
    const Input now = look_again(files, input);
    if (now == input) continue;
    if (now.sha256 == input.sha256) return input.path + " was written again (its date or size differs)";
    return input.path +
           (now.sha256.find(' ') == std::string::npos ? " changed" : " cannot be read as it was: " + now.sha256);
  }
  return {};
}

}  // namespace seccompress::hooks
