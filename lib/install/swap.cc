// SPDX-License-Identifier: Apache-2.0
// Input: the tracee at the entry stop of its install call, a proved program. Output: what the kernel did.
// Entry points: classify, read_attempt, swap, inject.
//
// THE DANGEROUS PLACE, with tracee.cc: from the first write into the tracee to the caller's detach nothing here
// allocates, throws, logs or waits for anything but the tracee and the watchdog.
//
// Method. A program no longer than the runtime's own is written over it in place. A longer one gets memory: the
// call becomes mmap, runs, and the instruction pointer goes back over the `syscall` instruction (2 bytes). In
// both cases the call that finally runs is seccomp(SECCOMP_SET_MODE_FILTER, flags, ours). Nothing is ever written
// below the stack pointer (Go's stacks are small spans of its heap). All registers that a system call preserves
// are put back at the end: a compiler may count on them.
// Signals are blocked meanwhile (PTRACE_SETSIGMASK): Go preempts its threads with SIGURG, and a handler would run
// system calls of its own between our two.
// A container without a profile makes no install call: inject() makes one out of whatever call the tracee is stopped
// at, and then lets that call run as if nothing had been.
// Weaknesses: x86-64 only. The mapping stays until the exec. Another thread of init could change the program
// between our write and the kernel's copy; where GET_FILTER works the comparison afterwards shows it.
#include "install/swap.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

#include "install/fault_point.h"

