// SPDX-License-Identifier: Apache-2.0
// Where receipts are kept: one folder of root's, an entry a receipt, a label an entry's name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "receipt/receipt.h"
#include "support/unique_fd.h"

namespace seccompress::receipt {

inline constexpr char kCacheFolder[] = "/var/cache/seccompress";

// What was found under a label. `bad`: there is something, and it cannot be believed; the next store replaces it.
struct Found {
  std::optional<Receipt> value;
  std::string bad;
};

// The right to write, of one process at a time. Held from before the inputs are read, so that of two preparations the
// one that looked last is the one that stays.
class Lock {
 private:
  friend class Cache;
  explicit Lock(UniqueFd folder) : folder_(std::move(folder)) {}
  UniqueFd folder_;
};

enum class Wait { yes, no };

class Cache {
 public:
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  // Makes the folder when it is not there. Wait::no: Errc::refused when somebody else holds it.
  Result<Lock> lock(Wait wait) const;
  // Writes an entry and lets `label` name it from then on. What the label named before is removed. All or nothing.
  Result<void> store(const Lock& lock, const std::string& label, std::string_view inputs, std::string_view about,
                     program::CodeView code) const;
  Found load(const std::string& label) const;

 private:
  std::string folder_;
};

}  // namespace seccompress::receipt
