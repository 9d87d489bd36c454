// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "support/unique_fd.h"

namespace seccompress {
namespace {

Result<void> write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_failure(name + ": write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
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

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return errno_failure(path);
  return read_fd(fd.get(), path, limit);
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes, unsigned mode) {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return errno_failure(path + ": cannot create a temporary file beside it");
  Result<void> done = write_all(fd.get(), bytes, path);
  if (done) done = finish(fd.get(), temporary, path, mode);
  if (!done) ::unlink(temporary.c_str());
  return done;
}

}  // namespace seccompress
