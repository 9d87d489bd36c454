// SPDX-License-Identifier: Apache-2.0
// What the running kernel answers under a program: a forked child installs it with every verdict mapped to an
// errno of its own, so that nothing runs, and makes the calls. x86_64 only (native, x32 numbers and i386).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

namespace seccompress::test {

// Can this machine make such calls at all? The text says why not.
std::optional<std::string> kernel_executor_missing();

// nullopt: a call that cannot be made (another architecture, i386 arguments above 32 bits, no i386 support).
using KernelAnswers = std::vector<std::optional<abi::Verdict>>;
// Programs with RET A are refused (their verdicts cannot be mapped).
Result<KernelAnswers> ask_kernel(program::CodeView code, std::span<const abi::SeccompData> calls);

}  // namespace seccompress::test
