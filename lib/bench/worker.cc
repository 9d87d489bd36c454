// SPDX-License-Identifier: Apache-2.0
// Input: filters, a loop, a time. Output: how many rounds it made. Entry points: Worker, install_microseconds.
// Method: the child installs its filters once and then answers requests on a socket, so that trials of several children
// can alternate. It never returns into its parent's code.
// Processor time is measured: what else the machine does takes less from it than from the time of day.
// Weaknesses: the clocks are read every 128 rounds, which is a call that the filters see; the caller must have one
// thread.
#include "bench/worker.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "install/self.h"

namespace seccompress::bench {
namespace {

constexpr double kGrace = 20;    // seconds beyond what was asked for: the machine may be busy
constexpr double kPatience = 4;  // a trial ends after this many times its length, however little it was allowed to run
constexpr int kRoundsBetweenLooks = 128;
constexpr int kChildrenATrial = 5;
constexpr unsigned kNoSuchFlag = 1U << 31;  // refused before anything else (kernel/seccomp.c, seccomp_set_mode_filter)

struct Request {
  Loop loop;
  double seconds;
};
struct Ready {
  std::uint32_t installed;
  int error;
  double seconds;
};

double now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// All six arguments are 0 but the ones given: filters may look at any of them, and libc's wrappers leave them
// undefined.
long call(long number, long first = 0) { return ::syscall(number, first, 0L, 0L, 0L, 0L, 0L); }

void five_calls() {
  call(SYS_close, call(SYS_dup, 0));
  call(SYS_getpid);
  call(SYS_getuid);
  call(SYS_umask, 022);
}

template <class Body>
Rounds repeat(double seconds, Body body) {
  Rounds rounds;
  const double start = now(CLOCK_THREAD_CPUTIME_ID), last = now(CLOCK_MONOTONIC) + kPatience * seconds;
  do {
    for (int i = 0; i < kRoundsBetweenLooks; ++i) body();
    rounds.count += kRoundsBetweenLooks;
    rounds.seconds = now(CLOCK_THREAD_CPUTIME_ID) - start;
  } while (rounds.seconds < seconds && now(CLOCK_MONOTONIC) < last);
  return rounds;
}

Rounds run_loop(const Request& request) {
  if (request.loop == Loop::getpid) return repeat(request.seconds, [] { call(SYS_getpid); });
  return repeat(request.seconds, five_calls);
}

// What a process does for the first time costs page faults, and they are not the filters' doing: on a virtual machine
// whose page tables are shadowed the three that were left cost 250 microseconds, twice what the flat program does. So
// before what is timed the code that installs runs once, to be refused, the clock is read, and the filters are.
void warm_up(std::span<const program::VerifiedProgram> filters) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!filters.empty()) static_cast<void>(install::install_on_self(filters[0], false, kNoSuchFlag));
  volatile std::uint32_t seen = 0;
  for (const program::VerifiedProgram& filter : filters)
    for (const program::Instruction& insn : filter.code()) seen = insn.k;
  static_cast<void>(seen);
  static_cast<void>(now(CLOCK_THREAD_CPUTIME_ID));
}

Ready install_all(std::span<const program::VerifiedProgram> filters) {
  warm_up(filters);
  Ready ready{0, 0, 0};
  const double start = now(CLOCK_THREAD_CPUTIME_ID);
  for (const program::VerifiedProgram& filter : filters) {
    if (auto done = install::install_on_self(filter, false, 0); !done) {
      ready.error = done.error().code.value();
      break;
    }
    ++ready.installed;
  }
  ready.seconds = now(CLOCK_THREAD_CPUTIME_ID) - start;
  return ready;
}

// The child's life.
[[noreturn]] void serve(std::span<const program::VerifiedProgram> filters, int channel) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);  // what dup(0) duplicates, whatever the caller's is
  const Ready ready = install_all(filters);
  bool going = ::write(channel, &ready, sizeof ready) == sizeof ready && ready.error == 0;
  Request request{};
  while (going && ::read(channel, &request, sizeof request) == sizeof request) {
    const Rounds rounds = run_loop(request);
    going = ::write(channel, &rounds, sizeof rounds) == sizeof rounds;
  }
  ::_exit(0);
}

template <class Message>
bool receive(int channel, Message& message, double seconds) {
  pollfd entry{channel, POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&entry, 1, static_cast<int>(seconds * 1000));
  while (ready < 0 && errno == EINTR);
  return ready > 0 && ::recv(channel, &message, sizeof message, 0) == sizeof message;
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::start(std::span<const program::VerifiedProgram> filters) {
  int channel[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) return errno_failure("socketpair");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(channel[0]);
    serve(filters, channel[1]);
  }
  ::close(channel[1]);
  if (pid < 0) {
    ::close(channel[0]);
    return errno_failure("fork");
  }
  std::unique_ptr<Worker> worker(new Worker(pid, UniqueFd(channel[0])));
  TRY(worker->await_ready(filters.size()));
  return worker;
}

Result<void> Worker::await_ready(std::size_t filters) {
  Ready ready{};
  if (!receive(channel_.get(), ready, kGrace)) return ended("installing its filters");
  if (ready.error != 0)
    return failure({ready.error, std::generic_category()}, "filter " + std::to_string(ready.installed) + " of " +
                                                               std::to_string(filters) + " could not be installed");
  return {};
}

tl::unexpected<Error> Worker::ended(const std::string& doing) {
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  const std::string how =
      WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? "was killed by its filters" : "did not answer";
  return failure(Errc::refused, "the measuring process " + how + " when " + doing +
                                    "; its filters have to allow read, write and the measured calls");
}

Worker::~Worker() {
  if (reaped_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<Rounds> Worker::run(Loop loop, double seconds) {
  const Request request{loop, seconds};
  Rounds rounds;
  if (::send(channel_.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
      !receive(channel_.get(), rounds, seconds + kGrace) || rounds.seconds <= 0)
    return ended("running the loop");
  return rounds;
}

namespace {

Result<double> install_once(std::span<const program::VerifiedProgram> filters) {
  int channel[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) return errno_failure("socketpair");
  const UniqueFd ours(channel[0]), theirs(channel[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return errno_failure("fork");
  if (pid == 0) {
    const Ready ready = install_all(filters);
    static_cast<void>(!::write(channel[1], &ready, sizeof ready));
    ::_exit(0);
  }
  Ready ready{};
  const bool answered = receive(channel[0], ready, kGrace);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  if (!answered) return failure(Errc::refused, "the measuring process did not survive installing its filters");
  if (ready.error != 0) return failure({ready.error, std::generic_category()}, "a filter could not be installed");
  return ready.seconds * 1e6;
}

}  // namespace

// The fastest of some children in a row, whatever is installed: the first finds the processor's caches as other
// programs left them, which one filter notices and thirty-five hardly do.
Result<double> install_microseconds(std::span<const program::VerifiedProgram> filters) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int child = 0; child < kChildrenATrial; ++child) {
    TRY_ASSIGN(const double one, install_once(filters));
    fastest = std::min(fastest, one);
  }
  return fastest;
}

bool stay_on_one_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(std::max(0, ::sched_getcpu())), &cpus);
  return ::sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

}  // namespace seccompress::bench
