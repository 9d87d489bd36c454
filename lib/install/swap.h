// SPDX-License-Identifier: Apache-2.0
// The install call: recognising it (or the place where one is missing), reading what it would install, and making it
// install our program instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "install/tracee.h"
#include "program/verified_program.h"

namespace seccompress::install {

enum class CallKind : std::uint8_t {
  other,
  install_seccomp,  // seccomp(SECCOMP_SET_MODE_FILTER, flags, non-NULL)
  install_prctl,    // prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, non-NULL)
  foreign_install,  // one of them through another ABI (int 0x80, x32), which cannot be rewritten safely
};
CallKind classify(const Call& call);

// Where a container without linux.seccomp is on its way to its program.
enum class Step : std::uint8_t {
  other,
  root_change,     // pivot_root, chroot: the first of the last mount steps; earlier drops are those of a user namespace
  privilege_drop,  // PR_CAPBSET_DROP, setgroups, setresgid, setgid, setresuid, setuid, capset
  exec,            // of the container's program: hooks are executed by children
};
Step step_of(const Call& call);

// What the runtime was about to install; kind `other`: nothing, `call` is where ours can be injected.
struct Attempt {
  CallKind kind = CallKind::other;
  Call call;
  std::uint32_t flags = 0;
  std::uint64_t fprog = 0;  // addresses in the tracee
  std::uint64_t instructions = 0;
  program::Code code;
};
// nullopt: the kernel could not read it either (it answers EFAULT or EINVAL: a probe); let it pass.
std::optional<Attempt> read_attempt(const Tracee& tracee, const Call& call);

struct SwapOutcome {
  enum class Kind : std::uint8_t {
    installed,  // the kernel holds our program as the newest filter, one more than before
    retry,      // EINVAL for flags that this kernel lacks; nothing installed, the runtime's memory as it was
    failed,     // anything else: the caller kills
  };
  Kind kind = Kind::failed;
  const char* what = "";        // a literal; for `failed`
  std::int64_t value = 0;       // the kernel's return value, or an errno
  int filters = 0;              // Seccomp_filters afterwards
  bool bytes_compared = false;  // PTRACE_SECCOMP_GET_FILTER works for us and showed our bytes
};

// `tracee` is at the entry stop of `attempt`. Afterwards it is at the exit stop, its registers what they would be
// after the call of its own. scratch: kMaxInstructions instructions for the comparison.
SwapOutcome swap(Tracee& tracee, const Attempt& attempt, const program::VerifiedProgram& program, std::uint32_t flags,
                 std::span<program::Instruction> scratch);

// `tracee` is at the entry stop of `call`, which installs nothing. Afterwards the program is installed and the tracee
// is at the entry stop of the same call again, nothing of it changed.
SwapOutcome inject(Tracee& tracee, const Call& call, const program::VerifiedProgram& program, std::uint32_t flags,
                   std::span<program::Instruction> scratch);

}  // namespace seccompress::install
