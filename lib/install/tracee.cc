// SPDX-License-Identifier: Apache-2.0
// Input: a pid. Output: stops, memory, registers. Entry point: Tracee::seize.
//
// THE DANGEROUS PLACE, with swap.cc: between the swap of the program and detach only these two files run, and
// nothing in them allocates, throws, logs or waits for anything but the tracee and the watchdog. Only seize()
// (before the first stop) makes strings.
//
// Method: PTRACE_SEIZE with EXITKILL | TRACESYSGOOD | TRACEEXEC in one call, so that there is no moment in which
// the thread is ours without dying with us. waitpid never blocks: SIGCHLD and the watchdog are polled as
// descriptors.
// Weaknesses: only the main thread is traced. An exec by another thread of a multi-threaded init makes the kernel
// drop our tracee without a stop (kernel: de_thread); wait() then says `lost` and the caller kills by pidfd.
#include "install/tracee.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/ptrace.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include "support/check.h"

namespace seccompress::install {
namespace {

constexpr int kEndOfKillMilliseconds = 5000;

// glibc's ptrace() is variadic and its request an enum; the call itself is neither.
long trace(unsigned request, pid_t pid, std::uint64_t address, std::uint64_t data) {
  return ::syscall(SYS_ptrace, request, pid, address, data);
}
std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// SIGCHLD does not queue: there is at most one.
void drain(int children) {
  signalfd_siginfo info;
  (void)!::read(children, &info, sizeof info);
}

std::string seize_hint(int error) {
  if (error == EPERM) return " (CAP_SYS_PTRACE is missing, another tracer has it, or kernel.yama.ptrace_scope is 3)";
  return {};
}

int parse_filter_count(std::string_view text) {
  constexpr std::string_view kName = "\nSeccomp_filters:\t";
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return -1;
  int value = 0;
  for (const char c : text.substr(at + kName.size())) {
    if (c < '0' || c > '9') break;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

Result<Tracee> Tracee::seize(pid_t pid, int pidfd, int watchdog, int children, bool exit_kill) {
  const std::uint64_t options =
      PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | (exit_kill ? std::uint64_t{PTRACE_O_EXITKILL} : 0);
  const std::string name = "process " + std::to_string(pid);
  UniqueFd status(::open(("/proc/" + std::to_string(pid) + "/status").c_str(), O_RDONLY | O_CLOEXEC));
  if (!status) return errno_failure(name + ": /proc status");
  if (trace(PTRACE_SEIZE, pid, 0, options) != 0) {
    const std::string hint = seize_hint(errno);
    return errno_failure(name + ": PTRACE_SEIZE" + hint);
  }
  Tracee tracee(pid, pidfd, watchdog, children, exit_kill);
  tracee.status_ = std::move(status);
  if (trace(PTRACE_INTERRUPT, pid, 0, 0) != 0) return errno_failure(name + ": PTRACE_INTERRUPT");
  Stop first = tracee.wait();
  while (first.kind == Stop::Kind::signal && tracee.resume(static_cast<int>(first.value))) first = tracee.wait();
  if (first.kind == Stop::Kind::trap) return tracee;
  // A group stop: init was being stopped while we came. Not a state to start from.
  return failure(Errc::refused, name + ": did not stop when it was interrupted");
}

Tracee::Tracee(Tracee&& other) noexcept
    : pid_(other.pid_),
      pidfd_(other.pidfd_),
      watchdog_(other.watchdog_),
      children_(other.children_),
      status_(std::move(other.status_)),
      attached_(std::exchange(other.attached_, false)) {}

Tracee::~Tracee() {
  if (attached_) kill();
}

Stop Tracee::wait() {
  for (;;) {
    int status = 0;
    const pid_t waited = ::waitpid(pid_, &status, __WALL | WNOHANG);
    if (waited == pid_) return decode(status);
    if (waited < 0 && errno != EINTR) return Stop{.kind = Stop::Kind::lost, .call = {}, .value = errno};
    pollfd fds[2] = {{.fd = children_, .events = POLLIN, .revents = 0},
                     {.fd = watchdog_, .events = POLLIN, .revents = 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[0].revents != 0)
      drain(children_);
    else if (fds[1].revents != 0)
      return Stop{.kind = Stop::Kind::timeout, .call = {}, .value = 0};
  }
}

Stop Tracee::decode(int status) {
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    attached_ = false;
    return Stop{.kind = Stop::Kind::ended, .call = {}, .value = status};
  }
  const int signal = WSTOPSIG(status), event = status >> 16;
  if (event == PTRACE_EVENT_EXEC) return Stop{.kind = Stop::Kind::exec, .call = {}, .value = 0};
  if (event == PTRACE_EVENT_STOP)
    return Stop{.kind = signal == SIGTRAP ? Stop::Kind::trap : Stop::Kind::group, .call = {}, .value = signal};
  if (signal == (SIGTRAP | 0x80)) return decode_syscall_stop();
  return Stop{.kind = Stop::Kind::signal, .call = {}, .value = signal};
}

Stop Tracee::decode_syscall_stop() {
  ptrace_syscall_info info{};
  if (trace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, address_of(&info)) <= 0)
    return Stop{.kind = Stop::Kind::lost, .call = {}, .value = errno};
  Stop stop;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    stop.kind = Stop::Kind::entry;
    stop.call.arch = info.arch;
    stop.call.nr = info.entry.nr;
    std::memcpy(stop.call.args, info.entry.args, sizeof stop.call.args);
  } else {
    stop.kind = Stop::Kind::exit;
    stop.value = info.exit.rval;
  }
  return stop;
}

bool Tracee::resume(int signal) { return trace(PTRACE_SYSCALL, pid_, 0, static_cast<std::uint64_t>(signal)) == 0; }
bool Tracee::listen() { return trace(PTRACE_LISTEN, pid_, 0, 0) == 0; }

bool Tracee::detach() {
  if (trace(PTRACE_DETACH, pid_, 0, 0) != 0) return false;
  attached_ = false;
  return true;
}

void Tracee::kill() {
  ::syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
  attached_ = false;
  // The pidfd reports the end of the whole process, also when the kernel no longer shows it to us as a tracee.
  // Reaping the tracer's share lets the real parent see the death.
  for (int waited = 0; waited < kEndOfKillMilliseconds; waited += 10) {
    int status = 0;
    const pid_t pid = ::waitpid(pid_, &status, __WALL | WNOHANG);
    if ((pid == pid_ && !WIFSTOPPED(status)) || (pid < 0 && errno != EINTR)) return;
    pollfd fd{.fd = pidfd_, .events = POLLIN, .revents = 0};
    ::poll(&fd, 1, 10);
  }
}

bool Tracee::read(std::uint64_t address, void* buffer, std::size_t size) const {
  const iovec local{.iov_base = buffer, .iov_len = size};
  const iovec remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = size};
  return ::process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

bool Tracee::write(std::uint64_t address, const void* buffer, std::size_t size) const {
  const iovec local{.iov_base = const_cast<void*>(buffer), .iov_len = size};
  const iovec remote{.iov_base = reinterpret_cast<void*>(address), .iov_len = size};
  return ::process_vm_writev(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

bool Tracee::registers(user_regs_struct& registers) const {
  iovec set{.iov_base = &registers, .iov_len = sizeof registers};
  return trace(PTRACE_GETREGSET, pid_, NT_PRSTATUS, address_of(&set)) == 0 && set.iov_len == sizeof registers;
}

bool Tracee::set_registers(const user_regs_struct& registers) const {
  user_regs_struct copy = registers;
  iovec set{.iov_base = &copy, .iov_len = sizeof copy};
  return trace(PTRACE_SETREGSET, pid_, NT_PRSTATUS, address_of(&set)) == 0;
}

bool Tracee::block_signals(std::uint64_t& saved) const {
  const std::uint64_t all = ~std::uint64_t{0};
  return trace(PTRACE_GETSIGMASK, pid_, sizeof saved, address_of(&saved)) == 0 &&
         trace(PTRACE_SETSIGMASK, pid_, sizeof all, address_of(&all)) == 0;
}

bool Tracee::restore_signals(std::uint64_t saved) const {
  return trace(PTRACE_SETSIGMASK, pid_, sizeof saved, address_of(&saved)) == 0;
}

int Tracee::filter_count() const {
  char text[8192];
  const ssize_t size = ::pread(status_.get(), text, sizeof text, 0);
  if (size <= 0) return -1;
  return parse_filter_count(std::string_view(text, static_cast<std::size_t>(size)));
}

long Tracee::read_filter(unsigned index, std::span<program::Instruction> buffer) const {
  CHECK(buffer.size() >= program::kMaxInstructions);
  return trace(PTRACE_SECCOMP_GET_FILTER, pid_, index, address_of(buffer.data()));
}

}  // namespace seccompress::install
