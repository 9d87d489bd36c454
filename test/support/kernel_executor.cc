// SPDX-License-Identifier: Apache-2.0
#include "support/kernel_executor.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "abi/arch.h"
#include "support/native_call.h"
#include "support/program_builder.h"

namespace seccompress::test {
namespace {

constexpr std::uint32_t kFirstErrno = 2000;  // above every errno that the kernel makes itself
constexpr std::uint32_t kExitMagic = 0x5ec0de11;
constexpr std::uint32_t kExitGroup = 231;

#if defined(__x86_64__)

// Argument 5 would be ebp, which the compiler may not give away: it stays what it is.
long make_i386_call(const abi::SeccompData& call) {
  long result = static_cast<std::uint32_t>(call.nr);
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(call.args[0]), "c"(call.args[1]), "d"(call.args[2]), "S"(call.args[3]), "D"(call.args[4])
               : "r8", "r9", "r10", "r11", "memory");
  return static_cast<int>(result);
}

long make_call(const abi::SeccompData& call) {
  return call.arch == abi::facts(abi::Arch::x86).audit ? make_i386_call(call) : make_native_call(call);
}

[[noreturn]] void leave_child() {
  abi::SeccompData exit{};
  exit.nr = kExitGroup;
  exit.args[5] = kExitMagic;
  make_native_call(exit);
  std::abort();
}

#else
long make_call(const abi::SeccompData&) { return 0; }
[[noreturn]] void leave_child() { std::abort(); }
#endif

// Does int 0x80 work in a 64-bit process here?
bool has_i386_calls() {
#if defined(__x86_64__)
  static const bool has = [] {
    const pid_t child = ::fork();
    if (child == 0) {
      abi::SeccompData getpid{};
      getpid.nr = 20;
      ::_exit(make_i386_call(getpid) == ::getpid() ? 0 : 1);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }();
  return has;
#else
  return false;
#endif
}

bool can_make(const abi::SeccompData& call) {
  if (call.arch == abi::facts(abi::Arch::x86_64).audit) return true;
  if (call.arch != abi::facts(abi::Arch::x86).audit || !has_i386_calls()) return false;
  return std::all_of(std::begin(call.args), std::end(call.args), [](std::uint64_t a) { return a <= UINT32_MAX; }) &&
         call.args[5] == 0;
}

struct Mapped {
  program::Code code;
  std::vector<abi::Verdict> verdicts;  // verdicts[i] is returned as ERRNO(kFirstErrno + i)
};

// A way out for the child (exit_group with a magic argument), then the program with A as it expects it.
Result<Mapped> map_verdicts(program::CodeView code) {
  Mapped mapped;
  mapped.code = {ld(abi::kNr),          jeq(kExitGroup, 0, 3), ld(abi::arg_low(5)),
                 jeq(kExitMagic, 0, 1), ret(abi::kAllow),      ld_imm(0)};
  std::map<abi::Verdict, std::uint32_t> index;
  for (program::Instruction instruction : code) {
    if (instruction.code == (BPF_RET | BPF_A)) return failure(Errc::inexact, "RET A cannot be mapped");
    if (instruction.code == (BPF_RET | BPF_K)) {
      const auto [at, fresh] = index.try_emplace(instruction.k, static_cast<std::uint32_t>(mapped.verdicts.size()));
      if (fresh) mapped.verdicts.push_back(instruction.k);
      instruction.k = abi::kErrno | (kFirstErrno + at->second);
    }
    mapped.code.push_back(instruction);
  }
  if (mapped.verdicts.size() > 2000) return failure(Errc::budget, "too many verdicts");
  return mapped;
}

// Runs in the child: from the install on, only make_call and leave_child.
[[noreturn]] void run_child(const Mapped& mapped, std::span<const abi::SeccompData> calls, long* answers) {
  ::sock_fprog program{static_cast<unsigned short>(mapped.code.size()), const_cast<sock_filter*>(mapped.code.data())};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(1);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(2);
  for (std::size_t i = 0; i < calls.size(); ++i) answers[i] = make_call(calls[i]);
  leave_child();
}

class SharedAnswers {
 public:
  explicit SharedAnswers(std::size_t count)
      : bytes_(std::max<std::size_t>(count, 1) * sizeof(long)),
        memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  SharedAnswers(const SharedAnswers&) = delete;
  SharedAnswers& operator=(const SharedAnswers&) = delete;
  ~SharedAnswers() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, bytes_);
  }
  long* get() const { return memory_ == MAP_FAILED ? nullptr : static_cast<long*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

Result<void> run_in_child(const Mapped& mapped, std::span<const abi::SeccompData> calls, long* answers) {
  const pid_t child = ::fork();
  if (child < 0) return errno_failure("fork");
  if (child == 0) run_child(mapped, calls, answers);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno_failure("waitpid");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return failure(Errc::refused, "the child ended with wait status " + std::to_string(status));
}

}  // namespace

std::optional<std::string> kernel_executor_missing() {
#if defined(__x86_64__)
  return std::nullopt;
#else
  return "the kernel executor knows only x86_64";
#endif
}

Result<KernelAnswers> ask_kernel(program::CodeView code, std::span<const abi::SeccompData> calls) {
  TRY_ASSIGN(const Mapped mapped, map_verdicts(code));
  std::vector<abi::SeccompData> possible;
  for (const abi::SeccompData& call : calls)
    if (can_make(call)) possible.push_back(call);
  const SharedAnswers answers(possible.size());
  if (answers.get() == nullptr) return errno_failure("mmap");
  TRY(run_in_child(mapped, possible, answers.get()));
  KernelAnswers result;
  std::size_t next = 0;
  for (const abi::SeccompData& call : calls) {
    if (!can_make(call)) {
      result.emplace_back(std::nullopt);
      continue;
    }
    const long answer = -answers.get()[next++] - static_cast<long>(kFirstErrno);
    if (answer < 0 || answer >= static_cast<long>(mapped.verdicts.size()))
      return failure(Errc::refused, "call " + std::to_string(next - 1) + " was not answered by the program");
    result.emplace_back(mapped.verdicts[static_cast<std::size_t>(answer)]);
  }
  return result;
}

}  // namespace seccompress::test
