// SPDX-License-Identifier: Apache-2.0
// One ptraced thread: the container's init (its main thread; runc 1.1.5 and crun 1.8.1 install from there).
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "program/program.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace seccompress::install {

// A system call as PTRACE_GET_SYSCALL_INFO tells it: `arch` is the AUDIT word of the entry that was used, so an
// int 0x80 of a 64-bit process shows as i386.
struct Call {
  std::uint32_t arch = 0;
  std::uint64_t nr = 0;
  std::uint64_t args[6] = {};
};

struct Stop {
  enum class Kind : std::uint8_t {
    entry,    // before the kernel runs `call`
    exit,     // after it; `value` is the kernel's return value
    signal,   // `value` is about to be delivered; resume with it
    group,    // the process was stopped by `value`: listen()
    trap,     // interrupted, or continued after a group stop
    exec,     // a new program is in place and has not run yet
    ended,    // the thread is gone
    lost,     // the kernel no longer knows it as ours
    timeout,  // the watchdog's time is over; the thread is where it was
  };
  Kind kind = Kind::lost;
  Call call;
  std::int64_t value = 0;
};

// Nothing below allocates, throws, logs or blocks on anything but the tracee; failures are false with errno set.
class Tracee {
 public:
  // Takes the thread with PTRACE_SEIZE and waits for its first stop. `watchdog` is a timerfd, `children` a
  // signalfd for SIGCHLD; both stay the caller's. `exit_kill`: the tracee dies with this process.
  static Result<Tracee> seize(pid_t pid, int pidfd, int watchdog, int children, bool exit_kill);

  Tracee(Tracee&& other) noexcept;
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;
  Tracee& operator=(Tracee&&) = delete;
  // Kills what was neither detached nor ended (with exit_kill): an error path never lets a container loose.
  ~Tracee();

  pid_t pid() const { return pid_; }
  Stop wait();
  bool resume(int signal = 0);  // to the next system call stop
  bool listen();                // stay stopped, as the group stop asks
  bool detach();
  void kill();  // SIGKILL and waits for the end (bounded)

  bool read(std::uint64_t address, void* buffer, std::size_t size) const;
  bool write(std::uint64_t address, const void* buffer, std::size_t size) const;
  bool registers(user_regs_struct& registers) const;
  bool set_registers(const user_regs_struct& registers) const;
  bool block_signals(std::uint64_t& saved) const;
  bool restore_signals(std::uint64_t saved) const;

  // Seccomp_filters of /proc/PID/status; -1 when unreadable.
  int filter_count() const;
  // Instructions of filter `index` (0 = oldest) into `buffer` (kMaxInstructions long); -1 with errno.
  long read_filter(unsigned index, std::span<program::Instruction> buffer) const;

 private:
  Tracee(pid_t pid, int pidfd, int watchdog, int children, bool exit_kill)
      : pid_(pid), pidfd_(pidfd), watchdog_(watchdog), children_(children), attached_(exit_kill) {}
  Stop decode(int status);
  Stop decode_syscall_stop();

  pid_t pid_;
  int pidfd_;
  int watchdog_;
  int children_;
  UniqueFd status_;  // /proc/PID/status, opened before the first stop
  bool attached_;    // and to be killed by the destructor
};

}  // namespace seccompress::install
