// SPDX-License-Identifier: Apache-2.0
// CHECK: we are wrong. Aborts with the expression and place, in release builds too: a sandbox compiler
// that goes on after a broken invariant is worse than one that stops. In the hook an abort means that
// the container does not start.
#pragma once

namespace seccompress {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) [[unlikely]]                                 \
      ::seccompress::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
