// SPDX-License-Identifier: Apache-2.0
// The calls that the runtime still needs after the install, explained for a person.
#pragma once

#include <string>
#include <vector>

#include "abi/runtime_needs.h"
#include "pipeline.h"

namespace seccompress::hooks {

// Which layer and filter or rule decides `call` in the stack: "layer dir:/x (filter 03.bpf)".
std::string who_decides(const abi::SeccompData& call, const std::vector<CompiledLayer>& layers);

// From where on the runtime lives with the program: from its install call (or an injection before the privileges are
// dropped), or from the execve itself.
enum class InForce : bool { from_install, from_exec };

// One message per deciding layer and rule, with the calls it refuses and the remedy. Empty: the start works.
std::vector<std::string> unmet_messages(abi::Runtime runtime, bool no_new_privs, InForce in_force,
                                        program::CodeView code, const std::vector<CompiledLayer>& layers);

}  // namespace seccompress::hooks
