// SPDX-License-Identifier: Apache-2.0
// Input: a folder's path, a label, a receipt. Output: the receipt again, or why what is there is not believed. Entry
// points: Cache::store, Cache::load.
// Method: the folder is opened once, from / down without links, and looked at as a descriptor: root's, mode 0700. What
// is in it is read and written as entry.cc says: beside, fsync, rename, under a lock on the folder. Who is killed
// leaves at most the file `new`, which the next writer takes away; a reader never opens it. Reading takes no lock: what
// it opened stays what it is. Weakness: a label's entry can be removed between a reader's two steps; it looks again
// once.
#include "receipt/cache.h"

#include <sys/file.h>
#include <unistd.h>

#include "bundle/trusted_file.h"
#include "receipt/entry.h"
#include "support/sha256.h"

namespace seccompress::receipt {
namespace {

constexpr std::size_t kMaxEntryBytes = std::size_t{4} << 20;
constexpr std::size_t kLabelBytes = kHashDigits + 1;
constexpr mode_t kFolderMode = 0700;

bool is_label(std::string_view text) {
  return text.size() == kLabelBytes && text.back() == '\n' && text.find_first_not_of("0123456789abcdef") == kHashDigits;
}

Result<std::string> read_label(int folder, const std::string& label, const std::string& path) {
  TRY_ASSIGN(std::string name, read_entry(folder, label, path, kLabelBytes));
  if (!is_label(name)) return failure(Errc::malformed, path + ": names no receipt");
  name.resize(kHashDigits);
  return name;
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
  TRY(put(folder, name, path + name, to_bytes(inputs, about, code), Keep::durable));
  Result<void> done = named ? Result<void>() : put(folder, label, path + label, name + "\n", Keep::durable);
  if (!done) ::unlinkat(folder, name.c_str(), 0);
  if (done && ::fsync(folder) != 0) done = errno_failure(folder_ + ": fsync");
  if (done && !named && before) ::unlinkat(folder, before->c_str(), 0);
  return done;
}

Found Cache::load(const std::string& label) const {
  const Result<UniqueFd> folder = open_folder(folder_);
  if (!folder) return {std::nullopt, is_not_for_us(folder.error()) ? "" : to_string(folder.error())};
  Result<Receipt> receipt = failure(Errc::refused, "");
  for (int look = 0; look < 2; ++look) {
    const Result<std::string> name = read_label(folder->get(), label, folder_ + "/" + label);
    if (!name) return {std::nullopt, is_gone(name.error()) ? "" : to_string(name.error())};
    receipt = read_named(folder->get(), *name, folder_ + "/" + *name, kMaxEntryBytes);
    if (receipt) return {std::move(*receipt), {}};
    if (!is_gone(receipt.error())) break;
  }
  return {std::nullopt, to_string(receipt.error())};
}

}  // namespace seccompress::receipt
