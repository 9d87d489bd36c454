// SPDX-License-Identifier: Apache-2.0
// Runs inside the quickstart's container (static: the image holds busybox and nothing else). Makes a few raw
// system calls and prints one line each: label, number, six arguments, errno (0 = it worked), tab-separated.
// Every call works where no filter refuses it.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace {

using Arguments = std::array<std::uintptr_t, 6>;

void probe(const char* label, long number, const Arguments& a) {
  errno = 0;
  const long result = ::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  const int error = result == -1 ? errno : 0;
  std::printf("%s\t%ld\t%#lx %#lx %#lx %#lx %#lx %#lx\t%d\n", label, number, a[0], a[1], a[2], a[3], a[4], a[5], error);
}

std::uintptr_t at(const char* path) { return reinterpret_cast<std::uintptr_t>(path); }

}  // namespace

int main() {
  constexpr auto kHere = static_cast<std::uintptr_t>(static_cast<unsigned>(AT_FDCWD));
  constexpr std::uintptr_t kPage = 4096, kNoFile = 0xffffffff;
  constexpr std::uintptr_t kSessionKeyring = static_cast<std::uintptr_t>(KEY_SPEC_SESSION_KEYRING);
  probe("openat(\"/file\", O_RDONLY)", SYS_openat, {kHere, at("/file"), O_RDONLY | O_CLOEXEC});
  probe("fchmodat(\"/file\", 0755)", SYS_fchmodat, {kHere, at("/file"), 0755});
  probe("socket(AF_INET, SOCK_STREAM)", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC});
  probe("fchmodat(\"/file\", 04755): set-uid", SYS_fchmodat, {kHere, at("/file"), 04755});
  probe("socket(AF_NETLINK, SOCK_RAW)", SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE});
  probe("mmap(PROT_WRITE|PROT_EXEC)", SYS_mmap,
        {0, kPage, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, kNoFile, 0});
  probe("keyctl(KEYCTL_GET_KEYRING_ID)", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, kSessionKeyring, 1});
  return 0;
}
