// SPDX-License-Identifier: Apache-2.0
// Input: a Job. Output: in the caller, a tracer that is armed; later, in the tracer, one report. Entry point:
// start_tracer.
//
// Method: fork; the child becomes a session of its own with /dev/null on 0-2 (runc waits for the end of its hook's
// pipes: a child that keeps them blocks `create` for ever), cwd /, not dumpable, seizes init, and says so through
// a pipe. Until then it dies with the hook (PR_SET_PDEATHSIG). Then it walks init from stop to stop.
// What the rest of design section 5 asks of the walk:
//   an exec without an install           SIGKILL (the new program has not run an instruction at that stop)
//   the watchdog                         a timerfd over everything from armed on, SIGKILL
//   crun, no_new_privs                   it installs at `start`, which may come days later: the clock stands still
//                                        while init waits on the exec fifo (pselect6; crun 1.8.1 container.c)
//   no linux.seccomp                     the program is injected: with no_new_privs at the execve, without at the first
//                                        privilege drop after pivot_root or chroot (a drop before is part of entering a
//                                        user namespace, or crun's early setgroups), while CAP_SYS_ADMIN is there
// Weakness: a tracer that is stopped or frozen cannot run its watchdog; init then waits at its next stop, and the
// container does not start until the tracer goes on.
#include "install/tracer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <vector>

#include "install/fault_point.h"
#include "support/clock.h"

namespace seccompress::install {
namespace {

constexpr char kArmed = 'A';
constexpr std::size_t kMaxMessage = 4096;

struct Watchdog {
  UniqueFd fd{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  std::chrono::milliseconds timeout{};

  bool set(std::chrono::milliseconds time) const {
    itimerspec spec{};
    spec.it_value.tv_sec = time.count() / 1000;
    spec.it_value.tv_nsec = (time.count() % 1000) * 1'000'000;
    return ::timerfd_settime(fd.get(), 0, &spec, nullptr) == 0;
  }
  bool start() const { return set(timeout); }
  bool stop() const { return set(std::chrono::milliseconds(0)); }
};

// One container's walk to its install call.
class Walk {
 public:
  Walk(Job& job, Tracee& tracee, const Watchdog& watchdog)
      : job_(job), tracee_(tracee), watchdog_(watchdog), scratch_(program::kMaxInstructions) {}

  Ending run() {
    const double start = monotonic_milliseconds();
    while (!done_) step(tracee_.wait());
    ending_.milliseconds = monotonic_milliseconds() - start;
    ending_.filters = ending_.kind == Ending::Kind::installed ? ending_.filters : 0;
    return std::move(ending_);
  }

 private:
  void step(const Stop& stop) {
    switch (stop.kind) {
      case Stop::Kind::entry: return at_entry(stop.call);
      case Stop::Kind::exit: return at_exit();
      case Stop::Kind::signal: return go_on(tracee_.resume(static_cast<int>(stop.value)));
      case Stop::Kind::group: return go_on(tracee_.listen());
      case Stop::Kind::trap: return go_on(tracee_.resume());
      case Stop::Kind::exec: return kill("it executed the container's program without installing a filter first");
      case Stop::Kind::ended: return finish(Ending::Kind::ended, "it ended before it installed a filter");
      case Stop::Kind::lost: return kill("the kernel no longer lets us trace it");
      case Stop::Kind::timeout: return kill("it installed no filter within install_timeout");
    }
  }

  void at_entry(const Call& call) {
    ++ending_.stops;
    const CallKind kind = classify(call);
    if (kind == CallKind::foreign_install)
      return kill("it tried to install a filter through a foreign system call ABI");
    if (kind != CallKind::other)
      if (const std::optional<Attempt> attempt = read_attempt(tracee_, call)) return at_install(*attempt);
    if (job_.inject && injects_at(call)) return at_injection(call);
    if (waits_for_start(call)) clock_stands_ = watchdog_.stop();
    go_on(tracee_.resume());
  }

