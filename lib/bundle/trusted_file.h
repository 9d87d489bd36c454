// SPDX-License-Identifier: Apache-2.0
// Files that only root can have written. Every component of the path, from / down, is opened without following
// links and must be owned by root and not writable by group or others.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"

namespace seccompress::bundle {

// What tells one state of a file from another.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_seconds = 0, mtime_nanoseconds = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const struct ::stat& status);

struct TrustedFile {
  std::string bytes;
  FileIdentity identity;
};

// path: absolute, no "." or ".." component. Errors: the errno of the component that could not be opened (ELOOP
// for a link), Errc::refused for one that others could write, Errc::budget above `limit`.
Result<TrustedFile> read_trusted_file(const std::string& path, std::size_t limit);

// The same for many files: the last one's folder stays open for the next one in it. Of 34 filters in one folder that is
// one walk from /, not 34.
class TrustedReader {
 public:
  Result<TrustedFile> read(const std::string& path, std::size_t limit);

 private:
  std::vector<std::string> parents_;  // components of what folder_ is
  UniqueFd folder_;
};

// Names in a folder, sorted bytewise, "." and ".." left out. The folder has to be trusted; its files are read
// with read_trusted_file, which looks at them again.
Result<std::vector<std::string>> list_trusted_folder(const std::string& path, std::size_t max_entries);

// true: there is such a file and it is trusted; false: there is none. Anything else is an error.
Result<bool> trusted_file_exists(const std::string& path);

// The folder itself, to work in with openat(2).
Result<UniqueFd> open_trusted_folder(const std::string& path);
// Makes the last component with exactly this mode when it is not there; what is there stays as it is.
Result<void> make_trusted_folder(const std::string& path, mode_t mode);

// Opens a log file for appending, created with mode 0600 when it is not there.
Result<UniqueFd> open_trusted_log(const std::string& path);

}  // namespace seccompress::bundle
