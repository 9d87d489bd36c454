// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace seccompress {
// 40 hexadecimal digits that stand for the library's sources, its tables and the tools that built it: another program
// could be made, or a receipt be read another way, only under another id. The same for all programs of one build.
std::string_view build_id();
}  // namespace seccompress
