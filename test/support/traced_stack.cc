// SPDX-License-Identifier: Apache-2.0
#include "support/traced_stack.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "support/check.h"
#include "support/native_call.h"
#include "support/program_builder.h"

namespace seccompress::test {
namespace {

constexpr std::uint32_t kFirstIndex = 2000;  // above every errno that the kernel makes itself, below MAX_ERRNO
constexpr std::uint32_t kLimit = 4095 - kFirstIndex;
// The child's own installs: prctl with this in the argument that prctl does not look at.
constexpr std::uint32_t kMagic = 0x5ec0de11;

using Verdicts = std::set<abi::Verdict>;

Result<Verdicts> verdicts_of(std::span<const program::Code> stack) {
  Verdicts verdicts;
  for (const program::Code& code : stack)
    for (const program::Instruction& instruction : code) {
      if (instruction.code == (BPF_RET | BPF_A)) return failure(Errc::inexact, "RET A cannot be mapped");
      if (instruction.code == (BPF_RET | BPF_K)) verdicts.insert(abi::normalize(instruction.k));
    }
  if (verdicts.size() > kLimit) return failure(Errc::budget, "more verdicts than errnos");
  return verdicts;
}

// What the verdicts become when those of one strictness are looked at, and back.
class Mapping {
 public:
  Mapping(const Verdicts& verdicts, std::int32_t strictness) {
    for (const abi::Verdict verdict : verdicts) {
      const std::int32_t its = abi::strictness(verdict);
      if (its != strictness) {
        there_[verdict] = its < strictness ? abi::kTrap : abi::kTrace;
        continue;
      }
      const auto number = kFirstIndex + static_cast<std::uint32_t>(back_.size());
      there_[verdict] = abi::kErrno | number;
      back_[number] = verdict;
    }
  }

  // The mapped program behind a way through for the child's own installs; A is 0 again after it.
  program::Code apply(const program::Code& code) const {
    program::Code mapped = {ld(abi::kNr),      jeq(SYS_prctl, 0, 3), ld(abi::arg_low(5)),
                            jeq(kMagic, 0, 1), ret(abi::kAllow),     ld_imm(0)};
    for (program::Instruction instruction : code) {
      if (instruction.code == (BPF_RET | BPF_K)) instruction.k = there_.at(abi::normalize(instruction.k));
      mapped.push_back(instruction);
    }
    return mapped;
  }
  // nullopt: not one of this strictness.
  std::optional<abi::Verdict> original(long answer) const {
    const auto found = back_.find(static_cast<std::uint32_t>(-answer));
    if (found == back_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::map<abi::Verdict, abi::Verdict> there_;
  std::map<std::uint32_t, abi::Verdict> back_;
};

#if defined(__x86_64__)

bool install(const program::Code& code) {
  ::sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  abi::SeccompData call{};
  call.nr = SYS_prctl;
  call.args[0] = PR_SET_SECCOMP;
  call.args[1] = SECCOMP_MODE_FILTER;
  call.args[2] = reinterpret_cast<std::uintptr_t>(&program);
  call.args[5] = kMagic;
  return make_native_call(call) == 0;
}

// Stops at int3 when it is ready and when it is done; never returns.
[[noreturn]] void run_child(std::span<const program::Code> stack, std::span<const abi::SeccompData> calls,
                            long* answers) {
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::raise(SIGSTOP);
  for (const program::Code& code : stack)
    if (!install(code)) ::_exit(1);
  for (std::size_t i = 0; i < calls.size(); ++i) answers[i] = make_native_call(calls[i]);
  asm volatile("int3");
  __builtin_trap();
}

// Memory that parent and child share.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : bytes_(bytes), address_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    CHECK(address_ != MAP_FAILED);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(address_, bytes_); }
  void* get() const { return address_; }

 private:
  std::size_t bytes_;
  void* address_;
};

// Follows the child's stops until it is done. A call that traps or stops has the answer kNotLooked.
constexpr long kNotLooked = 1;
class Tracer {
 public:
  explicit Tracer(pid_t child) : child_(child) {}

