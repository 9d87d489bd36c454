// SPDX-License-Identifier: Apache-2.0
// Time for records and deadlines.
#pragma once

namespace seccompress {

double monotonic_milliseconds();  // CLOCK_MONOTONIC
double cpu_microseconds();        // CLOCK_THREAD_CPUTIME_ID

// Adds the CPU time of its own lifetime to `sum`, in microseconds.
class CpuTimer {
 public:
  explicit CpuTimer(double& sum) : sum_(sum), start_(cpu_microseconds()) {}
  CpuTimer(const CpuTimer&) = delete;
  CpuTimer& operator=(const CpuTimer&) = delete;
  ~CpuTimer() { sum_ += cpu_microseconds() - start_; }

 private:
  double& sum_;
  double start_;
};

}  // namespace seccompress
