// SPDX-License-Identifier: Apache-2.0
#include "abi/multiplex.h"

#include "abi/syscalls.h"

namespace seccompress::abi {
namespace {

struct Entry {
  std::string_view name;
  std::string_view through;
  std::uint32_t call;
};

constexpr Entry kCalls[] = {
    {"socket", "socketcall", 1},
    {"bind", "socketcall", 2},
    {"connect", "socketcall", 3},
    {"listen", "socketcall", 4},
    {"accept", "socketcall", 5},
    {"getsockname", "socketcall", 6},
    {"getpeername", "socketcall", 7},
    {"socketpair", "socketcall", 8},
    {"send", "socketcall", 9},
    {"recv", "socketcall", 10},
    {"sendto", "socketcall", 11},
    {"recvfrom", "socketcall", 12},
    {"shutdown", "socketcall", 13},
    {"setsockopt", "socketcall", 14},
    {"getsockopt", "socketcall", 15},
    {"sendmsg", "socketcall", 16},
    {"recvmsg", "socketcall", 17},
    {"accept4", "socketcall", 18},
    {"recvmmsg", "socketcall", 19},
    {"sendmmsg", "socketcall", 20},
    {"semop", "ipc", 1},
    {"semget", "ipc", 2},
    {"semctl", "ipc", 3},
    {"semtimedop", "ipc", 4},
    {"msgsnd", "ipc", 11},
    {"msgrcv", "ipc", 12},
    {"msgget", "ipc", 13},
    {"msgctl", "ipc", 14},
    {"shmat", "ipc", 21},
    {"shmdt", "ipc", 22},
    {"shmget", "ipc", 23},
    {"shmctl", "ipc", 24},
};

constexpr Arch kArches[] = {Arch::x86,   Arch::mips,    Arch::mipsel, Arch::ppc,
                            Arch::ppc64, Arch::ppc64le, Arch::s390,   Arch::s390x};

bool can_begin(char c) {
  return c == 'a' || c == 'b' || c == 'c' || c == 'g' || c == 'l' || c == 'm' || c == 'r' || c == 's';
}

}  // namespace

bool has_multiplexed_calls(Arch arch) {
  for (const Arch one : kArches)
    if (one == arch) return true;
  return false;
}

std::optional<MultiplexedCall> multiplexed_call(Arch arch, std::string_view name) {
  if (name.empty() || !can_begin(name[0]) || !has_multiplexed_calls(arch)) return std::nullopt;
  for (const Entry& entry : kCalls) {
    if (entry.name != name) continue;
    const auto number = syscall_number(arch, entry.through);
    if (!number) return std::nullopt;
    return MultiplexedCall{*number, entry.call};
  }
  return std::nullopt;
}

}  // namespace seccompress::abi
