// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "support/unique_fd.h"

namespace seccompress {
namespace {

// Where the bytes belong: the file that a link leads to, so that the link stays one. What is no regular file is
// refused: renaming over /dev/null would take the device away from the whole machine.
Result<std::string> target_of(const std::string& path) {
  struct ::stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return path;
    return errno_failure(path);
  }
  std::string target = path;
  if (S_ISLNK(status.st_mode)) {
    target = real_path(path);
    if (target.empty() || ::stat(target.c_str(), &status) != 0) return errno_failure(path);
  }
  if (S_ISREG(status.st_mode)) return target;
  return failure(Errc::refused,
                 path + ": not a regular file; an output file is written beside its place and renamed into it");
}

tl::unexpected<Error> refuse_type(const std::string& path, const std::string& what) {
  return failure(Errc::refused, path + ": " + what + ", not a file");
}

// A pipe without a name: `... | seccompress ... /dev/stdin`, or bash's <(...), whose writer is there already.
Result<bool> is_anonymous_pipe(int fd, const std::string& path) {
  struct ::statfs filesystem {};
  if (::fstatfs(fd, &filesystem) != 0) return errno_failure(path + ": statfs");
  return filesystem.f_type == PIPEFS_MAGIC;
}

// Regular files and anonymous pipes can be read to their end; anything else may have none, or never begin.
Result<void> check_readable(int fd, const std::string& path) {
  struct ::stat status {};
  if (::fstat(fd, &status) != 0) return errno_failure(path + ": stat");
  if (S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return refuse_type(path, "is a folder");
  if (S_ISBLK(status.st_mode)) return refuse_type(path, "is a block device");
  if (!S_ISFIFO(status.st_mode)) return refuse_type(path, ::isatty(fd) != 0 ? "is a terminal" : "is a device");
  TRY_ASSIGN(const bool anonymous, is_anonymous_pipe(fd, path));
  if (!anonymous) return refuse_type(path, "is a named pipe");
  if (::fcntl(fd, F_SETFL, 0) != 0) return errno_failure(path + ": fcntl");
  return {};
}

Result<void> finish(int fd, const std::string& temporary, const std::string& path, unsigned mode) {
  if (::fchmod(fd, mode) != 0) return errno_failure(path + ": chmod");
  if (::fsync(fd) != 0) return errno_failure(path + ": fsync");
  if (::rename(temporary.c_str(), path.c_str()) != 0) return errno_failure(path + ": rename");
  return {};
}

}  // namespace

Result<std::string> read_fd(int fd, const std::string& name, std::size_t limit) {
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_failure(name + ": read");
    if (n == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(n) > limit)
      return failure(Errc::budget, name + ": larger than " + std::to_string(limit) + " bytes");
    bytes.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<void> write_fd(int fd, const std::string& name, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_failure(name + ": write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  // Not blocking: neither open(2) of a named pipe that nobody writes to, nor a file such as /proc/kmsg may hang.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd && errno == ENXIO) return refuse_type(path, "is a socket or a device without a driver");
  if (!fd) return errno_failure(path);
  TRY(check_readable(fd.get(), path));
  return read_fd(fd.get(), path, limit);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), ::free);
  return real == nullptr ? std::string() : std::string(real.get());
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes, unsigned mode) {
  TRY_ASSIGN(const std::string target, target_of(path));
  std::string temporary = target + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return errno_failure(path + ": cannot create a temporary file beside it");
  Result<void> done = write_fd(fd.get(), path, bytes);
  if (done) done = finish(fd.get(), temporary, target, mode);
  if (!done) ::unlink(temporary.c_str());
  return done;
}

}  // namespace seccompress