namespace seccompress::install {
namespace {

constexpr std::uint32_t kNativeArch = AUDIT_ARCH_X86_64;
constexpr std::uint64_t kX32Bit = 0x40000000;  // __X32_SYSCALL_BIT
// The compat numbers of the two calls: arch/x86/entry/syscalls/syscall_32.tbl.
constexpr std::uint64_t kSeccompI386 = 354, kPrctlI386 = 172;
constexpr std::uint64_t kSyscallInstructionSize = 2;
constexpr std::uint64_t kLastError = static_cast<std::uint64_t>(-4095);

// kernel/seccomp.c seccomp_prepare_filter: "Installing a seccomp filter requires that the task has CAP_SYS_ADMIN in
// its namespace or be running with no_new_privs". The tracer sets neither.
constexpr char kNoPrivilege[] = "the kernel refused the program: it has neither no_new_privs nor CAP_SYS_ADMIN";

// struct sock_fprog as the tracee's ABI has it.
struct RemoteFprog {
  std::uint16_t length = 0;
  std::uint16_t padding[3] = {};
  std::uint64_t instructions = 0;
};
static_assert(sizeof(RemoteFprog) == sizeof(sock_fprog));

CallKind classify_numbers(const Call& call, std::uint64_t nr, std::uint64_t seccomp_nr, std::uint64_t prctl_nr) {
  // The kernel reads seccomp's operation as unsigned int, prctl's option as int and its mode as unsigned long.
  const std::uint32_t first = static_cast<std::uint32_t>(call.args[0]);
  if (nr == seccomp_nr && first == SECCOMP_SET_MODE_FILTER && call.args[2] != 0) return CallKind::install_seccomp;
  if (nr == prctl_nr && first == PR_SET_SECCOMP && call.args[1] == SECCOMP_MODE_FILTER && call.args[2] != 0)
    return CallKind::install_prctl;
  return CallKind::other;
}

SwapOutcome failed(const char* what, std::int64_t value = 0) {
  SwapOutcome outcome;
  outcome.what = what;
  outcome.value = value;
  return outcome;
}

// Runs the tracee to the next stop of `kind`, honouring group stops on the way. False: something else happened.
bool run_to(Tracee& tracee, Stop::Kind kind, Stop& stop) {
  if (!tracee.resume()) return false;
  for (;;) {
    stop = tracee.wait();
    if (stop.kind == kind) return true;
    bool going = false;
    if (stop.kind == Stop::Kind::group)
      going = tracee.listen();
    else if (stop.kind == Stop::Kind::trap)
      going = tracee.resume();
    else if (stop.kind == Stop::Kind::signal)
      going = tracee.resume(static_cast<int>(stop.value));  // SIGSTOP
    if (!going) return false;
  }
}

void set_call(user_regs_struct& registers, std::uint64_t nr, std::uint64_t a0, std::uint64_t a1, std::uint64_t a2) {
  registers.orig_rax = nr;
  registers.rdi = a0;
  registers.rsi = a1;
  registers.rdx = a2;
}

bool write_program(const Tracee& tracee, std::uint64_t fprog, std::uint64_t instructions, program::CodeView code) {
  RemoteFprog remote;
  remote.length = static_cast<std::uint16_t>(code.size());
  remote.instructions = instructions;
  return tracee.write(instructions, code.data(), code.size_bytes()) && tracee.write(fprog, &remote, sizeof remote);
}

// Turns the entry stop into an mmap of `size` bytes and comes back to an entry stop of the same instruction.
// Returns the address, or an error value above kLastError.
std::uint64_t map_in_tracee(Tracee& tracee, const user_regs_struct& original, std::size_t size) {
  constexpr auto kFailed = static_cast<std::uint64_t>(-EPROTO);
  std::uint16_t instruction = 0;
  if (!tracee.read(original.rip - kSyscallInstructionSize, &instruction, sizeof instruction) || instruction != 0x050f)
    return kFailed;  // 0f 05: `syscall`; anything else cannot be run again
  user_regs_struct registers = original;
  set_call(registers, SYS_mmap, 0, size, PROT_READ | PROT_WRITE);
  registers.r10 = MAP_PRIVATE | MAP_ANONYMOUS;
  registers.r8 = static_cast<std::uint64_t>(-1);
  registers.r9 = 0;
  Stop stop;
  if (!tracee.set_registers(registers) || !run_to(tracee, Stop::Kind::exit, stop)) return kFailed;
  const auto address = static_cast<std::uint64_t>(stop.value);
  if (address >= kLastError) return address;
  registers = original;
  registers.rip -= kSyscallInstructionSize;
  registers.rax = SYS_seccomp;  // no operation, no pointer: whatever goes wrong from here, it cannot install anything
  registers.orig_rax = static_cast<std::uint64_t>(-1);
  registers.rdi = UINT32_MAX;
  registers.rdx = 0;
  if (!tracee.set_registers(registers) || !run_to(tracee, Stop::Kind::entry, stop)) return kFailed;
  return stop.call.nr == SYS_seccomp ? address : kFailed;
}

// Puts the program where the kernel will read it; `fprog` is then what the call has to point to.
const char* place(Tracee& tracee, const Attempt& attempt, program::CodeView code, const user_regs_struct& original,
                  std::uint64_t& fprog, std::int64_t& error) {
  fprog = attempt.fprog;
  if (code.size() <= attempt.code.size()) {
    if (write_program(tracee, attempt.fprog, attempt.instructions, code)) return nullptr;
    error = errno;
    return "its memory could not be written";
  }
  fprog = map_in_tracee(tracee, original, sizeof(RemoteFprog) + code.size_bytes());
  error = static_cast<std::int64_t>(fprog);
  if (fprog >= kLastError) return "it could not be given memory for the program (mmap)";
  if (write_program(tracee, fprog, fprog + sizeof(RemoteFprog), code)) return nullptr;
  error = errno;
  return "the mapped memory could not be written";
}

bool newest_filter_is(const Tracee& tracee, int count, program::CodeView code, std::span<program::Instruction> scratch,
                      bool& compared) {
  const long length = tracee.read_filter(static_cast<unsigned>(count - 1), scratch);
  compared = length >= 0;
  // EACCES: this process is filtered itself; EINVAL/EIO: the kernel lacks CONFIG_CHECKPOINT_RESTORE.
  if (length < 0) return errno == EACCES || errno == EINVAL || errno == EIO;
  return static_cast<std::size_t>(length) == code.size() &&
         std::memcmp(scratch.data(), code.data(), code.size_bytes()) == 0;
}

bool call_succeeded(std::int64_t value, std::uint32_t flags) {
  return (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0 ? value >= 0 : value == 0;
}

SwapOutcome judge(const Tracee& tracee, const Attempt& attempt, program::CodeView code, std::uint32_t flags,
                  std::int64_t value, int filters_before, std::span<program::Instruction> scratch) {
  SwapOutcome outcome = failed(value == -EACCES ? kNoPrivilege : "the kernel refused the program", value);
  outcome.filters = tracee.filter_count();
  if (value == -EINVAL && flags != 0 && outcome.filters == filters_before) {
    // crun: "on EINVAL and no listener it retries with flags 0". Its memory has to be its own again.
    outcome.kind = SwapOutcome::Kind::retry;
    if (code.size() <= attempt.code.size() && !write_program(tracee, attempt.fprog, attempt.instructions, attempt.code))
      return failed("its memory could not be restored", errno);
    return outcome;
  }
  if (!call_succeeded(value, flags)) return outcome;
  if (outcome.filters != filters_before + 1)
    outcome.what = "the number of filters did not grow by exactly one";
  else if (!newest_filter_is(tracee, outcome.filters, code, scratch, outcome.bytes_compared))
    outcome.what = "the newest filter is not the program that was put there";
  else
    outcome.kind = SwapOutcome::Kind::installed;
  return outcome;
}

// What has to be as it was when the tracee goes on.
struct Saved {
  user_regs_struct registers{};
  std::uint64_t signals = 0;
  int filters = 0;
};

const char* save(const Tracee& tracee, Saved& saved, std::int64_t& error) {
  saved.filters = tracee.filter_count();
  if (saved.filters < 0) return "its filters could not be counted";
  error = 0;
  const char* what = nullptr;
  if (!tracee.registers(saved.registers))
    what = "its registers could not be read";
  else if (!tracee.block_signals(saved.signals))
    what = "its signals could not be blocked";
  if (what != nullptr) error = errno;
  return what;
}

// The stopped call becomes the installation of `code`; afterwards the tracee is at its exit stop.
const char* install(Tracee& tracee, const Attempt& attempt, program::CodeView code, std::uint32_t flags,
                    const Saved& saved, Stop& stop, std::int64_t& error) {
  std::uint64_t fprog = 0;
  if (const char* what = place(tracee, attempt, code, saved.registers, fprog, error)) return what;
  user_regs_struct registers = saved.registers;
  set_call(registers, SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, fprog);
  if (!tracee.set_registers(registers)) {
    error = errno;
    return "its registers could not be written";
  }
  fault_point("swapped");
  if (!run_to(tracee, Stop::Kind::exit, stop)) return "it ended or went elsewhere during the call";
  fault_point("installed");
  return nullptr;
}

// Brings the tracee back to the entry stop of the call that it was stopped at before inject().
bool run_again(Tracee& tracee, const Call& call, const user_regs_struct& original) {
  user_regs_struct registers = original;
  registers.rip -= kSyscallInstructionSize;
  registers.rax = call.nr;
  registers.orig_rax = static_cast<std::uint64_t>(-1);
  Stop stop;
  if (!tracee.set_registers(registers) || !run_to(tracee, Stop::Kind::entry, stop)) return false;
  return stop.call.arch == call.arch && stop.call.nr == call.nr &&
         std::memcmp(stop.call.args, call.args, sizeof call.args) == 0;
}

}  // namespace

CallKind classify(const Call& call) {
  if (call.arch == kNativeArch && (call.nr & kX32Bit) == 0)
    return classify_numbers(call, call.nr, SYS_seccomp, SYS_prctl);
  const CallKind foreign = call.arch == kNativeArch ? classify_numbers(call, call.nr & ~kX32Bit, SYS_seccomp, SYS_prctl)
                                                    : classify_numbers(call, call.nr, kSeccompI386, kPrctlI386);
  return foreign == CallKind::other ? CallKind::other : CallKind::foreign_install;
}

Step step_of(const Call& call) {
  if (call.arch != kNativeArch) return Step::other;
  switch (call.nr) {
    case SYS_pivot_root:
    case SYS_chroot: return Step::root_change;
    case SYS_setgroups:
    case SYS_setresgid:
    case SYS_setgid:
    case SYS_setresuid:
    case SYS_setuid:
    case SYS_capset: return Step::privilege_drop;
    case SYS_prctl:
      return static_cast<std::uint32_t>(call.args[0]) == PR_CAPBSET_DROP ? Step::privilege_drop : Step::other;
    case SYS_execve:
    case SYS_execveat: return Step::exec;
    default: return Step::other;
  }
}

std::optional<Attempt> read_attempt(const Tracee& tracee, const Call& call) {
  Attempt attempt;
  attempt.call = call;
  attempt.kind = classify(call);
  attempt.fprog = call.args[2];
  if (attempt.kind == CallKind::install_seccomp) attempt.flags = static_cast<std::uint32_t>(call.args[1]);
  RemoteFprog remote;
  if (!tracee.read(attempt.fprog, &remote, sizeof remote)) return std::nullopt;
  if (remote.length == 0 || remote.length > program::kMaxInstructions) return std::nullopt;
  attempt.instructions = remote.instructions;
  attempt.code.resize(remote.length);
  if (!tracee.read(attempt.instructions, attempt.code.data(), attempt.code.size() * sizeof(program::Instruction)))
    return std::nullopt;
  return attempt;
}

SwapOutcome swap(Tracee& tracee, const Attempt& attempt, const program::VerifiedProgram& program, std::uint32_t flags,
                 std::span<program::Instruction> scratch) {
  Saved saved;
  Stop stop;
  std::int64_t error = 0;
  if (const char* what = save(tracee, saved, error)) return failed(what, error);
  if (const char* what = install(tracee, attempt, program.view(), flags, saved, stop, error))
    return failed(what, error);
  user_regs_struct registers = saved.registers;
  registers.rax = static_cast<std::uint64_t>(stop.value);
  if (!tracee.set_registers(registers)) return failed("its registers could not be restored", errno);
  if (!tracee.restore_signals(saved.signals)) return failed("its signals could not be restored", errno);
  return judge(tracee, attempt, program.view(), flags, stop.value, saved.filters, scratch);
}

SwapOutcome inject(Tracee& tracee, const Call& call, const program::VerifiedProgram& program, std::uint32_t flags,
                   std::span<program::Instruction> scratch) {
  const Attempt nothing;  // no program to overwrite: ours gets memory
  Saved saved;
  Stop stop;
  std::int64_t error = 0;
  if (const char* what = save(tracee, saved, error)) return failed(what, error);
  if (const char* what = install(tracee, nothing, program.view(), flags, saved, stop, error))
    return failed(what, error);
  SwapOutcome outcome = judge(tracee, nothing, program.view(), flags, stop.value, saved.filters, scratch);
  if (outcome.kind == SwapOutcome::Kind::retry) outcome.kind = SwapOutcome::Kind::failed;  // there is nobody to retry
  if (outcome.kind != SwapOutcome::Kind::installed) return outcome;
  if (!run_again(tracee, call, saved.registers)) return failed("its own call could not be run again");
  if (!tracee.restore_signals(saved.signals)) return failed("its signals could not be restored", errno);
  return outcome;
}

}  // namespace seccompress::install
