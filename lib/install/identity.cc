// SPDX-License-Identifier: Apache-2.0
// Input: the pid of the State JSON. Output: an Identity or a refusal. Entry points: identify(), identify_parent().
// Method: pidfd_open before anything is read, so that all that /proc says afterwards is said of one process or
// the pidfd shows its death. /proc/PID/exe is `/` for runc and crun (both run a sealed copy of themselves) and
// says nothing. comm is not proof of anything by itself (any process can set it); the parent is: a pid that is
// no child of one of our own ancestors was not started by the runtime that runs this hook.
// Weakness: a runtime that forks its init from a daemon outside our ancestry is refused (none does; gVisor and
// Kata run init elsewhere and are refused by this on purpose).
#include "install/identity.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

#include "support/file.h"

namespace seccompress::install {
namespace {

constexpr std::size_t kProcFileLimit = 65536;
constexpr int kMaxAncestors = 256;

std::string proc_path(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

std::string_view next_word(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

template <class T>
bool to_number(std::string_view word, T& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

// Our own parent as /proc numbers it: inside a container getppid() counts in another pid namespace.
Result<pid_t> own_parent() {
  TRY_ASSIGN(const std::string text, read_file("/proc/self/stat", kProcFileLimit));
  TRY_ASSIGN(const ProcessStat stat, parse_stat(text));
  return stat.parent;
}

Result<void> check_ancestry(pid_t init_parent) {
  TRY_ASSIGN(pid_t ancestor, own_parent());
  for (int depth = 0; depth < kMaxAncestors && ancestor > 0; ++depth) {
    if (ancestor == init_parent) return {};
    TRY_ASSIGN(const ProcessStat stat, read_stat(ancestor));
    ancestor = stat.parent;
  }
  return failure(Errc::refused,
                 "its parent, process " + std::to_string(init_parent) + ", is not the runtime that started this hook");
}

bool has_ended(int pidfd) {
  pollfd poll{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, 0) != 0;
}

Result<Identity> examine(Identity identity) {
  TRY_ASSIGN(const ProcessStat stat, read_stat(identity.pid));
  if (stat.state == 'Z' || stat.state == 'X') return failure(Errc::refused, "it has already ended");
  TRY_ASSIGN(identity.runtime, runtime_of_comm(stat.comm));
  TRY(check_ancestry(stat.parent));
  identity.start_time = stat.start_time;
  TRY_ASSIGN(const std::string status, read_file(proc_path(identity.pid, "status"), kProcFileLimit));
  TRY_ASSIGN(const std::uint64_t tracer, status_field(status, "TracerPid"));
  TRY_ASSIGN(const std::uint64_t filters, status_field(status, "Seccomp_filters"));
  identity.tracer = static_cast<pid_t>(tracer);
  identity.inherited = static_cast<unsigned>(filters);
  if (has_ended(identity.pidfd.get())) return failure(Errc::refused, "it has already ended");
  return identity;
}

// Two numberings of one process, and the pidfd to show that it is one.
Result<Identity> open_parent() {
  Identity identity;
  identity.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)));
  if (!identity.pidfd) return errno_failure("pidfd_open");
  TRY_ASSIGN(identity.pid, own_parent());
  const std::string path = "/proc/self/fdinfo/" + std::to_string(identity.pidfd.get());
  TRY_ASSIGN(const std::string info, read_file(path, kProcFileLimit));
  TRY_ASSIGN(const std::uint64_t pid, status_field(info, "Pid"));
  if (static_cast<pid_t>(pid) != identity.pid)
    return failure(Errc::refused, "it ended, or /proc is of another pid namespace than the runtime's");
  return identity;
}

// startContainer comes after the install: init has more filters than the runtime then.
Result<void> check_unfiltered(const Identity& init) {
  TRY_ASSIGN(const std::string status, read_file(proc_path(parent_of(init), "status"), kProcFileLimit));
  TRY_ASSIGN(const std::uint64_t filters, status_field(status, "Seccomp_filters"));
  if (init.inherited == filters) return {};
  return failure(Errc::refused, "its filter is installed already: this stage is too late");
}

}  // namespace

Result<ProcessStat> parse_stat(std::string_view text) {
  const auto malformed = [] { return failure(Errc::malformed, "unexpected text in /proc/PID/stat"); };
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return malformed();
  ProcessStat stat;
  stat.comm = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  const std::string_view state = next_word(text);
  if (state.size() != 1) return malformed();
  stat.state = state.front();
  if (!to_number(next_word(text), stat.parent)) return malformed();
  for (int field = 5; field < 22; ++field) next_word(text);
  if (!to_number(next_word(text), stat.start_time)) return malformed();
  return stat;
}

Result<std::uint64_t> status_field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    std::uint64_t value = 0;
    if (to_number(line, value)) return value;
  }
  return failure(Errc::malformed, "/proc/PID/status has no number for " + std::string(name));
}