  void at_exit() {
    ++ending_.stops;
    if (clock_stands_) clock_stands_ = !watchdog_.start();
    go_on(tracee_.resume());
  }

  // crun 1.8.1 waits for `start` in select(2) on the exec fifo (libcrun/container.c), which glibc makes pselect6. runc
  // opens the fifo for writing, after its own install: only an injection at the execve comes later.
  bool waits_for_start(const Call& call) const {
    if (!job_.no_new_privs) return false;
    if (job_.identity.runtime == abi::Runtime::crun) return call.nr == SYS_pselect6;
    return job_.inject && root_changed_ && call.nr == SYS_openat && (call.args[2] & O_ACCMODE) == O_WRONLY;
  }

  bool injects_at(const Call& call) {
    const Step step = step_of(call);
    if (step == Step::root_change) root_changed_ = true;
    return step == Step::exec || (step == Step::privilege_drop && root_changed_ && !job_.no_new_privs);
  }

  void at_injection(const Call& call) {
    Attempt nothing;
    nothing.call = call;
    at_install(nothing);
  }

  void at_install(const Attempt& attempt) {
    fault_point("entry");
    const Decision decision = job_.decide(attempt);
    fault_point("decided");
    switch (decision.kind) {
      case Decision::Kind::refuse: return kill(decision.why);
      case Decision::Kind::let_through: return let_go(Ending::Kind::let_through);
      case Decision::Kind::install: return install(attempt, decision);
    }
  }

  void install(const Attempt& attempt, const Decision& decision) {
    const SwapOutcome outcome = attempt.kind == CallKind::other
                                    ? inject(tracee_, attempt.call, *decision.program, decision.flags, scratch_)
                                    : swap(tracee_, attempt, *decision.program, decision.flags, scratch_);
    if (outcome.kind == SwapOutcome::Kind::installed) {
      fault_point("checked");
      ending_.filters = outcome.filters;
      ending_.bytes_compared = outcome.bytes_compared;
      return let_go(Ending::Kind::installed);
    }
    if (outcome.kind == SwapOutcome::Kind::retry && ++retries_ <= 1) return go_on(tracee_.resume());
    kill(std::string(outcome.what) + " (" + std::to_string(outcome.value) + ")");
  }

  void let_go(Ending::Kind kind) {
    if (!tracee_.detach()) return kill("it could not be let go");
    finish(kind, {});
  }
  void go_on(bool resumed) {
    // ESRCH: killed by somebody else meanwhile; the next wait says so.
    if (!resumed && errno != ESRCH) kill("it could not be resumed");
  }
  void kill(std::string why) {
    if (!job_.observe) tracee_.kill();
    finish(Ending::Kind::killed, std::move(why));
  }
  void finish(Ending::Kind kind, std::string why) {
    ending_.kind = kind;
    ending_.why = std::move(why);
    done_ = true;
  }

