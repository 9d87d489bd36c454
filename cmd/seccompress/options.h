// SPDX-License-Identifier: Apache-2.0
// The options that subcommands share, and their one way into CLI11.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace seccompress::cmd {

struct OutputOptions {
  bool json = false;
  bool quiet = false;
};

// What layers are read and compiled with; texts as typed, Session makes sense of them.
struct CompileOptions {
  std::string arch, caps, kernel, systemd_version, runtime, weights;
  bool no_cache_model = false;
  bool timings = false;
  std::string lint = "warn";
};

void add_output_options(CLI::App& app, OutputOptions& options);
void add_read_options(CLI::App& app, CompileOptions& options);
void add_emit_options(CLI::App& app, CompileOptions& options);

// Parses. A value is the exit code to end with: 0 after --help, 2 after misuse (explained on stderr).
std::optional<int> parse(CLI::App& app, int argc, char** argv);

}  // namespace seccompress::cmd
