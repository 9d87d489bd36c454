// SPDX-License-Identifier: Apache-2.0
// The smallest exact stack: one program where one can hold the layers, else as few as it takes, proved together.
#pragma once

#include <string>
#include <vector>

#include "pipeline.h"

namespace seccompress {

struct ExactStack {
  std::vector<program::VerifiedProgram> programs;  // oldest first
  std::string why;                                 // more than one: the reason, for a person
};

// Two reasons ask for several programs. Filters that notify a listener stay apart (kernel/seccomp.c
// init_listener: one a task, and it belongs to one filter): each becomes a program together with the filters between
// it and the next one. A function of more than 4096 instructions (BPF_MAXINSNS) is cut into ranges of its inputs.
// Errors: as flatten(); Errc::budget when kMaxPrograms do not hold it.
Result<ExactStack> flatten_to_stack(Stack& stack, const PipelineOptions& options);

// As few programs as hold one function, oldest first; not proved.
Result<std::vector<program::Code>> emit_programs(diagram::Store& store, diagram::Node node,
                                                 const emit::Options& options);

// Seven full programs convert to fewer instructions than a chain may have (MAX_INSNS_PER_PATH).
inline constexpr std::size_t kMaxPrograms = 7;

}  // namespace seccompress
