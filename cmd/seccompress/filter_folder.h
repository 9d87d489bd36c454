// SPDX-License-Identifier: Apache-2.0
// A stack of filters as a folder that `dir:` reads: 00.bpf the oldest, 01.bpf ...
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace seccompress::cmd {

// "07.bpf": wide enough that name order is install order.
std::string filter_file_name(std::size_t index, std::size_t count);

// Made beside its place and renamed into it: the folder is there whole or not at all. files: name and bytes.
Result<void> write_filter_folder(std::string folder, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace seccompress::cmd
