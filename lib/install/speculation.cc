// SPDX-License-Identifier: Apache-2.0
// Input: nothing. Output: yes or no. Entry points: filters_change_speculation, filters_change_speculation_of_a_child.
// Method: kernel/seccomp.c seccomp_assign_mode calls arch_seccomp_spec_mitigate for a filter without SPEC_ALLOW; what
// that does depends on boot options and on the kernel's defaults (arch/x86/kernel/cpu/bugs.c: since 5.16 nothing unless
// spec_store_bypass_disable=seccomp or spectre_v2_user=seccomp), and sysfs does not tell all of it. So a filter is
// installed and PR_GET_SPECULATION_CTRL compared.
#include "install/speculation.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace seccompress::install {
namespace {

constexpr std::array<unsigned long, 3> kMisfeatures = {PR_SPEC_STORE_BYPASS, PR_SPEC_INDIRECT_BRANCH,
                                                       PR_SPEC_L1D_FLUSH};

std::array<int, kMisfeatures.size()> speculation() {
  std::array<int, kMisfeatures.size()> states{};
  for (std::size_t i = 0; i < states.size(); ++i)
    states[i] = ::prctl(PR_GET_SPECULATION_CTRL, kMisfeatures[i], 0, 0, 0);  // -1: not on this machine
  return states;
}

bool put_a_filter_without_flags() {
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program{1, &allow};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) return true;
  return errno == EACCES && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace

bool filters_change_speculation() {
  const auto before = speculation();
  return !put_a_filter_without_flags() || speculation() != before;
}

bool filters_change_speculation_of_a_child() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(filters_change_speculation() ? 1 : 0);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return true;
  return child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace seccompress::install
