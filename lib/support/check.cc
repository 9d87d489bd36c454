// SPDX-License-Identifier: Apache-2.0
#include "support/check.h"

#include <cstdio>
#include <cstdlib>

namespace seccompress {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "seccompress: internal error: %s:%d: %s\n", file, line, expression);
  std::abort();
}

}  // namespace seccompress
