// SPDX-License-Identifier: Apache-2.0
// A program injected at a call of a traced child: the call still gives its own answer, and without the privilege
// nothing is installed.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "install/swap.h"
#include "verify/verify.h"

namespace seccompress::install {
namespace {

constexpr int kMarker = 97, kGood = 42;

// umask: errno 97, everything else allowed.
program::VerifiedProgram marker_program() {
  const program::Code code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_umask, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | kMarker), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const std::vector<program::Code> stack = {code};
  return std::get<program::VerifiedProgram>(verify::prove(code, stack));
}

void drop_all_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2] = {};
  ::syscall(SYS_capset, &header, none);
}

// Waits for a byte, makes one call with six arguments that it looks at afterwards, and then the marked one.
[[noreturn]] void child(int pipe, bool no_new_privs) {
  drop_all_capabilities();
  if (no_new_privs) ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  char byte = 0;
  if (::read(pipe, &byte, 1) != 1) ::_exit(1);
  const long answer = ::syscall(SYS_getpriority, 99, 7, 1, 2, 3, 4);
  if (answer != -1 || errno != EINVAL) ::_exit(2);
  if (::syscall(SYS_umask, 022) != -1 || errno != kMarker) ::_exit(3);
  ::_exit(kGood);
}

struct Traced {
  UniqueFd watchdog{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
  UniqueFd children, pidfd;
  pid_t pid = 0;

  Result<Tracee> start(bool no_new_privs) {
    const itimerspec limit{.it_interval = {}, .it_value = {.tv_sec = 10, .tv_nsec = 0}};
    ::timerfd_settime(watchdog.get(), 0, &limit, nullptr);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    children.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    int ends[2];
    if (::pipe(ends) != 0) return errno_failure("pipe");
    pid = ::fork();
    if (pid == 0) child(ends[0], no_new_privs);
    pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    Result<Tracee> tracee = Tracee::seize(pid, pidfd.get(), watchdog.get(), children.get(), true);
    (void)!::write(ends[1], "x", 1);
    ::close(ends[0]);
    ::close(ends[1]);
    return tracee;
  }
};

Stop run_to_call(Tracee& tracee, std::uint64_t nr) {
  Stop stop;
  do {
    if (!tracee.resume()) return {};
    stop = tracee.wait();
  } while (stop.kind == Stop::Kind::exit || (stop.kind == Stop::Kind::entry && stop.call.nr != nr));
  return stop;
}

TEST(Inject, InstallsOneFilterAndLetsTheCallRunAsItWas) {
  Traced traced;
  auto tracee = traced.start(true);
  if (!tracee) GTEST_SKIP() << to_string(tracee.error());
  const Stop stop = run_to_call(*tracee, SYS_getpriority);
  ASSERT_EQ(stop.kind, Stop::Kind::entry);
  const int before = tracee->filter_count();
  std::vector<program::Instruction> scratch(program::kMaxInstructions);
  const SwapOutcome outcome = inject(*tracee, stop.call, marker_program(), SECCOMP_FILTER_FLAG_SPEC_ALLOW, scratch);
  ASSERT_EQ(outcome.kind, SwapOutcome::Kind::installed) << outcome.what << ' ' << outcome.value;
  EXPECT_EQ(tracee->filter_count(), before + 1);
  ASSERT_TRUE(tracee->detach());
  int status = 0;
  ASSERT_EQ(::waitpid(traced.pid, &status, 0), traced.pid);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), kGood);
}

TEST(Inject, FailsWithoutNoNewPrivsAndWithoutCapSysAdmin) {
  Traced traced;
  auto tracee = traced.start(false);
  if (!tracee) GTEST_SKIP() << to_string(tracee.error());
  const Stop stop = run_to_call(*tracee, SYS_getpriority);
  ASSERT_EQ(stop.kind, Stop::Kind::entry);
  const int before = tracee->filter_count();
  std::vector<program::Instruction> scratch(program::kMaxInstructions);
  const SwapOutcome outcome = inject(*tracee, stop.call, marker_program(), 0, scratch);
  EXPECT_EQ(outcome.kind, SwapOutcome::Kind::failed);
  EXPECT_EQ(outcome.value, -EACCES);
  EXPECT_STREQ(outcome.what, "the kernel refused the program: it has neither no_new_privs nor CAP_SYS_ADMIN");
  EXPECT_EQ(tracee->filter_count(), before);
  tracee->kill();
}

}  // namespace
}  // namespace seccompress::install
