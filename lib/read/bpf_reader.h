// SPDX-License-Identifier: Apache-2.0
// Raw struct sock_filter[] in this machine's byte order, as one file or as a folder of *.bpf files.
#pragma once

#include <string>
#include <string_view>

#include "read/reader.h"

namespace seccompress::read {

inline constexpr std::size_t kMaxFilters = 4096;  // more than the kernel chains (kMaxChainLength / 5)

// The filter must be one that the kernel accepts. Errors: Errc::reported.
Result<std::vector<NamedFilter>> read_bpf(std::string_view bytes, const std::string& name, Diagnostics& diagnostics);
// Every regular *.bpf file of the folder, in byte order of the names, the first one the oldest.
Result<std::vector<NamedFilter>> read_folder(const std::string& folder, Diagnostics& diagnostics);

}  // namespace seccompress::read
