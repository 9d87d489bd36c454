// SPDX-License-Identifier: Apache-2.0
// Build-time generator: for every system call that the installed libseccomp knows prints, sorted by name,
// `ROW("name", number of the first architecture of arch.def, ...)` with kNone where an architecture has none;
// then `SLOT(row + 1)` for each slot of a hash table over the names (name_hash.h, linear probing, 0 = empty).
// libseccomp has no iterator: numbers are probed in the windows where architectures keep theirs.
#include <seccomp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "abi/name_hash.h"

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

using seccompress::abi::hash_name;
using seccompress::abi::kNameSlots;

constexpr std::size_t kArchCount = std::size(kArches);
using Row = std::vector<long long>;  // one number an architecture, -1: none
using Rows = std::map<std::string, Row>;

void add_arch(Rows& rows, std::size_t column) {
  const std::uint32_t token = kArches[column].token;
  for (const Window& window : kWindows)
    for (int nr = window.first; nr <= window.last; ++nr) {
      char* name = seccomp_syscall_resolve_num_arch(token, nr);
      if (name != nullptr && is_its_name(nr, seccomp_syscall_resolve_name_arch(token, name)))
        rows.try_emplace(name, kArchCount, -1).first->second[column] = nr;
      std::free(name);
    }
}

void print_rows(const Rows& rows) {
  for (const auto& [name, numbers] : rows) {
    std::printf("ROW(\"%s\"", name.c_str());
    for (const long long number : numbers)
      if (number < 0)
        std::printf(", kNone");
      else
        std::printf(", %lldU", number);
    std::printf(")\n");
  }
}

void print_slots(const Rows& rows) {
  std::vector<std::size_t> slots(kNameSlots, 0);
  std::size_t row = 0;
  for (const auto& [name, numbers] : rows) {
    std::size_t slot = hash_name(name) % kNameSlots;
    while (slots[slot] != 0) slot = (slot + 1) % kNameSlots;
    slots[slot] = ++row;
  }
  for (const std::size_t slot : slots) std::printf("SLOT(%zu)\n", slot);
}

}  // namespace

int main() {
  Rows rows;
  for (std::size_t column = 0; column < kArchCount; ++column) add_arch(rows, column);
  if (rows.empty() || rows.size() > kNameSlots / 2) {
    std::fprintf(stderr, "generate_syscalls: %zu names do not fit name_hash.h\n", rows.size());
    return 1;
  }
  print_rows(rows);
  print_slots(rows);
}
