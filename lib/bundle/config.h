// SPDX-License-Identifier: Apache-2.0
// The bundle's config.json: what the runtime was told, read once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/trusted_file.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::bundle {

// An entry of hooks.prestart, createRuntime or createContainer, in that order.
struct RegisteredHook {
  std::string stage, path;
  std::vector<std::string> args;
};

struct Config {
  bool has_seccomp = false;   // linux.seccomp is there and means something (runc: an empty one disables it)
  bool no_new_privs = false;  // process.noNewPrivileges
  std::string listener_path;  // linux.seccomp.listenerPath
  std::string root_path;      // root.path, as it is there
  std::map<std::string, std::string> annotations;
  std::vector<RegisteredHook> hooks;
};

// Keys that differ from linux, linux.seccomp, process, annotations or hooks only in case are errors: runc's decoder
// ignores case and takes the last one, crun's does not, so the two would run different containers.
// Errors: Errc::reported.
Result<Config> parse_config(std::string_view text, const std::string& file, Diagnostics& diagnostics);

// One reading of the file, and the means to see that it is still that file with those bytes.
class Snapshot {
 public:
  // bundle + "/config.json". The runtime, not we, decides whom it trusts with its bundle: owner and mode are
  // not looked at, but it must be a regular file and at most `read::kMaxInputBytes`.
  static Result<Snapshot> take(const std::string& bundle);

  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  Result<void> unchanged() const;

 private:
  std::string path_;
  std::string bytes_;
  FileIdentity identity_;
};

}  // namespace seccompress::bundle
