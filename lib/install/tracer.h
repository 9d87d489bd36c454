// SPDX-License-Identifier: Apache-2.0
// The process that waits for the container's install call and swaps the program.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "install/identity.h"
#include "install/swap.h"
#include "program/verified_program.h"
#include "support/result.h"

namespace seccompress::install {

// What to do with one install call.
struct Decision {
  enum class Kind : std::uint8_t {
    install,      // put `program` in its place
    let_through,  // leave the runtime's own (observing, or on_failure: runtime-profile)
    refuse,       // end the container
  };
  Kind kind = Kind::refuse;
  std::optional<program::VerifiedProgram> program;  // for install
  std::uint32_t flags = 0;
  std::string why;  // for refuse
};

// How the start of a container ended. For the report; made after detach or kill.
struct Ending {
  enum class Kind : std::uint8_t { installed, let_through, killed, ended };
  Kind kind = Kind::killed;
  std::string why;              // killed, ended
  unsigned stops = 0;           // system call stops on the way
  int filters = 0;              // Seccomp_filters at the end
  bool bytes_compared = false;  // the kernel showed the program back
  double milliseconds = 0;      // from armed to detach
};

struct Job {
  Identity identity;
  std::string mark;  // comm of the tracer, at most 15 bytes: what a second call of the hook recognises
  std::chrono::milliseconds timeout{};
  bool no_new_privs = false;
  bool inject = false;   // the container has no profile: there will be no install call to swap
  bool observe = false;  // nothing is changed and nothing is killed
  std::function<Decision(const Attempt&)> decide;  // while the tracee waits at its install call, or where ours goes in
  std::function<void(const Ending&)> report;
};

// Forks the tracer and returns once it is armed: the tracee is seized and cannot run on without it. On an error
// the tracer is gone and, unless observing, the tracee with it. The child never returns.
Result<pid_t> start_tracer(Job job);

}  // namespace seccompress::install
