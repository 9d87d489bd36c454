// SPDX-License-Identifier: Apache-2.0
// A call as typed: SYSCALL [ARG...], and what stands after "--".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "abi/arch.h"
#include "explain/regions.h"
#include "support/result.h"

namespace seccompress::cmd {

// Takes everything from the first "--" on out of argv; what followed it. nullopt: there was none.
std::optional<std::vector<std::string>> take_after_dashes(int& argc, char** argv);

// "x86_64", "i386", "x32", ...; empty: `otherwise`.
Result<abi::Arch> parse_call_arch(const std::string& name, abi::Arch otherwise);
// By name or number; x32 numbers with or without their bit 30.
Result<std::uint32_t> parse_syscall(const std::string& text, abi::Arch arch);
// Arguments in decimal, hexadecimal (0x) or negative; "_" for one that is not given.
Result<explain::PartialCall> parse_call(const std::vector<std::string>& words, abi::Arch arch);

}  // namespace seccompress::cmd
