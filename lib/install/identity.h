// SPDX-License-Identifier: Apache-2.0
// Is this pid the container's init, started by the runtime that called us?
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "abi/runtime_needs.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace seccompress::install {

// What the state's pid was found to be. The pidfd pins the process: a reused number cannot pass for it.
struct Identity {
  pid_t pid = 0;
  UniqueFd pidfd;
  std::uint64_t start_time = 0;  // field 22 of /proc/PID/stat, clock ticks since boot
  abi::Runtime runtime = abi::Runtime::runc;
  pid_t tracer = 0;        // who traces it already; 0: nobody
  unsigned inherited = 0;  // Seccomp_filters before the runtime's own
};

// The fields that matter here of /proc/PID/stat; comm may hold any byte, ')' and spaces included.
struct ProcessStat {
  std::string comm;
  char state = '?';
  pid_t parent = 0;
  std::uint64_t start_time = 0;
};
Result<ProcessStat> parse_stat(std::string_view text);
// The value of "NAME:\t123" in /proc/PID/status.
Result<std::uint64_t> status_field(std::string_view text, std::string_view name);
// "runc:[2:INIT]", "crun", and crun's name when it runs a copy of itself in memory.
Result<abi::Runtime> runtime_of_comm(std::string_view comm);

Result<ProcessStat> read_stat(pid_t pid);

// pidfd first, then: alive, not a zombie, comm of a runtime that we know, its parent an ancestor of ours.
// Errors: Errc::refused with the reason.
Result<Identity> identify(pid_t pid);
// For stages that run inside the container, where the state's pid says nothing: init is the process that called us.
// `pid` is its number in the pid namespace of /proc, which is the host's: these stages run before pivot_root. Refuses
// one that has installed a filter already (startContainer).
Result<Identity> identify_parent();
// The same process as then, and alive.
Result<void> still_the_same(const Identity& identity);

// Are we in the user namespace of the process that started the runtime's init? If not, root's files are not root's
// here, and nothing of the host's can be trusted or touched.
bool in_user_namespace_of(pid_t pid);
pid_t parent_of(const Identity& identity);  // 0: unknown

// Does `identity.tracer` run this very executable under the mark `comm` (tracer.h)?
bool traced_by_our_own(const Identity& identity, std::string_view comm);
// The same as far as it can be known from another user namespace: a tracer with a mark that begins so. Only a process
// with CAP_SYS_PTRACE over a runtime's non-dumpable init can be one.
bool traced_by_one_of_us(const Identity& identity, std::string_view comm_begin);

}  // namespace seccompress::install