  Job& job_;
  Tracee& tracee_;
  const Watchdog& watchdog_;
  std::vector<program::Instruction> scratch_;
  Ending ending_;
  unsigned retries_ = 0;
  bool clock_stands_ = false;
  bool root_changed_ = false;
  bool done_ = false;
};

Result<void> become_a_daemon(const Job& job, pid_t hook) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != hook) return failure(Errc::refused, "the hook ended");
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return errno_failure("/dev/null");
  for (int fd = 0; fd < 3; ++fd)
    if (::dup2(null.get(), fd) < 0) return errno_failure("dup2");
  if (::setsid() < 0) return errno_failure("setsid");
  if (::chdir("/") != 0) return errno_failure("chdir /");
  ::umask(077);
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return errno_failure("PR_SET_DUMPABLE");
  if (::prctl(PR_SET_NAME, job.mark.c_str()) != 0) return errno_failure("PR_SET_NAME");
  return {};
}

// Every signal that can be blocked is: this process ends by its own decision, by SIGKILL, or not at all.
Result<UniqueFd> block_signals_and_watch_children() {
  sigset_t all, children;
  ::sigfillset(&all);
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::signal(SIGCHLD, SIG_DFL);  // inherited SIG_IGN would hide the stops
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  UniqueFd fd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return errno_failure("signalfd");
  return fd;
}

struct Armed {
  Watchdog watchdog;
  UniqueFd children;
  std::unique_ptr<Tracee> tracee;
};

Result<Armed> arm(const Job& job, pid_t hook) {
  Armed armed;
  TRY(become_a_daemon(job, hook));
  TRY_ASSIGN(armed.children, block_signals_and_watch_children());
  armed.watchdog.timeout = job.timeout;
  if (!armed.watchdog.fd || !armed.watchdog.start()) return errno_failure("timerfd");
  fault_point("started");
  TRY(still_the_same(job.identity));
  TRY_ASSIGN(Tracee tracee, Tracee::seize(job.identity.pid, job.identity.pidfd.get(), armed.watchdog.fd.get(),
                                          armed.children.get(), !job.observe));
  armed.tracee = std::make_unique<Tracee>(std::move(tracee));
  TRY(still_the_same(job.identity));
  fault_point("seized");
  if (!armed.tracee->resume()) return errno_failure("PTRACE_SYSCALL");
  if (!armed.watchdog.start()) return errno_failure("timerfd");
  return armed;
}

// The child's main.
[[noreturn]] void trace_and_exit(Job& job, UniqueFd pipe, pid_t hook) {
  ::signal(SIGPIPE, SIG_IGN);
  Result<Armed> armed = arm(job, hook);
  if (!armed) {
    const std::string message = to_string(armed.error());
    (void)!::write(pipe.get(), message.data(), std::min(message.size(), kMaxMessage));
    ::_exit(1);
  }
  ::prctl(PR_SET_PDEATHSIG, 0);
  const bool told = ::write(pipe.get(), &kArmed, 1) == 1;
  pipe.reset();
  if (!told) {  // the hook is gone, so the runtime gives this start up
    armed->tracee.reset();
    ::_exit(1);
  }
  fault_point("armed");
  const Ending ending = Walk(job, *armed->tracee, armed->watchdog).run();
  fault_point("detached");
  job.report(ending);
  ::_exit(0);  // observing: the kernel lets the tracee go
}

Result<void> wait_until_armed(int pipe, std::chrono::milliseconds timeout) {
  std::string message;
  const double deadline = monotonic_milliseconds() + static_cast<double>(timeout.count());
  for (;;) {
    pollfd fd{.fd = pipe, .events = POLLIN, .revents = 0};
    const double left = deadline - monotonic_milliseconds();
    const int ready = left <= 0 ? 0 : ::poll(&fd, 1, static_cast<int>(left) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return failure(Errc::refused, "the tracer did not report back within install_timeout");
    char buffer[512];
    const ssize_t size = ::read(pipe, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    message.append(buffer, static_cast<std::size_t>(size));
    if (message.front() == kArmed) return {};
    if (message.size() > kMaxMessage) break;
  }
  return failure(Errc::refused, message.empty() ? "the tracer ended before it was armed" : message);
}

}  // namespace

Result<pid_t> start_tracer(Job job) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_failure("pipe");
  UniqueFd reader(ends[0]), writer(ends[1]);
  const pid_t hook = ::getpid(), tracer = ::fork();
  if (tracer < 0) return errno_failure("fork");
  if (tracer == 0) {
    reader.reset();
    trace_and_exit(job, std::move(writer), hook);
  }
  writer.reset();
  const Result<void> armed = wait_until_armed(reader.get(), job.timeout);
  if (armed) return tracer;
  ::kill(tracer, SIGKILL);
  ::waitpid(tracer, nullptr, 0);
  return tl::unexpected(armed.error());
}

}  // namespace seccompress::install
