// SPDX-License-Identifier: Apache-2.0
// Input: a pid. Output: its filters. Entry point: read_live_stack().
//
// Method: PTRACE_SEIZE, PTRACE_INTERRUPT, wait for any stop, PTRACE_SECCOMP_GET_FILTER 0, 1, ... until ENOENT,
// PTRACE_DETACH. Index 0 is the oldest filter: ptrace(2) says the opposite, the kernel does this
// (kernel/seccomp.c get_nth_filter; seen on 6.18). A sibling's TSYNC may lengthen the chain meanwhile; it only
// grows at its newest end, so the indices stay valid.
//
// Weakness: a thread in uninterruptible sleep does not stop; the timeout answers that.
#include "host/live_stack.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "support/file.h"

namespace seccompress::host {
namespace {

// More filters than MAX_INSNS_PER_PATH (32768) leaves room for: each counts its length (>= 1, converted >= 2)
// and a penalty of 4.
constexpr unsigned kMaxFilters = 8192;
constexpr std::size_t kMaxStatusBytes = 65536;

// glibc declares ptrace() variadic with an enum; the system call takes plain words.
long trace(int request, pid_t pid, std::uintptr_t address, void* data) {
  return ::ptrace(static_cast<__ptrace_request>(request), pid, address, data);
}

std::string process(pid_t pid) { return "process " + std::to_string(pid); }

// The value of a line such as "Seccomp:\t2" of /proc/PID/status; -1 when it cannot be had.
int status_number(const std::string& pid, const std::string& key) {
  const auto text = read_file("/proc/" + pid + "/status", kMaxStatusBytes);
  if (!text) return -1;
  const std::size_t at = text->find('\n' + key + ":\t");
  if (at == std::string::npos) return -1;
  int number = -1;
  std::from_chars(text->data() + at + key.size() + 3, text->data() + text->size(), number);
  return number;
}

tl::unexpected<Error> seize_failure(pid_t pid) {
  const int error = errno;
  std::string what = process(pid) + ": cannot be traced";
  if (error == EPERM)
    what += " (it already has a tracer, is this process itself, or CAP_SYS_PTRACE over it is missing)";
  return failure({error, std::generic_category()}, what);
}

tl::unexpected<Error> filter_failure(pid_t pid, unsigned index) {
  const int error = errno;
  std::string what = process(pid) + ": filter " + std::to_string(index) + " cannot be read";
  if (error == EACCES) {
    what += status_number("self", "Seccomp") > 0
                ? " (the kernel shows filters only to a process without any, and this one is filtered itself)"
                : " (CAP_SYS_ADMIN in the initial user namespace is needed)";
  } else if (error == EIO) {
    what += " (the kernel was built without CONFIG_CHECKPOINT_RESTORE)";
  }
  return failure({error, std::generic_category()}, what);
}

// SIGCHLD blocked and not ignored for the time of a wait, so that sigtimedwait() sees each stop.
class ChildSignal {
 public:
  ChildSignal() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &old_action_);
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &set_, &old_mask_);
  }
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;
  ~ChildSignal() {
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    ::sigaction(SIGCHLD, &old_action_, nullptr);
  }
  void wait(std::chrono::milliseconds at_most) {
    const timespec limit{at_most.count() / 1000, at_most.count() % 1000 * 1'000'000};
    ::sigtimedwait(&set_, nullptr, &limit);
  }

 private:
  sigset_t set_{}, old_mask_{};
  struct sigaction old_action_ {};
};

// A seized thread; detached on destruction with the signal, if any, that its stop was about.
class Seized {
 public:
  explicit Seized(pid_t pid) : pid_(pid) {}
  Seized(const Seized&) = delete;
  Seized& operator=(const Seized&) = delete;
  ~Seized() {
    if (pid_ > 0) trace(PTRACE_DETACH, pid_, 0, reinterpret_cast<void*>(static_cast<std::uintptr_t>(signal_)));
  }

  Result<void> wait_for_stop(std::chrono::milliseconds timeout) {
    ChildSignal child;
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
      int status = 0;
      const pid_t seen = ::waitpid(pid_, &status, __WALL | WNOHANG);
      if (seen < 0 && errno != EINTR) return errno_failure(process(pid_) + ": waiting for its stop");
      if (seen == pid_) return note_stop(status);
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return failure({ETIMEDOUT, std::generic_category()}, process(pid_) + ": it does not stop to be read");
      child.wait(left);
    }
  }

 private:
  Result<void> note_stop(int status) {
    if (!WIFSTOPPED(status)) {
      const pid_t gone = std::exchange(pid_, 0);
      return failure({ESRCH, std::generic_category()}, process(gone) + ": it ended meanwhile");
    }
    const bool event_stop = (status >> 16) == PTRACE_EVENT_STOP;
    signal_ = event_stop ? 0 : WSTOPSIG(status);  // a signal on its way to the thread must not get lost
    return {};
  }

  pid_t pid_;
  int signal_ = 0;
};

bool log_flag(pid_t pid, unsigned index) {
  __ptrace_seccomp_metadata metadata{index, 0};
  const long got = trace(PTRACE_SECCOMP_GET_METADATA, pid, sizeof metadata, &metadata);
  return got > 0 && (metadata.flags & SECCOMP_FILTER_FLAG_LOG) != 0;
}

Result<std::vector<LiveFilter>> read_filters(pid_t pid) {
  std::vector<LiveFilter> filters;
  for (unsigned index = 0; index < kMaxFilters; ++index) {
    const long length = trace(PTRACE_SECCOMP_GET_FILTER, pid, index, nullptr);
    if (length < 0 && errno == ENOENT) return filters;
    if (length < 0) return filter_failure(pid, index);
    if (length == 0 || static_cast<std::size_t>(length) > program::kMaxInstructions)
      return failure(Errc::malformed,
                     process(pid) + ": the kernel tells of a filter of " + std::to_string(length) + " instructions");
    LiveFilter filter{program::Code(static_cast<std::size_t>(length)), log_flag(pid, index)};
    if (trace(PTRACE_SECCOMP_GET_FILTER, pid, index, filter.code.data()) != length) return filter_failure(pid, index);
    filters.push_back(std::move(filter));
  }
  return failure(Errc::budget, process(pid) + ": more than " + std::to_string(kMaxFilters) + " filters");
}

}  // namespace

Result<std::vector<LiveFilter>> read_live_stack(pid_t pid, std::chrono::milliseconds stop_timeout) {
  if (pid <= 0) return failure({ESRCH, std::generic_category()}, process(pid));
  if (trace(PTRACE_SEIZE, pid, 0, nullptr) != 0) return seize_failure(pid);
  Seized seized(pid);
  if (trace(PTRACE_INTERRUPT, pid, 0, nullptr) != 0) return errno_failure(process(pid) + ": cannot be stopped");
  TRY(seized.wait_for_stop(stop_timeout));
  if (status_number(std::to_string(pid), "Seccomp") == 0) return std::vector<LiveFilter>{};
  return read_filters(pid);
}

}  // namespace seccompress::host
