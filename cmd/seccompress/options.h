// SPDX-License-Identifier: Apache-2.0
// The options that subcommands share.
#pragma once

#include <string>

#include "command_line.h"

namespace seccompress::cmd {

struct OutputOptions {
  bool json = false;
  bool quiet = false;
};

// What layers are read and compiled with; texts as typed, Session makes sense of them.
struct CompileOptions {
  std::string arch, caps, kernel, systemd_version, host_facts, runtime, weights;
  bool no_cache_model = false;
  bool timings = false;
  std::string lint = "warn";
};

void add_output_options(CommandLine& app, OutputOptions& options);
void add_read_options(CommandLine& app, CompileOptions& options);
void add_emit_options(CommandLine& app, CompileOptions& options);

}  // namespace seccompress::cmd
