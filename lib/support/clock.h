// SPDX-License-Identifier: Apache-2.0
// Time for records and deadlines.
#pragma once

namespace seccompress {

double monotonic_milliseconds();  // CLOCK_MONOTONIC
double cpu_microseconds();        // CLOCK_THREAD_CPUTIME_ID

}  // namespace seccompress