Result<abi::Runtime> runtime_of_comm(std::string_view comm) {
  if (comm == "runc:[2:INIT]") return abi::Runtime::runc;
  // A crun that may not mount (a user's, outside of a mount namespace of his) runs a copy in memory (cloned_binary.c).
  if (comm == "crun" || comm == "memfd:crun_clon") return abi::Runtime::crun;
  return failure(Errc::refused, "it calls itself '" + std::string(comm) +
                                    "', which is the init of neither runc nor crun; this hook cannot serve "
                                    "gVisor, Kata or other runtimes");
}

Result<ProcessStat> read_stat(pid_t pid) {
  TRY_ASSIGN(const std::string text, read_file(proc_path(pid, "stat"), kProcFileLimit));
  return parse_stat(text);
}

Result<Identity> identify(pid_t pid) {
  const std::string context = "process " + std::to_string(pid) + " of the state is not a container to be filtered: ";
  if (pid <= 1) return failure(Errc::refused, context + "the number must be above 1");
  Identity identity;
  identity.pid = pid;
  identity.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!identity.pidfd) return errno_failure(context + "pidfd_open");
  Result<Identity> examined = examine(std::move(identity));
  if (!examined) return failure(examined.error().code, context + examined.error().what);
  return examined;
}

Result<Identity> identify_parent() {
  Result<Identity> parent = open_parent();
  if (parent) parent = examine(std::move(*parent));
  if (parent) {
    const Result<void> early = check_unfiltered(*parent);
    if (!early) parent = tl::unexpected(early.error());
  }
  if (parent) return parent;
  return failure(parent.error().code,
                 "the process that called this hook is not a container to be filtered: " + parent.error().what);
}

Result<void> still_the_same(const Identity& identity) {
  TRY_ASSIGN(const ProcessStat stat, read_stat(identity.pid));
  if (stat.start_time != identity.start_time || has_ended(identity.pidfd.get()))
    return failure(Errc::refused, "process " + std::to_string(identity.pid) + " ended and its number was given away");
  return {};
}

pid_t parent_of(const Identity& identity) {
  const Result<ProcessStat> stat = read_stat(identity.pid);
  return stat ? stat->parent : 0;
}

bool in_user_namespace_of(pid_t pid) {
  struct ::stat theirs {
  }, ours{};
  return pid > 0 && ::stat(proc_path(pid, "ns/user").c_str(), &theirs) == 0 &&
         ::stat("/proc/self/ns/user", &ours) == 0 && theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

bool traced_by_one_of_us(const Identity& identity, std::string_view comm_begin) {
  const Result<ProcessStat> stat = identity.tracer == 0 ? failure(Errc::refused, "") : read_stat(identity.tracer);
  return stat && stat->comm.starts_with(comm_begin);
}

bool traced_by_our_own(const Identity& identity, std::string_view comm) {
  struct ::stat theirs {
  }, ours{};
  if (identity.tracer == 0 || ::stat(proc_path(identity.tracer, "exe").c_str(), &theirs) != 0 ||
      ::stat("/proc/self/exe", &ours) != 0)
    return false;
  const Result<ProcessStat> stat = read_stat(identity.tracer);
  return stat && stat->comm == comm && theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

}  // namespace seccompress::install
