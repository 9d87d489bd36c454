// SPDX-License-Identifier: Apache-2.0
// One file of a receipts' folder, by name below the folder's descriptor.
#pragma once

#include <string>
#include <string_view>

#include "receipt/receipt.h"
#include "support/unique_fd.h"

namespace seccompress::receipt {

inline constexpr std::size_t kHashDigits = 64;

// Nothing is there, or it went away while it was looked at.
bool is_gone(const Error& error);
// Not there, or root's and none of ours: of no use to a hook that is not root's.
bool is_not_for_us(const Error& error);

// A folder of root's with mode 0700, below folders that only root can write to; the second form: one in such a folder.
Result<UniqueFd> open_folder(const std::string& path);
Result<UniqueFd> open_folder_in(int folder, const char* name, const std::string& path);

// Names are below `folder`; `path` is for messages. Errors: Errc::refused for what somebody else could have written.
Result<std::string> read_entry(int folder, const std::string& name, const std::string& path, std::size_t limit);
// The same, and it has to be a receipt whose inputs hash to its name.
Result<Receipt> read_named(int folder, const std::string& name, const std::string& path, std::size_t limit);

// durable: on the disk when this returns. Otherwise a crash of the host can leave a torn file, which no reader
// believes.
enum class Keep { durable, as_it_comes };
// Writes beside, then renames. One writer at a time: the caller holds the folder's lock.
Result<void> put(int folder, const std::string& name, const std::string& path, std::string_view bytes, Keep keep);

}  // namespace seccompress::receipt
