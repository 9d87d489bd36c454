// SPDX-License-Identifier: Apache-2.0
// Runs one program of this host and takes what it prints. The only place that starts programs to ask them something:
// the hook, its tracer and the runtime wrapper start none (test/style/no_spawn_test.py).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "support/result.h"

namespace seccompress::host {

struct Command {
  std::string path;  // absolute; no search, no shell
  std::vector<std::string> arguments;
  std::chrono::milliseconds deadline{10'000};
  std::size_t max_output = std::size_t{1} << 20;
};
struct Finished {
  int exit_code;
  std::string output;  // of its stdout
};
// The program gets an empty environment, /dev/null as stdin and stderr, and no other descriptor of ours. Past its
// deadline or its output's limit it is killed, with what it started itself (its process group). Errors: the errno of
// what could not be done, Errc::budget for both limits, Errc::refused for a death by signal.
Result<Finished> spawn(const Command& command);

}  // namespace seccompress::host
