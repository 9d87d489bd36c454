// SPDX-License-Identifier: Apache-2.0
// One concrete call as a person reads it.
#pragma once

#include <string>

#include "abi/word.h"

namespace seccompress::abi {

// "x86_64 openat(0xffffff9c, 0, 0x80000)": trailing zero arguments are left out; the instruction pointer is
// named only when it is not 0 ("... at ip 0x7f00"). Numbers below 10 in decimal, the others in hex.
std::string call_text(const SeccompData& data);

}  // namespace seccompress::abi
