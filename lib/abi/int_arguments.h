// SPDX-License-Identifier: Apache-2.0
// Which arguments the kernel takes as 32-bit integers although a filter sees 64 bits.
#pragma once

#include <string_view>

namespace seccompress::abi {

// False also for calls that the table (int_arguments.def) does not have.
bool is_int_argument(std::string_view syscall, unsigned index);

}  // namespace seccompress::abi
