// SPDX-License-Identifier: Apache-2.0
// crun's seccomp.bpf: the file from which a container's init, and every later `crun exec`, installs its program.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "install/identity.h"
#include "program/verified_program.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace seccompress::install {

class ProgramFile {
 public:
  // The one regular file `.../CONTAINER/seccomp.bpf` among the descriptors of `init`, opened again for reading and
  // writing. nullopt: it has none (no linux.seccomp). Errors: more than one, deleted, not a regular file, or not the
  // file of that name, from which exec sessions would read.
  static Result<std::optional<ProgramFile>> find(const Identity& init, std::string_view container);

  const std::string& path() const { return path_; }
  std::uint64_t device() const { return device_; }
  std::uint64_t inode() const { return inode_; }
  // The file has other names: an entry of crun's cache, which later containers with this profile would get as well.
  Result<bool> shared() const;

  // The program that crun put there. Errors: empty, larger than a program can be, not a multiple of 8.
  Result<program::Code> read();

  // After read(): puts `program` in its place, so that a reader finds the old program, the new one, or something
  // that the kernel refuses, whenever this process ends. Errors: shared or changed since read() (untouched), or the
  // file system's; see spoilt().
  Result<void> replace(const program::VerifiedProgram& program);
  // A replace() failed when the old program was gone already: what is there, the kernel refuses.
  bool spoilt() const { return spoilt_; }
  // Puts the program of read() back.
  Result<void> restore();

  // A text that says who wrote these very bytes; "" when nobody did, or when they changed since. Kept in a trusted.*
  // extended attribute (xattr(7): only CAP_SYS_ADMIN in the initial user namespace reads or writes those).
  std::string author() const;
  void sign(std::string_view author) const;

 private:
  ProgramFile(std::string path, UniqueFd fd, const struct ::stat& status);
  Result<struct ::stat> status() const;
  Result<std::string> bytes(std::size_t size) const;
  Result<void> check_name() const;
  Result<void> check_unchanged() const;
  Result<void> put(std::string_view bytes);
  Result<void> fill(std::string_view bytes);
  Result<void> write_at(std::string_view bytes, std::size_t offset) const;
  Result<void> expect(std::string_view bytes) const;
  Result<void> sync() const;

  std::string path_;
  UniqueFd fd_;
  std::uint64_t device_ = 0, inode_ = 0;
  std::string old_;  // what read() found
  bool spoilt_ = false;
};

}  // namespace seccompress::install
