// SPDX-License-Identifier: Apache-2.0
// What the kernel's constant-action cache will hold for a stack: /proc/PID/seccomp_cache, predicted. x86_64.
// Sources: kernel/seccomp.c (seccomp_cache_prepare, proc_pid_seccomp_cache), arch/x86/include/asm/seccomp.h (names and
// order of the two architectures).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

namespace seccompress::program {

// What a prediction needs to know of the kernel.
struct CacheKernel {
  std::uint32_t numbers = 0;          // NR_syscalls; 0: a kernel without the cache
  std::vector<std::uint32_t> exempt;  // native numbers that seccomp does not see: ALLOW whatever the filters say
};
// By version, for x86_64. NR_syscalls: arch/x86/entry/syscalls/syscall_64.tbl of each release; uretprobe (335) and
// uprobe (336) are exempt where they exist (back-ported to the stable kernels that have uretprobe).
CacheKernel cache_kernel(unsigned major, unsigned minor);

struct CachedArch {
  std::string name;  // "x86_64", "ia32"
  std::uint32_t audit = 0;
  std::vector<bool> allowed;  // by number
  std::size_t count() const;  // of those set
};
// The filters in any order: the bits do not depend on it.
std::vector<CachedArch> predict_cache(std::span<const Code> filters, const CacheKernel& kernel);
std::string cache_report(std::span<const CachedArch> arches);  // "x86_64 0 ALLOW\n"...

}  // namespace seccompress::program
