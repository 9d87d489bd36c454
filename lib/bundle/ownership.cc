// SPDX-License-Identifier: Apache-2.0
// Input: an open file and the path that led to it. Output: trusted, or why not. Entry point: check_owner.
// Method. A user namespace shows every owner that it does not map as one number, the overflow uid (user_namespaces(7)):
// root's files, another user's, all alike. What can be known there all the same:
//   where root is            the owner of /proc/sys/kernel/overflowuid, which is the initial root by the kernel's word
//                            (fs/proc/proc_sysctl.c, GLOBAL_ROOT_UID). Root has a number here: only that of 0 counts.
//   a real user 65534        the number may be mapped too (a range of 65536 subordinate ids has it). The kernel lets an
//                            owner set O_NOATIME and nobody else (fs/fcntl.c setfl), so it is asked, as that user.
//   unmapped, so whose?      only in places that nobody but root can have made: see kPlaces and kTrees.
// Everything that cannot be found out counts as somebody else's.
// Weaknesses: what root himself gave away inside kTrees (chown) to a user without a number here looks like root's.
// Where root set kernel.overflowuid to 0, everybody looks like the owner 0 from inside of a user namespace.
#include "bundle/ownership.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "support/file.h"
#include "support/unique_fd.h"

namespace seccompress::bundle {
namespace {

constexpr std::size_t kProcLimit = 65536;

// Each of them alone, not what is in it: folders that the system's installation makes as root.
constexpr std::array<std::string_view, 12> kPlaces = {"/",         "/etc",      "/home", "/run",      "/run/systemd",
                                                      "/run/user", "/usr",      "/var",  "/var/home", "/var/lib",
                                                      "/var/log",  "/var/cache"};
// With everything below: the administrator's layers, the system's units, the distribution's files.
constexpr std::array<std::string_view, 12> kTrees = {"/etc/seccompress",
                                                     "/etc/systemd",
                                                     "/run/systemd/generator",
                                                     "/run/systemd/generator.early",
                                                     "/run/systemd/generator.late",
                                                     "/run/systemd/system",
                                                     "/run/systemd/system.attached",
                                                     "/run/systemd/system.control",
                                                     "/run/systemd/transient",
                                                     "/usr/lib",
                                                     "/usr/lib64",  // Fedora's libsystemd-shared-*.so
                                                     "/usr/share"};

struct Namespace {
  bool without_root = false;  // root has no number in it
  uid_t overflow = 65534;
  bool ambiguous = true;  // a user has the overflow uid as his number
};

// An open file of procfs and nothing that lies in its place.
Result<UniqueFd> open_proc(const char* path) {
  UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct ::statfs system {};
  if (!fd || ::fstatfs(fd.get(), &system) != 0) return errno_failure(path);
  if (system.f_type != PROC_SUPER_MAGIC) return failure(Errc::refused, std::string(path) + ": is not of procfs");
  return fd;
}

Result<std::string> read_proc(const char* path) {
  TRY_ASSIGN(const UniqueFd fd, open_proc(path));
  return read_fd(fd.get(), path, kProcLimit);
}

std::uint64_t next_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  std::uint64_t value = UINT64_MAX;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? value : UINT64_MAX;
}

bool sets_no_atime(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NOATIME) == 0;
}

// As this thread's user for files: nobody's capabilities, only ownership. The pipe shows that an owner is let do it
// here, so that a refusal is about the owner, and not a security module's or a filter's.
bool is_surely_not_owned(int fd) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  const UniqueFd reader(ends[0]), writer(ends[1]);
  return sets_no_atime(reader.get()) && !sets_no_atime(fd) && errno == EPERM;
}

// The number that is shown for the file's owner is nobody's here.
bool has_no_number(int fd, uid_t shown, const Namespace& space) {
  if (shown != space.overflow) return false;
  if (!space.ambiguous) return true;
  const int before = ::setfsuid(space.overflow);
  const bool became = ::setfsuid(static_cast<uid_t>(-1)) == static_cast<int>(space.overflow);
  const bool none = became && is_surely_not_owned(fd);
  ::setfsuid(static_cast<uid_t>(before));
  return none;
}

Result<Namespace> look() {
  TRY_ASSIGN(const UniqueFd fd, open_proc("/proc/sys/kernel/overflowuid"));
  TRY_ASSIGN(const std::string text, read_fd(fd.get(), "/proc/sys/kernel/overflowuid", kProcLimit));
  std::string_view rest = text;
  const std::uint64_t overflow = next_number(rest);
  struct ::stat status {};
  if (overflow > UINT32_MAX || ::fstat(fd.get(), &status) != 0) return errno_failure("overflowuid");
  const Result<std::string> map = read_proc("/proc/self/uid_map");
  Namespace space;
  space.overflow = static_cast<uid_t>(overflow);
  space.ambiguous = !map || maps_number(*map, space.overflow);
  space.without_root = has_no_number(fd.get(), status.st_uid, space);
  return space;
}

// Looked at once in each user namespace that this process, or one that it was forked from, has been in.
const Namespace& our_namespace() {
  static Namespace space;
  static std::pair<dev_t, ino_t> seen;
  struct ::stat here {};
  const bool known = ::stat("/proc/self/ns/user", &here) == 0 && seen == std::pair(here.st_dev, here.st_ino);
  if (!known) space = look().value_or(Namespace());
  seen = {here.st_dev, here.st_ino};
  return space;
}

bool is_roots(int fd, const struct ::stat& status, const std::string& path) {
  if (status.st_uid == 0) return true;
  const Namespace& space = our_namespace();
  return space.without_root && is_place_of_roots(path) && has_no_number(fd, status.st_uid, space);
}

constexpr char kRootlessHint[] =
    ": this user namespace cannot tell who that is (rootless: configuration and layers belong in /etc/seccompress, "
    "/usr/share, /usr/lib, or to the user who runs the engine)";

}  // namespace

bool maps_number(std::string_view uid_map, uid_t number) {
  bool found = uid_map.empty();
  while (!uid_map.empty() && !found) {
    const std::uint64_t first = next_number(uid_map), parent = next_number(uid_map), count = next_number(uid_map);
    if (parent == UINT64_MAX || count == UINT64_MAX) return true;
    found = number >= first && number - first < count;
    uid_map.remove_prefix(std::min(uid_map.find_first_not_of(" \n"), uid_map.size()));
  }
  return found;
}

bool is_place_of_roots(std::string_view path) {
  return std::find(kPlaces.begin(), kPlaces.end(), path) != kPlaces.end() ||
         std::any_of(kTrees.begin(), kTrees.end(), [&](std::string_view tree) {
           return path.starts_with(tree) && (path.size() == tree.size() || path[tree.size()] == '/');
         });
}

Result<void> check_owner(int fd, const std::string& path) {
  struct ::stat status {};
  if (::fstat(fd, &status) != 0) return errno_failure(path + ": fstat");
  if (!is_roots(fd, status, path)) {
    const Namespace& space = our_namespace();
    const bool unknown = space.without_root && has_no_number(fd, status.st_uid, space);
    return failure(Errc::refused, path + ": owned by user " + std::to_string(status.st_uid) + ", not by root" +
                                      (unknown ? kRootlessHint : ""));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return failure(Errc::refused, path + ": writable by group or others (chmod go-w)");
  return {};
}

bool is_rootless() { return ::geteuid() != 0 || our_namespace().without_root; }

}  // namespace seccompress::bundle
