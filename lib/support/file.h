// SPDX-License-Identifier: Apache-2.0
// Whole files in and out: bounded reads, all-or-nothing writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/result.h"

namespace seccompress {

// Reads a regular file, or what is piped into /dev/stdin or /dev/fd/N, of at most `limit` bytes; larger is
// Errc::budget. A named pipe, socket, device or folder is Errc::refused: reading it might never begin or never end.
Result<std::string> read_file(const std::string& path, std::size_t limit);
Result<std::string> read_fd(int fd, const std::string& name, std::size_t limit);
Result<void> write_fd(int fd, const std::string& name, std::string_view bytes);

// The path without links; "" with errno set when nothing is there. realpath(3).
std::string real_path(const std::string& path);

// Writes beside the target (same directory), fsyncs, renames over it: a reader sees the old file or the
// whole new one, and a failure leaves nothing behind. A link is followed; a target that is no regular file (a device,
// a folder, a pipe) is refused. mode is applied exactly (umask ignored).
Result<void> write_file_atomically(const std::string& path, std::string_view bytes, unsigned mode = 0644);

}  // namespace seccompress
