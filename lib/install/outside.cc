// SPDX-License-Identifier: Apache-2.0
// Input: the container's init. Output: the runtime's root as our own. Entry point: look_from_outside.
// Method: chroot(2) to /proc/RUNTIME/root. The runtime (init's parent) waits in the mount namespace in which it was
// started, and the container's mounts were made in another one. A lookup that begins at a descriptor of a mount stays
// in that mount's namespace. Weakness: /proc itself is still the container's view when this begins, hence check_proc().
#include "install/outside.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "support/file.h"
#include "support/unique_fd.h"

namespace seccompress::install {
namespace {

constexpr std::size_t kMountsLimit = std::size_t{16} << 20;
constexpr std::size_t kMountPointField = 4;

Result<std::vector<std::string>> own_mount_points() {
  constexpr const char* kPath = "/proc/self/mountinfo";
  const UniqueFd fd(::open(kPath, O_RDONLY | O_CLOEXEC));
  struct ::statfs system {};
  if (!fd || ::fstatfs(fd.get(), &system) != 0) return errno_failure(kPath);
  if (system.f_type != PROC_SUPER_MAGIC) return failure(Errc::refused, std::string(kPath) + ": is not of procfs");
  TRY_ASSIGN(const std::string text, read_fd(fd.get(), kPath, kMountsLimit));
  return mount_points(text);
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// "\040" for a blank, as seq_path() writes it.
std::string unescaped(std::string_view word) {
  std::string text;
  while (!word.empty()) {
    const bool escape =
        word.size() >= 4 && word[0] == '\\' && std::all_of(word.begin() + 1, word.begin() + 4, is_octal);
    text += escape ? static_cast<char>((word[1] - '0') * 64 + (word[2] - '0') * 8 + (word[3] - '0')) : word[0];
    word.remove_prefix(escape ? 4 : 1);
  }
  return text;
}

std::string_view field(std::string_view line, std::size_t number) {
  for (; number > 0; --number) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
  return line.substr(0, line.find(' '));
}

bool same(const struct ::stat& left, const struct ::stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

bool in_our_mount_namespace(pid_t pid) {
  struct ::stat theirs {
  }, ours{};
  return ::stat(("/proc/" + std::to_string(pid) + "/ns/mnt").c_str(), &theirs) != 0 ||
         ::stat("/proc/self/ns/mnt", &ours) != 0 || same(theirs, ours);
}

}  // namespace

std::vector<std::string> mount_points(std::string_view mountinfo) {
  std::vector<std::string> points;
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(mountinfo.size(), line.size() + 1));
    if (!line.empty()) points.push_back(unescaped(field(line, kMountPointField)));
  }
  return points;
}

Result<void> check_proc() {
  TRY_ASSIGN(const std::vector<std::string> points, own_mount_points());
  for (const std::string& point : points)
    if (point.starts_with("/proc/") && point.size() > 6 && point[6] >= '0' && point[6] <= '9')
      return failure(Errc::refused, point + ": something is mounted there, so /proc says what somebody else wants");
  return {};
}

bool is_mounted_over(std::string_view path) {
  const auto points = own_mount_points();
  return !points || std::any_of(points->begin(), points->end(), [&](const std::string& point) {
    return point != "/" && path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
  });
}

bool leads_through(const std::string& path, const std::string& folder) {
  struct ::stat wanted {};
  if (real_path(path) != path || ::stat(folder.c_str(), &wanted) != 0) return true;
  for (std::string part = path; !part.empty(); part.resize(part.rfind('/'))) {
    struct ::stat here {};
    if (::stat(part.c_str(), &here) != 0 || same(here, wanted)) return true;
  }
  struct ::stat root {};
  return ::stat("/", &root) != 0 || same(root, wanted);
}

Result<void> look_from_outside(const Identity& init) {
  const pid_t runtime = parent_of(init);
  if (runtime <= 0) return failure(Errc::refused, "the runtime that started init is not to be seen in /proc");
  if (in_our_mount_namespace(runtime))
    return failure(
        Errc::refused,
        "the container has no mount namespace of its own: what is mounted for it may lie over the host's files");
  const std::string path = "/proc/" + std::to_string(runtime) + "/root";
  const UniqueFd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return errno_failure(path);
  if (parent_of(init) != runtime) return failure(Errc::refused, "the runtime that started init went away");
  TRY(still_the_same(init));
  if (::fchdir(root.get()) != 0) return errno_failure(path + ": fchdir");
  if (::chroot(".") != 0) return errno_failure(path + ": chroot");
  return {};
}

}  // namespace seccompress::install
