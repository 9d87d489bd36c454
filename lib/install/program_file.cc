// SPDX-License-Identifier: Apache-2.0
// Input: a container's init that waits for its createContainer hook, a proved program. Output: the program in crun's
// seccomp.bpf. Entry points: ProgramFile::find, read, replace.
//
// What crun does with the file (1.8.1, by strace and src/libcrun/seccomp.c): the parent opens it O_RDWR|O_CREAT before
// it forks init, which inherits the descriptor; after the createRuntime hooks the parent writes its program at offset
// 0; init seeks to 0 and reads to the end (read(2), no mapping) when it installs: without no_new_privs right after the
// createContainer hooks, with it at `start`, which may be days later. `crun exec` opens it again by name. So the bytes
// have to change in this inode: a file renamed over it would reach exec sessions alone.
//
// Method. Space first (posix_fallocate: a full disk shows before anything is lost). Then the first instruction becomes
// one that no kernel accepts, all others are written, the size is set, everything is read back, and the first
// instruction follows in one write of eight bytes: whenever this process dies, and whoever reads meanwhile, there is
// the old program, the new one, or one that seccomp(2) answers with EINVAL. fdatasync(2) before and after (nothing on
// a tmpfs): a write that the disk refuses later must not give exec sessions the old program back.
// Weaknesses: whoever can write root's file while this runs can do so afterwards too; changes between read and write
// are seen, later ones are not. crun's file name and descriptor are its internals.
#include "install/program_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "install/fault_point.h"
#include "support/sha256.h"

namespace seccompress::install {
namespace {

constexpr std::string_view kName = "/seccomp.bpf";
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::size_t kInstructionBytes = sizeof(program::Instruction);
constexpr std::size_t kMaxBytes = program::kMaxInstructions * kInstructionBytes;
constexpr std::size_t kMaxDescriptors = 4096;
constexpr char kAttribute[] = "trusted.seccompress";
// net/core/filter.c chk_code_allowed: no such code.
constexpr std::string_view kNoInstruction("\xff\xff\xff\xff\xff\xff\xff\xff", kInstructionBytes);

std::string link_target(const std::string& path) {
  std::array<char, 4096> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size <= 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

// /proc/PID/fd/N of the descriptors whose file has the name that crun gives it.
Result<std::vector<std::string>> descriptors(pid_t pid, std::string_view container) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return errno_failure(folder);
  const std::string ending = "/" + std::string(container) + std::string(kName);
  std::vector<std::string> found;
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (++count > kMaxDescriptors) return failure(Errc::budget, folder + ": too many descriptors");
    const std::string path = folder + "/" + entry->d_name, target = link_target(path);
    if (target.ends_with(ending)) found.push_back(path);
    if (target.ends_with(ending + std::string(kDeleted)))
      return failure(Errc::refused, target + ": the program that init will install has no name any more");
  }
  return found;
}

struct Opened {
  UniqueFd fd;
  struct ::stat status {};
};

// Looked at before it is opened: opening a device could do something. O_NONBLOCK: or a FIFO wait.
Result<Opened> open_regular(const std::string& path, const std::string& name) {
  Opened opened;
  const auto not_regular = [&] { return failure(Errc::refused, name + ": not a regular file"); };
  if (::stat(path.c_str(), &opened.status) != 0) return errno_failure(name);
  if (!S_ISREG(opened.status.st_mode)) return not_regular();
  opened.fd.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened.fd) return errno_failure(name);
  if (::fstat(opened.fd.get(), &opened.status) != 0) return errno_failure(name);
  if (!S_ISREG(opened.status.st_mode)) return not_regular();
  return opened;
}

}  // namespace

ProgramFile::ProgramFile(std::string path, UniqueFd fd, const struct ::stat& status)
    : path_(std::move(path)), fd_(std::move(fd)), device_(status.st_dev), inode_(status.st_ino) {}

Result<std::optional<ProgramFile>> ProgramFile::find(const Identity& init, std::string_view container) {
  TRY_ASSIGN(const std::vector<std::string> found, descriptors(init.pid, container));
  std::optional<ProgramFile> file;
  for (const std::string& path : found) {
    const std::string name = link_target(path);
    TRY_ASSIGN(Opened opened, open_regular(path, name));
    if (file && (file->device_ != opened.status.st_dev || file->inode_ != opened.status.st_ino))
      return failure(Errc::refused, "init has two files that could be its program: " + file->path_ + " and " + name);
    if (!file) file = ProgramFile(name, std::move(opened.fd), opened.status);
  }
  if (file) TRY(file->check_name());
  return file;
}

Result<struct ::stat> ProgramFile::status() const {
  struct ::stat status {};
  if (::fstat(fd_.get(), &status) != 0) return errno_failure(path_ + ": fstat");
  return status;
}

// `crun exec` will open it by this name.
Result<void> ProgramFile::check_name() const {
  struct ::stat named {};
  if (::lstat(path_.c_str(), &named) != 0) return errno_failure(path_);
  if (S_ISLNK(named.st_mode)) return failure(Errc::refused, path_ + ": is a symbolic link");
  if (named.st_dev != device_ || named.st_ino != inode_)
    return failure(Errc::refused, path_ + ": is not the file that init will install from");
  return {};
}

