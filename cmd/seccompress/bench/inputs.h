// SPDX-License-Identifier: Apache-2.0
// What is measured: stacks and their flat programs. The built-in ones are compiled in, so that figures of two machines
// are about the same filters.
#pragma once

#include <string>
#include <vector>

#include "bench/trials.h"
#include "session.h"

namespace seccompress::cmd {

struct BenchSubject {
  std::vector<program::Code> filters;  // oldest first, unflattened; a policy as our own program for it alone
  std::vector<program::VerifiedProgram> stack, flat;  // the same as install takes it; the one program
};

// The layers as typed; none: the filters of a hardened service (profiles/strict-service.conf) under
// those of a container (profiles/container-default.json).
Result<BenchSubject> stack_subject(Session& session, const std::vector<std::string>& layers);

enum class LoopRules : char {
  as_they_are,  // the measured calls are always allowed: the kernel's cache answers them
  checked,      // an argument of each decides: every filter runs, as before Linux 5.11
};
// `copies` of the container profile.
Result<BenchSubject> copies_subject(Session& session, LoopRules rules, std::size_t copies);

// The first `count` of them.
std::vector<program::VerifiedProgram> first(const std::vector<program::VerifiedProgram>& filters, std::size_t count);

// The container profile's rules.
Result<policy::Policy> container_policy(const PipelineOptions& options);

// Host layers for containers, as filters. lenient: without the service's SystemCallFilter=, which refuses what a
// runtime needs to drop privileges once it has installed a filter (only with no_new_privs it comes later).
struct HookLayers {
  std::vector<program::Code> strict, lenient;
};
// Both are the layers as typed, when there are any.
Result<HookLayers> hook_layers(Session& session, const std::vector<std::string>& layers);

// test/regression/snap-template.json as one program.
Result<program::Code> flat_snap_template(const PipelineOptions& options);

}  // namespace seccompress::cmd
