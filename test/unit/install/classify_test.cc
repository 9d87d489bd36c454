// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "install/swap.h"

namespace seccompress::install {
namespace {

constexpr std::uint64_t kPointer = 0xc000137320;
constexpr std::uint64_t kJunk = 0xdead00000000;  // high halves that the kernel does not read

Call native(std::uint64_t nr, std::uint64_t a0, std::uint64_t a1, std::uint64_t a2) {
  return {.arch = AUDIT_ARCH_X86_64, .nr = nr, .args = {a0, a1, a2, 0, 0, 0}};
}

TEST(InstallCall, IsSeccompWithAProgram) {
  EXPECT_EQ(classify(native(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, kPointer)), CallKind::install_seccomp);
  EXPECT_EQ(classify(native(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, kPointer)),
            CallKind::install_seccomp);
}

TEST(InstallCall, IsPrctlWithAProgram) {
  EXPECT_EQ(classify(native(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, kPointer)), CallKind::install_prctl);
}

TEST(InstallCall, IsSeenThroughHighHalvesThatTheKernelIgnores) {
  EXPECT_EQ(classify(native(SYS_seccomp, kJunk | SECCOMP_SET_MODE_FILTER, 0, kPointer)), CallKind::install_seccomp);
  EXPECT_EQ(classify(native(SYS_prctl, kJunk | PR_SET_SECCOMP, SECCOMP_MODE_FILTER, kPointer)),
            CallKind::install_prctl);
  // prctl's mode is an unsigned long: with a high half it is no mode that the kernel knows.
  EXPECT_EQ(classify(native(SYS_prctl, PR_SET_SECCOMP, kJunk | SECCOMP_MODE_FILTER, kPointer)), CallKind::other);
}

TEST(InstallCall, IsNoneOfLibseccompsProbes) {
  EXPECT_EQ(classify(native(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, 0)), CallKind::other);
  EXPECT_EQ(classify(native(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, 0)), CallKind::other);
  EXPECT_EQ(classify(native(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, kPointer)), CallKind::other);
  EXPECT_EQ(classify(native(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, kPointer)), CallKind::other);
  EXPECT_EQ(classify(native(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 0)), CallKind::other);
  EXPECT_EQ(classify(native(SYS_prctl, PR_SET_NO_NEW_PRIVS, 2, kPointer)), CallKind::other);
  EXPECT_EQ(classify(native(SYS_read, 1, 0, kPointer)), CallKind::other);
}

TEST(InstallCall, ThroughAnotherAbiIsForeign) {
  constexpr std::uint64_t kX32 = 0x40000000;
  EXPECT_EQ(classify(native(kX32 | SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, kPointer)), CallKind::foreign_install);
  EXPECT_EQ(classify(native(kX32 | SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, kPointer)),
            CallKind::foreign_install);
  const auto i386 = [](std::uint64_t nr, std::uint64_t a0, std::uint64_t a1) {
    return Call{.arch = AUDIT_ARCH_I386, .nr = nr, .args = {a0, a1, kPointer, 0, 0, 0}};
  };
  EXPECT_EQ(classify(i386(354, SECCOMP_SET_MODE_FILTER, 0)), CallKind::foreign_install);
  EXPECT_EQ(classify(i386(172, PR_SET_SECCOMP, SECCOMP_MODE_FILTER)), CallKind::foreign_install);
  // 317 and 157 are other calls there (move_pages, sched_getscheduler).
  EXPECT_EQ(classify(i386(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0)), CallKind::other);
  EXPECT_EQ(classify(i386(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER)), CallKind::other);
}

TEST(Step, NamesTheCallsBetweenTheMountsAndTheProgram) {
  EXPECT_EQ(step_of(native(SYS_pivot_root, 0, 0, 0)), Step::root_change);
  EXPECT_EQ(step_of(native(SYS_chroot, kPointer, 0, 0)), Step::root_change);
  for (const auto nr : {SYS_setgroups, SYS_setresgid, SYS_setgid, SYS_setresuid, SYS_setuid, SYS_capset})
    EXPECT_EQ(step_of(native(static_cast<std::uint64_t>(nr), 0, 0, 0)), Step::privilege_drop);
  EXPECT_EQ(step_of(native(SYS_prctl, kJunk | PR_CAPBSET_DROP, 0, 0)), Step::privilege_drop);
  EXPECT_EQ(step_of(native(SYS_prctl, PR_CAPBSET_READ, 0, 0)), Step::other);
  EXPECT_EQ(step_of(native(SYS_execve, kPointer, 0, 0)), Step::exec);
  EXPECT_EQ(step_of(native(SYS_execveat, 0, kPointer, 0)), Step::exec);
  EXPECT_EQ(step_of({.arch = AUDIT_ARCH_I386, .nr = SYS_execve, .args = {}}), Step::other);
}

}  // namespace
}  // namespace seccompress::install
