// SPDX-License-Identifier: Apache-2.0
#include "support/clock.h"

#include <time.h>

namespace seccompress {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

double monotonic_milliseconds() { return seconds(CLOCK_MONOTONIC) * 1e3; }
double cpu_microseconds() { return seconds(CLOCK_THREAD_CPUTIME_ID) * 1e6; }

}  // namespace seccompress