  Result<void> run() {
    TRY(wait_for(SIGSTOP));
    if (::ptrace(PTRACE_SETOPTIONS, child_, nullptr, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL) != 0)
      return errno_failure("PTRACE_SETOPTIONS");
    for (;;) {
      if (::ptrace(PTRACE_CONT, child_, nullptr, nullptr) != 0) return errno_failure("PTRACE_CONT");
      TRY_ASSIGN(const int status, wait());
      if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8)) || WSTOPSIG(status) == SIGSYS) {
        TRY(skip());
      } else if (WSTOPSIG(status) == SIGTRAP) {
        return {};
      } else {
        return failure(Errc::refused, "the child stopped by signal " + std::to_string(WSTOPSIG(status)));
      }
    }
  }

 private:
  Result<int> wait() {
    int status = 0;
    if (::waitpid(child_, &status, 0) != child_) return errno_failure("waitpid");
    if (!WIFSTOPPED(status)) return failure(Errc::refused, "the child ended, status " + std::to_string(status));
    return status;
  }
  Result<void> wait_for(int signal) {
    TRY_ASSIGN(const int status, wait());
    if (WSTOPSIG(status) != signal) return failure(Errc::refused, "unexpected first stop");
    return {};
  }

  // After TRAP the kernel has not made the call and the signal is not delivered; after TRACE orig_rax = -1
  // makes it skip the call.
  Result<void> skip() {
    ::user_regs_struct registers{};
    if (::ptrace(PTRACE_GETREGS, child_, nullptr, &registers) != 0) return errno_failure("PTRACE_GETREGS");
    registers.orig_rax = ~0ULL;
    registers.rax = kNotLooked;
    if (::ptrace(PTRACE_SETREGS, child_, nullptr, &registers) != 0) return errno_failure("PTRACE_SETREGS");
    return {};
  }

  pid_t child_;
};

// The answers of one child.
Result<std::vector<long>> answers_of(std::span<const program::Code> stack, std::span<const abi::SeccompData> calls) {
  const SharedMemory memory((calls.size() + 1) * sizeof(long));
  auto* answers = static_cast<long*>(memory.get());
  const pid_t child = ::fork();
  if (child < 0) return errno_failure("fork");
  if (child == 0) run_child(stack, calls, answers);
  const Result<void> traced = Tracer(child).run();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  TRY(traced);
  return std::vector<long>(answers, answers + calls.size());
}

#endif

}  // namespace

std::optional<std::string> traced_stack_missing() {
#if defined(__x86_64__)
  return std::nullopt;
#else
  return "makes x86_64 calls";
#endif
}

Result<std::vector<abi::Verdict>> ask_kernel_stack(std::span<const program::Code> oldest_first,
                                                   std::span<const abi::SeccompData> calls) {
  TRY_ASSIGN(const Verdicts verdicts, verdicts_of(oldest_first));
  std::set<std::int32_t> levels = {abi::strictness(abi::kAllow)};
  for (const abi::Verdict verdict : verdicts) levels.insert(abi::strictness(verdict));

  std::vector<std::optional<abi::Verdict>> found(calls.size());
  for (const std::int32_t level : levels) {
    const Mapping mapping(verdicts, level);
    std::vector<program::Code> mapped;
    for (const program::Code& code : oldest_first) mapped.push_back(mapping.apply(code));
    TRY_ASSIGN(const std::vector<long> answers, answers_of(mapped, calls));
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (const auto verdict = mapping.original(answers[i])) {
        if (found[i]) return failure(Errc::refused, "two answers to one call");
        found[i] = verdict;
      }
  }
  std::vector<abi::Verdict> result;
  for (const auto& verdict : found) {
    if (!verdict) return failure(Errc::refused, "no answer to a call");
    result.push_back(*verdict);
  }
  return result;
}

}  // namespace seccompress::test
