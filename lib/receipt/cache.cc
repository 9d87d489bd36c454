// SPDX-License-Identifier: Apache-2.0
// Input: a folder's path, a label, a receipt. Output: the receipt again, or why what is there is not believed. Entry
// points: Cache::store, Cache::load.
// Method: the folder is opened once, from / down without links, and looked at as a descriptor: root's, mode 0700.
// Everything in it is opened by name below that descriptor without following links, and believed by fstat(2) of what
// was opened: a regular file of root's, mode 0600, one name, not too large. Nothing is checked by name and then used.
// Writing: beside, fsync, rename, under a lock on the folder. Who is killed leaves at most the file `new`, which the
// next writer takes away; a reader never opens it. Reading takes no lock: what it opened stays what it is.
// Weakness: a label's entry can be removed between a reader's two steps; it looks again once.
#include "receipt/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/trusted_file.h"
#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::receipt {
namespace {

constexpr std::size_t kMaxEntryBytes = std::size_t{4} << 20;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kLabelBytes = kHashDigits + 1;
constexpr char kBeside[] = "new";  // no label and no hash
constexpr mode_t kFolderMode = 0700, kEntryMode = 0600, kModeBits = 07777;

bool is_gone(const Error& error) { return error.code == std::errc::no_such_file_or_directory; }

bool is_label(std::string_view text) {
  return text.size() == kLabelBytes && text.back() == '\n' && text.find_first_not_of("0123456789abcdef") == kHashDigits;
}

Result<UniqueFd> open_folder(const std::string& path) {
  TRY_ASSIGN(UniqueFd folder, bundle::open_trusted_folder(path));
  struct ::stat status {};
  if (::fstat(folder.get(), &status) != 0) return errno_failure(path + ": fstat");
  if ((status.st_mode & kModeBits) != kFolderMode)
    return failure(Errc::refused, path + ": is not a folder of root's with mode 0700");
  return folder;
}

Result<void> check_entry(int fd, const std::string& path) {
  struct ::stat status {};
  if (::fstat(fd, &status) != 0) return errno_failure(path + ": fstat");
  if (!S_ISREG(status.st_mode)) return failure(Errc::refused, path + ": not a regular file");
  if (status.st_uid != 0) return failure(Errc::refused, path + ": not root's");
  if ((status.st_mode & kModeBits) != kEntryMode) return failure(Errc::refused, path + ": its mode is not 0600");
  if (status.st_nlink != 1) return failure(Errc::refused, path + ": has a second name (a hard link)");
  return {};
}

Result<std::string> read_entry(int folder, const std::string& name, const std::string& path, std::size_t limit) {
  const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == ELOOP) return failure(Errc::refused, path + ": is a symbolic link");
  if (!fd) return errno_failure(path);
  TRY(check_entry(fd.get(), path));
  return read_fd(fd.get(), path, limit);
}

Result<std::string> read_label(int folder, const std::string& label, const std::string& path) {
  TRY_ASSIGN(std::string name, read_entry(folder, label, path, kLabelBytes));
  if (!is_label(name)) return failure(Errc::malformed, path + ": names no receipt");
  name.resize(kHashDigits);
  return name;
}

Result<Receipt> read_named(int folder, const std::string& name, const std::string& path) {
  TRY_ASSIGN(const std::string bytes, read_entry(folder, name, path, kMaxEntryBytes));
  Result<Receipt> receipt = from_bytes(bytes);
  if (!receipt) return failure(receipt.error().code, path + ": " + receipt.error().what);
  if (sha256(receipt->inputs) == name) return receipt;
  return failure(Errc::malformed, path + ": its name is not the hash of its inputs");
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

Result<void> put(int folder, const std::string& name, const std::string& path, std::string_view bytes) {
  const UniqueFd fd = create(folder);
  if (!fd) return errno_failure(path + ": cannot create a file beside it");
  Result<void> done = write_fd(fd.get(), path, bytes);
  // The umask is somebody else's, here and in the folder's making.
  if (done && ::fchmod(fd.get(), kEntryMode) != 0) done = errno_failure(path + ": chmod");
  if (done && ::fsync(fd.get()) != 0) done = errno_failure(path + ": fsync");
  if (done) done = rename_in(folder, name, path);
  if (!done) ::unlinkat(folder, kBeside, 0);
  return done;
}

}  // namespace

Result<Lock> Cache::lock(Wait wait) const {
  TRY(bundle::make_trusted_folder(folder_, kFolderMode));
  TRY_ASSIGN(UniqueFd folder, open_folder(folder_));
  if (::flock(folder.get(), LOCK_EX | (wait == Wait::no ? LOCK_NB : 0)) == 0) return Lock(std::move(folder));
  if (errno == EWOULDBLOCK) return failure(Errc::refused, folder_ + ": another preparation is at work");
  return errno_failure(folder_ + ": flock");
}

Result<void> Cache::store(const Lock& lock, const std::string& label, std::string_view inputs, std::string_view about,
                          program::CodeView code) const {
  const int folder = lock.folder_.get();
  const std::string name = sha256(inputs), path = folder_ + "/";
  const Result<std::string> before = read_label(folder, label, path + label);
  const bool named = before && *before == name;
  TRY(put(folder, name, path + name, to_bytes(inputs, about, code)));
  Result<void> done = named ? Result<void>() : put(folder, label, path + label, name + "\n");
  if (!done) ::unlinkat(folder, name.c_str(), 0);
  if (done && ::fsync(folder) != 0) done = errno_failure(folder_ + ": fsync");
  if (done && !named && before) ::unlinkat(folder, before->c_str(), 0);
  return done;
}

Found Cache::load(const std::string& label) const {
  const Result<UniqueFd> folder = open_folder(folder_);
  if (!folder) return {std::nullopt, is_gone(folder.error()) ? "" : to_string(folder.error())};
  Result<Receipt> receipt = failure(Errc::refused, "");
  for (int look = 0; look < 2; ++look) {
    const Result<std::string> name = read_label(folder->get(), label, folder_ + "/" + label);
    if (!name) return {std::nullopt, is_gone(name.error()) ? "" : to_string(name.error())};
    receipt = read_named(folder->get(), *name, folder_ + "/" + *name);
    if (receipt) return {std::move(*receipt), {}};
    if (!is_gone(receipt.error())) break;
  }
  return {std::nullopt, to_string(receipt.error())};
}

}  // namespace seccompress::receipt
