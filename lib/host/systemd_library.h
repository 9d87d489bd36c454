// SPDX-License-Identifier: Apache-2.0
// Which systemd this host has, without asking it: the private library that all of systemd's programs load carries the
// version in its name. For the hook, which starts no program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts_file.h"
#include "support/result.h"

namespace seccompress::host {

struct SystemdLibrary {
  std::string path;                 // absolute, without links in its folder
  std::optional<unsigned> version;  // none: the name has no number where it should
  std::uint64_t size = 0;
  std::int64_t mtime_seconds = 0, mtime_nanoseconds = 0;
};

// "libsystemd-shared-252.so", "libsystemd-shared-252.39-1~deb12u2.so": 252. nullopt: another name.
std::optional<unsigned> systemd_library_version(std::string_view name);

// Sorted by path; empty when there is none. root: where / is, for tests. Errors: a folder that cannot be read.
Result<std::vector<SystemdLibrary>> find_systemd_libraries(const std::string& root = {});

// The one version that they have, with this build's groups of it; `from` is the library's path. Refused, with the
// remedy: none, several versions, one that is newer than this build's tables.
Result<SystemdChoice> choose_by_library(const std::vector<SystemdLibrary>& libraries);

}  // namespace seccompress::host