Result<bool> ProgramFile::shared() const {
  TRY_ASSIGN(const struct ::stat now, status());
  return now.st_nlink > 1;
}

Result<std::string> ProgramFile::bytes(std::size_t size) const {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = ::pread(fd_.get(), bytes.data() + at, size - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_failure(path_);
    if (got == 0) return failure(Errc::refused, path_ + ": became shorter while it was read");
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<program::Code> ProgramFile::read() {
  TRY_ASSIGN(const struct ::stat now, status());
  if (now.st_size == 0) return failure(Errc::malformed, path_ + ": empty: crun has not written its program");
  if (static_cast<std::uint64_t>(now.st_size) > kMaxBytes)
    return failure(Errc::budget, path_ + ": larger than the " + std::to_string(program::kMaxInstructions) +
                                     " instructions that a program can have");
  TRY_ASSIGN(std::string found, bytes(static_cast<std::size_t>(now.st_size)));
  TRY_ASSIGN(program::Code code, program::from_bytes(found, path_));
  old_ = std::move(found);
  return code;
}

Result<void> ProgramFile::expect(std::string_view expected) const {
  TRY_ASSIGN(const struct ::stat now, status());
  const auto changed = [&] { return failure(Errc::refused, path_ + ": somebody else changed it meanwhile"); };
  if (static_cast<std::uint64_t>(now.st_size) != expected.size()) return changed();
  TRY_ASSIGN(const std::string found, bytes(expected.size()));
  if (found != expected) return changed();
  if (now.st_nlink != 1)
    return failure(Errc::refused, path_ + ": has " + std::to_string(now.st_nlink) + " names: others share it");
  return check_name();
}

Result<void> ProgramFile::write_at(std::string_view bytes, std::size_t offset) const {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_failure(path_);
    if (written == 0) return failure(std::make_error_code(std::errc::io_error), path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> ProgramFile::sync() const {
  if (::fdatasync(fd_.get()) != 0) return errno_failure(path_ + ": fdatasync");
  return {};
}

// All but the first instruction.
Result<void> ProgramFile::fill(std::string_view bytes) {
  TRY(write_at(bytes.substr(kInstructionBytes), kInstructionBytes));
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes.size())) != 0) return errno_failure(path_ + ": ftruncate");
  TRY(sync());
  return expect(std::string(kNoInstruction) + std::string(bytes.substr(kInstructionBytes)));
}

Result<void> ProgramFile::put(std::string_view bytes) {
  spoilt_ = true;
  TRY(write_at(kNoInstruction, 0));
  fault_point("file-spoilt");
  TRY(fill(bytes));
  fault_point("file-filled");
  Result<void> done = write_at(bytes.substr(0, kInstructionBytes), 0);
  if (done) done = sync();
  if (done) done = expect(bytes);
  if (!done) {
    (void)write_at(kNoInstruction, 0);
    return done;
  }
  spoilt_ = false;
  return {};
}

Result<void> ProgramFile::replace(const program::VerifiedProgram& program) {
  const std::string bytes = program::to_bytes(program.view());
  TRY(expect(old_));
  if (bytes.size() > old_.size()) {
    const int error = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(bytes.size()));
    if (error != 0) {
      // It may have grown before it failed; the kernel would refuse a longer program, but it shall be crun's own.
      if (::ftruncate(fd_.get(), static_cast<off_t>(old_.size())) != 0) spoilt_ = true;
      return failure({error, std::generic_category()}, path_ + ": no room for the merged program");
    }
  }
  fault_point("file-grown");
  TRY(put(bytes));
  fault_point("file-written");
  return {};
}

Result<void> ProgramFile::restore() { return spoilt_ ? put(old_) : Result<void>(); }

std::string ProgramFile::author() const {
  std::array<char, 256> text{};
  const ssize_t size = ::fgetxattr(fd_.get(), kAttribute, text.data(), text.size());
  const Result<struct ::stat> now = status();
  if (size <= 0 || !now || static_cast<std::uint64_t>(now->st_size) > kMaxBytes) return {};
  const std::string_view value(text.data(), static_cast<std::size_t>(size));
  const Result<std::string> found = bytes(static_cast<std::size_t>(now->st_size));
  const std::size_t colon = value.find(':');
  if (!found || colon == std::string_view::npos || value.substr(colon + 1) != sha256(*found)) return {};
  return std::string(value.substr(0, colon));
}

void ProgramFile::sign(std::string_view author) const {
  const Result<struct ::stat> now = status();
  if (!now || static_cast<std::uint64_t>(now->st_size) > kMaxBytes) return;
  const Result<std::string> found = bytes(static_cast<std::size_t>(now->st_size));
  if (!found) return;
  const std::string value = std::string(author) + ":" + sha256(*found);
  (void)::fsetxattr(fd_.get(), kAttribute, value.data(), value.size(), 0);  // without it a second call merges again
}

}  // namespace seccompress::install
