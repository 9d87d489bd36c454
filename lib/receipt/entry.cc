// SPDX-License-Identifier: Apache-2.0
// Input: a folder's descriptor and a name. Output: bytes that only root can have written. Entry points: open_folder,
// read_named, put.
// Method: what is in the folder is opened by name below its descriptor without following links, and believed by
// fstat(2) of what was opened: a regular file of root's, mode 0600, one name, not too large. Nothing is checked by name
// and then used.
#include "receipt/entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/ownership.h"
#include "bundle/trusted_file.h"
#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::receipt {
namespace {

constexpr char kBeside[] = "new";  // no label and no hash
constexpr mode_t kFolderMode = 0700, kEntryMode = 0600, kModeBits = 07777;

Result<UniqueFd> check_folder(UniqueFd folder, const std::string& path) {
  struct ::stat status {};
  if (::fstat(folder.get(), &status) != 0) return errno_failure(path + ": fstat");
  if (status.st_uid != 0 || (status.st_mode & kModeBits) != kFolderMode)
    return failure(Errc::refused, path + ": is not a folder of root's with mode 0700");
  return folder;
}

Result<void> check_entry(int fd, const std::string& path) {
  struct ::stat status {};
  if (::fstat(fd, &status) != 0) return errno_failure(path + ": fstat");
  if (!S_ISREG(status.st_mode)) return failure(Errc::refused, path + ": not a regular file");
  if (status.st_uid != 0) return failure(Errc::refused, path + ": not root's");
  if ((status.st_mode & kModeBits) != kEntryMode) return failure(Errc::refused, path + ": its mode is not 0600");
  // Removed between our open and this look: nothing is wrong with it, it is not there any more.
  if (status.st_nlink == 0) return failure({ENOENT, std::generic_category()}, path);
  if (status.st_nlink != 1) return failure(Errc::refused, path + ": has a second name (a hard link)");
  return {};
}

// A leftover of a writer that was killed: no other writer is alive while we hold the lock.
UniqueFd create(int folder) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(folder, kBeside, kFlags, kEntryMode));
  if (fd || errno != EEXIST || ::unlinkat(folder, kBeside, 0) != 0) return fd;
  return UniqueFd(::openat(folder, kBeside, kFlags, kEntryMode));
}

Result<void> rename_in(int folder, const std::string& to, const std::string& path) {
  if (::renameat(folder, kBeside, folder, to.c_str()) == 0) return {};
  // A folder in the place of a file is taken away when it is empty.
  const bool freed = errno == EISDIR && ::unlinkat(folder, to.c_str(), AT_REMOVEDIR) == 0;
  if (freed && ::renameat(folder, kBeside, folder, to.c_str()) == 0) return {};
  return errno_failure(path + ": rename");
}

}  // namespace

bool is_gone(const Error& error) { return error.code == std::errc::no_such_file_or_directory; }

bool is_not_for_us(const Error& error) {
  return is_gone(error) || (error.code == std::errc::permission_denied && bundle::is_rootless());
}

Result<UniqueFd> open_folder(const std::string& path) {
  TRY_ASSIGN(UniqueFd folder, bundle::open_trusted_folder(path));
  return check_folder(std::move(folder), path);
}

Result<UniqueFd> open_folder_in(int folder, const char* name, const std::string& path) {
  UniqueFd inner(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inner) return errno_failure(path);
  return check_folder(std::move(inner), path);
}

Result<std::string> read_entry(int folder, const std::string& name, const std::string& path, std::size_t limit) {
  const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == ELOOP) return failure(Errc::refused, path + ": is a symbolic link");
  if (!fd) return errno_failure(path);
  TRY(check_entry(fd.get(), path));
  return read_fd(fd.get(), path, limit);
}

Result<Receipt> read_named(int folder, const std::string& name, const std::string& path, std::size_t limit) {
  TRY_ASSIGN(const std::string bytes, read_entry(folder, name, path, limit));
  Result<Receipt> receipt = from_bytes(bytes);
  if (!receipt) return failure(receipt.error().code, path + ": " + receipt.error().what);
  if (sha256(receipt->inputs) == name) return receipt;
  return failure(Errc::malformed, path + ": its name is not the hash of its inputs");
}

Result<void> put(int folder, const std::string& name, const std::string& path, std::string_view bytes, Keep keep) {
  const UniqueFd fd = create(folder);
  if (!fd) return errno_failure(path + ": cannot create a file beside it");
  Result<void> done = write_fd(fd.get(), path, bytes);
  // The umask is somebody else's, here and in the folder's making.
  if (done && ::fchmod(fd.get(), kEntryMode) != 0) done = errno_failure(path + ": chmod");
  if (done && keep == Keep::durable && ::fsync(fd.get()) != 0) done = errno_failure(path + ": fsync");
  if (done) done = rename_in(folder, name, path);
  if (!done) ::unlinkat(folder, kBeside, 0);
  return done;
}

}  // namespace seccompress::receipt
