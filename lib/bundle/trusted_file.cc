// SPDX-License-Identifier: Apache-2.0
// Input: an absolute path. Output: bytes, names or a descriptor. Entry points: read_trusted_file,
// list_trusted_folder, open_trusted_log.
// Method: openat(2) from / component by component with O_NOFOLLOW, fstat(2) of each descriptor before the next
// step: nothing is checked by name and used by name.
// Weakness: links are refused altogether, also harmless ones (/var/run): write the real path.
#include "bundle/trusted_file.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "bundle/ownership.h"
#include "support/file.h"

namespace seccompress::bundle {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// Not blocking: a FIFO put there must not hang the start. Regular files ignore it.
constexpr int kFileFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

constexpr char kUnreadable[] = " (it is opened as the user who runs the engine, who may not)";

// "/etc/x" -> {"etc", "x"}
Result<std::vector<std::string>> split(const std::string& path) {
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos)
    return failure(Errc::refused, "'" + path + "': not an absolute path");
  std::vector<std::string> parts;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.empty()) continue;
    if (part == "." || part == "..") return failure(Errc::refused, path + ": has a '.' or '..' component");
    parts.emplace_back(part);
  }
  return parts;
}

// ELOOP is O_NOFOLLOW's answer for a link, ENOTDIR with O_DIRECTORY.
tl::unexpected<Error> open_failure(int folder, const std::string& name, const std::string& path) {
  const int error = errno;
  struct ::stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
    return failure(Errc::refused, path + ": is a symbolic link; write the path it leads to");
  return failure({error, std::generic_category()}, path + (error == EACCES && is_rootless() ? kUnreadable : ""));
}

Result<UniqueFd> open_folders(const std::vector<std::string>& parts) {
  UniqueFd folder(::open("/", kFolderFlags));
  if (!folder) return errno_failure("/");
  TRY(check_owner(folder.get(), "/"));
  std::string path;
  for (const std::string& part : parts) {
    path += "/" + part;
    UniqueFd next(::openat(folder.get(), part.c_str(), kFolderFlags));
    if (!next) return open_failure(folder.get(), part, path);
    TRY(check_owner(next.get(), path));
    folder = std::move(next);
  }
  return folder;
}

// What a path's last component lies in, and that component.
struct Place {
  std::vector<std::string> parents;
  std::string name;
};

Result<Place> place_of(const std::string& path) {
  TRY_ASSIGN(std::vector<std::string> parts, split(path));
  if (parts.empty()) return failure(Errc::refused, path + ": not a file");
  Place place;
  place.name = std::move(parts.back());
  parts.pop_back();
  place.parents = std::move(parts);
  return place;
}

Result<UniqueFd> open_in(int folder, const std::string& name, const std::string& path, int flags, mode_t mode = 0) {
  UniqueFd fd(::openat(folder, name.c_str(), flags, mode));
  if (!fd) return open_failure(folder, name, path);
  TRY(check_owner(fd.get(), path));
  return fd;
}

Result<UniqueFd> open_trusted(const std::string& path, int flags, mode_t mode = 0) {
  TRY_ASSIGN(const Place place, place_of(path));
  TRY_ASSIGN(const UniqueFd folder, open_folders(place.parents));
  return open_in(folder.get(), place.name, path, flags, mode);
}

Result<struct ::stat> regular_file(int fd, const std::string& path) {
  struct ::stat status {};
  if (::fstat(fd, &status) != 0) return errno_failure(path + ": fstat");
  if (!S_ISREG(status.st_mode)) return failure(Errc::refused, path + ": not a regular file");
  return status;
}

}  // namespace

FileIdentity identity_of(const struct ::stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .mtime_seconds = status.st_mtim.tv_sec,
          .mtime_nanoseconds = status.st_mtim.tv_nsec};
}

Result<TrustedFile> TrustedReader::read(const std::string& path, std::size_t limit) {
  TRY_ASSIGN(Place place, place_of(path));
  if (!folder_ || place.parents != parents_) {
    TRY_ASSIGN(folder_, open_folders(place.parents));
    parents_ = std::move(place.parents);
  }
  TRY_ASSIGN(const UniqueFd fd, open_in(folder_.get(), place.name, path, kFileFlags));
  TRY_ASSIGN(const struct ::stat status, regular_file(fd.get(), path));
  TrustedFile file;
  file.identity = identity_of(status);
  TRY_ASSIGN(file.bytes, read_fd(fd.get(), path, limit));
  return file;
}

Result<TrustedFile> read_trusted_file(const std::string& path, std::size_t limit) {
  return TrustedReader().read(path, limit);
}

Result<std::vector<std::string>> list_trusted_folder(const std::string& path, std::size_t max_entries) {
  TRY_ASSIGN(UniqueFd fd, open_trusted(path, kFolderFlags));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
  if (folder == nullptr) return errno_failure(path + ": opendir");
  fd.release();  // the DIR owns it now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) return errno_failure(path + ": readdir");
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == max_entries)
      return failure(Errc::budget, path + ": more than " + std::to_string(max_entries) + " entries");
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> trusted_file_exists(const std::string& path) {
  const Result<UniqueFd> fd = open_trusted(path, kFileFlags);
  if (fd) return true;
  if (fd.error().code == std::errc::no_such_file_or_directory) return false;
  return tl::unexpected(fd.error());
}

Result<UniqueFd> open_trusted_folder(const std::string& path) { return open_trusted(path, kFolderFlags); }

Result<void> make_trusted_folder(const std::string& path, mode_t mode) {
  TRY_ASSIGN(const Place place, place_of(path));
  TRY_ASSIGN(const UniqueFd parent, open_folders(place.parents));
  if (::mkdirat(parent.get(), place.name.c_str(), mode) != 0) {
    if (errno == EEXIST) return {};
    return errno_failure(path + ": mkdir");
  }
  TRY_ASSIGN(const UniqueFd made, open_in(parent.get(), place.name, path, kFolderFlags));
  if (::fchmod(made.get(), mode) != 0) return errno_failure(path + ": chmod");  // whatever the umask is
  return {};
}

Result<UniqueFd> open_trusted_log(const std::string& path) {
  TRY_ASSIGN(UniqueFd fd,
             open_trusted(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
  TRY_ASSIGN(const struct ::stat status, regular_file(fd.get(), path));
  (void)status;
  return fd;
}

}  // namespace seccompress::bundle
