// SPDX-License-Identifier: Apache-2.0
// The files that a program is made of, remembered so that a change of one of them shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bundle/trusted_file.h"
#include "host/systemd_library.h"
#include "host/unit_search.h"
#include "support/result.h"

namespace seccompress::hooks {

// A file, a folder by the names in it, a unit ("unit:NAME") by which files it is, or this host's systemd by its
// libraries. A folder that is not there is an input too: it could come.
struct Input {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_seconds = 0, mtime_nanoseconds = 0;
  std::string sha256;  // "absent"
  bool operator==(const Input&) const = default;
};

// Reads trusted files and remembers what it read, in the order of reading.
class HostFiles {
 public:
  HostFiles() = default;
  explicit HostFiles(std::vector<Input> inputs) : inputs_(std::move(inputs)) {}  // read by somebody else before
  Result<bundle::TrustedFile> read(const std::string& path, std::size_t limit);
  // Names, sorted. absent_is_empty: a folder that does not exist has none.
  Result<std::vector<std::string>> list(const std::string& path, bool absent_is_empty = false);

  // Which files a unit of this host is; they are read one by one afterwards.
  Result<host::UnitPaths> find(const std::string& unit);

  // The libraries that say which systemd this host has. They are never read; dates and sizes are their newest and sum.
  Result<std::vector<host::SystemdLibrary>> find_systemd();

  // What somebody else read for this one, unless it is there already.
  void add(const std::vector<Input>& inputs);

  const std::vector<Input>& inputs() const { return inputs_; }

 private:
  bundle::TrustedReader reader_;
  std::vector<Input> inputs_;
};

// What the inputs say, whatever their dates: one hash.
std::string content_hash(const std::vector<Input>& inputs);

// Why `then` is not the world's state any more: "PATH changed"; empty: it still is.
std::string changed_since(const std::vector<Input>& then);

}  // namespace seccompress::hooks
