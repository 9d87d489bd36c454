// SPDX-License-Identifier: Apache-2.0
// A child process under a stack of filters that runs a loop of system calls whenever it is asked to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program/verified_program.h"
#include "support/result.h"
#include "support/unique_fd.h"

namespace seccompress::bench {

enum class Loop : std::uint8_t {
  five_calls,  // close(dup(0)), getpid, getuid, umask: what UnixBench's system call test makes
  getpid,
};

struct Rounds {
  double count = 0, seconds = 0;  // of processor time
};

class Worker {
 public:
  // The filters oldest first, installed with no_new_privs in one fork each worker. They have to let the worker read,
  // write and read the clock; the error says with which of them it ended.
  static Result<std::unique_ptr<Worker>> start(std::span<const program::VerifiedProgram> filters);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // For that much processor time, or less where it does not get that within four times as long.
  Result<Rounds> run(Loop loop, double seconds);
  pid_t pid() const { return pid_; }

 private:
  Worker(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}
  Result<void> await_ready(std::size_t filters);
  tl::unexpected<Error> ended(const std::string& doing);

  pid_t pid_;
  UniqueFd channel_;
  bool reaped_ = false;
};

// Processor time that a fresh child takes to install all the filters, oldest first.
Result<double> install_microseconds(std::span<const program::VerifiedProgram> filters);

// This process and what it starts from now on stay on the processor that they are on; false: they may wander.
bool stay_on_one_cpu();

}  // namespace seccompress::bench
