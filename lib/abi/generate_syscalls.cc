// SPDX-License-Identifier: Apache-2.0
// Build-time generator: prints `SYSCALL(arch, "name", number)` for every architecture and every system
// call that the installed libseccomp knows, sorted by (architecture, name). libseccomp has no iterator:
// numbers are probed in the windows where architectures keep theirs.
#include <seccomp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

struct Arch {
  const char* name;
  std::uint32_t token;
};
constexpr Arch kArches[] = {
#define ARCH(name, oci, docker, audit, token) {#name, token},
#include "abi/arch.def"
#undef ARCH
};

struct Window {
  int first, last;
};
// 0: most; ARM private calls; MIPS o32/n64/n32 bases; the x32 bit.
constexpr Window kWindows[] = {{0, 1023}, {0x0f0000, 0x0f000f}, {4000, 7023}, {0x40000000, 0x40000000 + 1023}};

// libseccomp answers socket and ipc names of multiplexing architectures with its pseudo numbers (-1xx, -2xx)
// although the architecture has a direct call as well (x86 socket: -101 and 359).
bool is_its_name(int nr, int resolved) { return resolved == nr || (resolved <= -100 && resolved >= -299); }

}  // namespace

int main() {
  for (const Arch& arch : kArches) {
    std::map<std::string, int> numbers;
    for (const Window& window : kWindows)
      for (int nr = window.first; nr <= window.last; ++nr) {
        char* name = seccomp_syscall_resolve_num_arch(arch.token, nr);
        if (name != nullptr && is_its_name(nr, seccomp_syscall_resolve_name_arch(arch.token, name))) numbers[name] = nr;
        std::free(name);
      }
    for (const auto& [name, nr] : numbers) std::printf("SYSCALL(%s, \"%s\", %dU)\n", arch.name, name.c_str(), nr);
  }
}
