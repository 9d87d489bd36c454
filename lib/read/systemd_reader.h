// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "read/reader.h"

namespace seccompress::read {

inline constexpr std::size_t kMaxDropIns = 256;

// The filters of a unit: its text, then the texts of its drop-ins in the order of their names.
Result<std::vector<NamedPolicy>> read_systemd(std::string_view text, const std::string& path,
                                              std::span<const NamedText> drop_ins, const Options& options,
                                              Diagnostics& diagnostics);
// PATH.d/*.conf, in the order in which systemd reads them; none when there is no such folder.
Result<std::vector<NamedText>> read_drop_ins(const std::string& path, Diagnostics& diagnostics);

// By its name or by a section that only units have.
bool looks_like_unit(std::string_view path, std::string_view text);

}  // namespace seccompress::read
