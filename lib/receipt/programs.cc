// SPDX-License-Identifier: Apache-2.0
// Input: what a program is made of, as one text. Output: the program as it was proved, or nothing. Entry points:
// Programs::find, Programs::keep.
// Method: an entry is named by the SHA-256 of its inputs and has them inside, under its checksum; one is only a hit
// when they are the inputs asked for, byte for byte. What else makes an entry believable is entry.cc's. Writers hold a
// lock on the folder, and who does not get it at once writes nothing. No fsync: a container's start does not wait for a
// disk, and a torn entry fails its checksum. Weakness: the oldest goes first, not the least used: a program that is
// always in use is made anew after 64 others.
#include "receipt/programs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "receipt/entry.h"
#include "support/sha256.h"

namespace seccompress::receipt {
namespace {

constexpr char kFolder[] = "merged";  // no label and no hash: Cache never looks at it
constexpr std::size_t kMaxBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxNames = 4096;
constexpr mode_t kFolderMode = 0700;

struct Kept {
  std::string name;
  std::int64_t seconds = 0, nanoseconds = 0;
  std::size_t bytes = 0;
};

bool is_entry_name(std::string_view name) {
  return name.size() == kHashDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Entries, oldest first. What has no entry's name is not ours.
Result<std::vector<Kept>> list(int folder, const std::string& path) {
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return errno_failure(path);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), ::closedir);
  if (stream == nullptr) return errno_failure(path + ": opendir");
  again.release();  // the DIR owns it now
  std::vector<Kept> all;
  while (const dirent* entry = ::readdir(stream.get())) {
    struct ::stat status {};
    if (!is_entry_name(entry->d_name) || ::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (all.size() == kMaxNames)
      return failure(Errc::budget, path + ": more than " + std::to_string(kMaxNames) + " entries");
    all.push_back(
        {entry->d_name, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, static_cast<std::size_t>(status.st_size)});
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.seconds, a.nanoseconds, a.name) < std::tie(b.seconds, b.nanoseconds, b.name);
  });
  return all;
}

void remove(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) != 0 && errno == EISDIR) ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
}

// Before the new one is written, so that the bounds hold at every moment and a full disk has room again.
Result<void> make_room(int folder, const std::string& path, const std::string& name, std::size_t bytes) {
  remove(folder, name);
  TRY_ASSIGN(const std::vector<Kept> all, list(folder, path));
  std::size_t left = all.size(), sum = bytes;
  for (const Kept& one : all) sum += one.bytes;
  for (const Kept& one : all) {
    if (left < kMaxKeptPrograms && sum <= kMaxKeptBytes) return {};
    remove(folder, one.name);
    --left;
    sum -= one.bytes;
  }
  return {};
}

Result<UniqueFd> open_or_make(int receipts, const std::string& path) {
  Result<UniqueFd> folder = open_folder_in(receipts, kFolder, path);
  if (folder || !is_gone(folder.error())) return folder;
  if (::mkdirat(receipts, kFolder, kFolderMode) != 0 && errno != EEXIST) return errno_failure(path + ": mkdir");
  if (::fchmodat(receipts, kFolder, kFolderMode, 0) != 0) return errno_failure(path + ": chmod");  // whatever the umask
  return open_folder_in(receipts, kFolder, path);
}

FoundProgram nothing(const Error& error, FoundProgram::State when_gone, FoundProgram::State otherwise) {
  return is_not_for_us(error) ? FoundProgram{when_gone, {}, {}} : FoundProgram{otherwise, to_string(error), {}};
}

}  // namespace

FoundProgram Programs::find(std::string_view inputs) const {
  using State = FoundProgram::State;
  const Result<UniqueFd> receipts = open_folder(receipts_);
  if (!receipts) return nothing(receipts.error(), State::off, State::off);
  const std::string path = receipts_ + "/" + kFolder, name = sha256(inputs);
  const Result<UniqueFd> folder = open_folder_in(receipts->get(), kFolder, path);
  if (!folder) return nothing(folder.error(), State::miss, State::off);
  Result<Receipt> receipt = read_named(folder->get(), name, path + "/" + name, kMaxBytes);
  if (!receipt) return nothing(receipt.error(), State::miss, State::bad);
  if (receipt->inputs != inputs) return {State::bad, path + "/" + name + ": is of other inputs", {}};
  return {State::hit, {}, std::move(*receipt)};
}

Result<bool> Programs::keep(std::string_view inputs, std::string_view about, program::CodeView code) const {
  const std::string bytes = to_bytes(inputs, about, code), path = receipts_ + "/" + kFolder, name = sha256(inputs);
  if (bytes.size() > kMaxBytes) return failure(Errc::budget, path + ": the entry would be too large");
  TRY_ASSIGN(const UniqueFd receipts, open_folder(receipts_));
  TRY_ASSIGN(const UniqueFd folder, open_or_make(receipts.get(), path));
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? Result<bool>(false) : Result<bool>(errno_failure(path + ": flock"));
  TRY(make_room(folder.get(), path, name, bytes.size()));
  TRY(put(folder.get(), name, path + "/" + name, bytes, Keep::as_it_comes));
  return true;
}

}  // namespace seccompress::receipt
