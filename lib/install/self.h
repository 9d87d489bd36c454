// SPDX-License-Identifier: Apache-2.0
// Installs a proved program on the calling thread.
#pragma once

#include "program/verified_program.h"
#include "support/result.h"

namespace seccompress::install {

// CAP_SYS_ADMIN in this process's own user namespace: with it the kernel asks for no no_new_privs.
bool has_cap_sys_admin();
// CAP_SYS_PTRACE in there: without it no runtime's init, which is not dumpable, can be traced.
bool has_cap_sys_ptrace();

// flags: SECCOMP_FILTER_FLAG_*. Without any, prctl(PR_SET_SECCOMP) is used: services refuse seccomp(2) more often than
// that. The error says which call was refused and why that is likely.
Result<void> install_on_self(const program::VerifiedProgram& program, bool set_no_new_privs, unsigned flags);

}  // namespace seccompress::install
