// SPDX-License-Identifier: Apache-2.0
// What the running kernel answers under a STACK of filters, stacking included, with nothing executed.
//
// A verdict cannot simply become an errno of its own: the kernel's precedence among the filters would be lost.
// So the calls are made once for each kind of action that occurs: verdicts of that action become errnos of their
// own, stricter ones TRAP (SIGSYS), laxer ones TRACE (a stop; the tracer then skips the call). A child makes the
// calls, its parent traces it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

namespace seccompress::test {

// Why this machine cannot do it; nullopt when it can. x86_64 only.
std::optional<std::string> traced_stack_missing();

// One verdict a call, as interpret_stack would give (normalized). Calls are x86_64 ones, x32 numbers included.
// Errors: RET A, more verdicts than errnos, or the kernel's refusal.
Result<std::vector<abi::Verdict>> ask_kernel_stack(std::span<const program::Code> oldest_first,
                                                   std::span<const abi::SeccompData> calls);

}  // namespace seccompress::test
