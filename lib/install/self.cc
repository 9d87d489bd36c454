// SPDX-License-Identifier: Apache-2.0
// Input: a proved program. Output: it is the newest filter of this thread. Entry: install_on_self.
// Between the installation and the return nothing is called: the program may refuse anything.
#include "install/self.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace seccompress::install {
namespace {

tl::unexpected<Error> refused(const std::string& call) {
  const int error = errno;
  std::string why;
  if (error == EACCES) why = " (it takes no_new_privs or CAP_SYS_ADMIN)";
  if (error == EPERM || error == ENOSYS) why = " (an outer filter refuses that call)";
  if (error == ENOMEM) why = " (the filters of this process together are too long)";
  return failure({error, std::generic_category()}, call + " was refused" + why);
}

bool has_capability(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

}  // namespace

bool has_cap_sys_admin() { return has_capability(CAP_SYS_ADMIN); }
bool has_cap_sys_ptrace() { return has_capability(CAP_SYS_PTRACE); }

Result<void> install_on_self(const program::VerifiedProgram& program, bool set_no_new_privs, unsigned flags) {
  if (set_no_new_privs && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("prctl(PR_SET_NO_NEW_PRIVS)");
  // The kernel only reads it. No copy: freeing one could be a call.
  const sock_fprog input{static_cast<unsigned short>(program.code().size()),
                         const_cast<sock_filter*>(program.code().data())};
  if (flags == 0) {
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &input, 0, 0) != 0) return refused("prctl(PR_SET_SECCOMP)");
  } else if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &input) != 0) {
    return refused("seccomp(SECCOMP_SET_MODE_FILTER)");
  }
  return {};
}

}  // namespace seccompress::install
