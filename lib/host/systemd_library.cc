// SPDX-License-Identifier: Apache-2.0
// Input: the folders of systemd's private libraries. Output: the version. Entry points: find_systemd_libraries,
// choose_by_library.
// Names (systemd's meson.build: 'systemd-shared-' + shared_lib_tag, by default the project's version): Debian and
// Ubuntu keep the default, "libsystemd-shared-252.so"; Fedora, RHEL, Azure Linux and Arch give
// -Dshared-lib-tag=VERSION-RELEASE (systemd issue 21774): "libsystemd-shared-255-33.azl3.so", "...-257.5-1.so".
// Folders: rootpkglibdir (systemd issue 23585), which is /usr/lib64/systemd or Debian's /usr/lib/TRIPLET/systemd, and
// before systemd 252 rootlibexecdir, /usr/lib/systemd or /lib/systemd.
// Weaknesses: a systemd that was linked without the library, or that lies elsewhere (Nix), is not found; groups that a
// distribution patched do not show. Both are what `host_facts:` is for.
#include "host/systemd_library.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "support/file.h"

namespace seccompress::host {
namespace {

constexpr std::string_view kPrefix = "libsystemd-shared-", kSuffix = ".so";
constexpr unsigned kMaxVersion = 9999;
constexpr std::size_t kMaxEntries = 65536, kMaxLibraries = 64;

#if defined(__x86_64__)
constexpr char kTriplet[] = "x86_64-linux-gnu";
#elif defined(__aarch64__)
constexpr char kTriplet[] = "aarch64-linux-gnu";
#elif defined(__riscv)
constexpr char kTriplet[] = "riscv64-linux-gnu";
#elif defined(__powerpc64__)
constexpr char kTriplet[] = "powerpc64le-linux-gnu";
#elif defined(__s390x__)
constexpr char kTriplet[] = "s390x-linux-gnu";
#else
constexpr char kTriplet[] = "";
#endif

constexpr std::array<std::string_view, 3> kBases = {"/usr/lib", "/usr/lib64", "/lib"};

constexpr char kRemedy[] =
    "; write its facts with `seccompress prepare --write-host-facts FILE` and name FILE as `host_facts:`, or list "
    "`dir:` layers dumped from the live service";

bool is_library(std::string_view name) { return name.starts_with(kPrefix) && name.ends_with(kSuffix); }

// Each folder once, without links: on most hosts /lib is one.
std::vector<std::string> folders(const std::string& root) {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& folder) {
    const std::string real = real_path(folder);
    if (!real.empty() && std::find(all.begin(), all.end(), real) == all.end()) all.push_back(real);
  };
  for (const std::string_view base : kBases) {
    add(root + std::string(base) + "/systemd");
    if (*kTriplet != '\0') add(root + std::string(base) + "/" + kTriplet + "/systemd");
  }
  return all;
}

Result<void> add_libraries(const std::string& folder, std::vector<SystemdLibrary>& libraries) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (open == nullptr && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (open == nullptr) return errno_failure(folder);
  for (std::size_t seen = 0; const dirent* entry = ::readdir(open.get()); ++seen) {
    if (seen == kMaxEntries) return failure(Errc::budget, folder + ": too many entries");
    if (!is_library(entry->d_name)) continue;
    if (libraries.size() == kMaxLibraries) return failure(Errc::budget, folder + ": too many libsystemd-shared-*.so");
    SystemdLibrary library{.path = folder + "/" + entry->d_name, .version = systemd_library_version(entry->d_name)};
    struct ::stat status {};
    if (::lstat(library.path.c_str(), &status) != 0) return errno_failure(library.path);
    library.size = static_cast<std::uint64_t>(status.st_size);
    library.mtime_seconds = status.st_mtim.tv_sec;
    library.mtime_nanoseconds = status.st_mtim.tv_nsec;
    libraries.push_back(std::move(library));
  }
  return {};
}

}  // namespace

std::optional<unsigned> systemd_library_version(std::string_view name) {
  if (!is_library(name) || name.size() <= kPrefix.size() + kSuffix.size()) return std::nullopt;
  unsigned version = 0;
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [rest, status] = std::from_chars(name.data() + kPrefix.size(), end, version);
  const bool ends = rest == end || std::string_view(".-~^_+").find(*rest) != std::string_view::npos;
  if (status != std::errc() || !ends || version == 0 || version > kMaxVersion) return std::nullopt;
  return version;
}

Result<std::vector<SystemdLibrary>> find_systemd_libraries(const std::string& root) {
  std::vector<SystemdLibrary> libraries;
  for (const std::string& folder : folders(root)) TRY(add_libraries(folder, libraries));
  std::sort(libraries.begin(), libraries.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return libraries;
}

Result<SystemdChoice> choose_by_library(const std::vector<SystemdLibrary>& libraries) {
  if (libraries.empty())
    return failure(Errc::refused,
                   std::string("which systemd this host has cannot be told, there is no libsystemd-shared-VERSION.so "
                               "in its folders") +
                       kRemedy);
  const SystemdLibrary& first = libraries.front();
  for (const SystemdLibrary& library : libraries) {
    if (!library.version)
      return failure(Errc::refused, "which systemd this host has cannot be told from " + library.path + kRemedy);
    if (*library.version != *first.version)
      return failure(Errc::refused, "which systemd this host has cannot be told, there are several: " + first.path +
                                        " and " + library.path + kRemedy);
  }
  if (*first.version > abi::kNewestSystemd)
    return failure(Errc::refused, "this host has systemd " + std::to_string(*first.version) + " (" + first.path +
                                      "), newer than " + std::to_string(abi::kNewestSystemd) +
                                      ", the newest whose groups are known" + kRemedy);
  return SystemdChoice{first.path, {*first.version, abi::shipped_systemd_table(*first.version)}};
}

}  // namespace seccompress::host
