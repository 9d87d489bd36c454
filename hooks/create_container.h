// SPDX-License-Identifier: Apache-2.0
// The route by crun's createContainer stage: the container's init has a file open from which it will install its
// program, and so will every later exec session. Who may take this route, and with which file and flags.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bundle/config.h"
#include "bundle/state.h"
#include "install/identity.h"
#include "install/program_file.h"

namespace seccompress::hooks {

// Would that entry run this very executable with this configuration?
bool is_this_hook(const bundle::RegisteredHook& hook, const std::string& settings_path);
bool is_registered(const bundle::Config& config, bool inside, const std::string& settings_path);

// For the createRuntime call under crun: does the createContainer call that follows serve this container?
struct HandOver {
  std::string obstacle;    // "" when it does
  bool registered = true;  // false: and nobody expects it to
};
HandOver hand_over(const install::Identity& init, const bundle::State& state, const std::string& settings_path);

// For the createContainer call: the file to rewrite. Errors say what to register instead.
Result<install::ProgramFile> program_file(const install::Identity& init, const std::string& container, bool unconfined);

// The flags with which crun will install: nobody can change them here. `changes_speculation`: does SPEC_ALLOW have an
// effect on this kernel? Errors: Errc::refused when keeping the flags would be weaker than merging them.
Result<std::uint32_t> fixed_flags(std::uint32_t container, const std::vector<std::uint32_t>& host,
                                  bool (*changes_speculation)(), std::vector<std::string>& notes);

}  // namespace seccompress::hooks
