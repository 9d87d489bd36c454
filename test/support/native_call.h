// SPDX-License-Identifier: Apache-2.0
// One x86_64 system call as a filter sees it: number and all six argument registers, nothing of libc's in between.
#pragma once

#include <cstdint>

#include "abi/word.h"

namespace seccompress::test {

#if defined(__x86_64__)
inline long make_native_call(const abi::SeccompData& call) {
  long result = static_cast<std::uint32_t>(call.nr);
  register auto a3 asm("r10") = call.args[3];
  register auto a4 asm("r8") = call.args[4];
  register auto a5 asm("r9") = call.args[5];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(call.args[0]), "S"(call.args[1]), "d"(call.args[2]), "r"(a3), "r"(a4), "r"(a5)
               : "rcx", "r11", "memory");
  return result;
}
#endif

}  // namespace seccompress::test
