// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "output.h"

namespace seccompress::cmd {

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_flag("--json", options.json, "machine-readable output");
  app.add_flag("-q,--quiet", options.quiet, "no summary and no warnings");
}

void add_read_options(CLI::App& app, CompileOptions& options) {
  app.add_option("--arch", options.arch, "the machine that profiles are resolved for (default: this one)");
  app.add_option("--caps", options.caps,
                 "capabilities of the container: names, default, default:podman, default:crio, all, 0xMASK");
  app.add_option("--kernel", options.kernel, "kernel version that profiles are resolved for (default: this one's)");
  app.add_option("--systemd-version", options.systemd_version,
                 "systemd version that units are read for (default: 252)");
  app.add_option("--runtime", options.runtime, "add what this runtime itself makes of a profile: runc, crun or youki");
  app.add_option("--lint", options.lint, "warnings about profiles: warn (default), error or off")
      ->check(CLI::IsMember({"warn", "error", "off"}).description(""));
  app.add_flag("--timings", options.timings, "CPU time of each stage");
}

void add_emit_options(CLI::App& app, CompileOptions& options) {
  app.add_option("--weights", options.weights, "how often each call is made: NAME WEIGHT lines or strace -c output");
  app.add_flag("--no-cache-model", options.no_cache_model, "for kernels before 5.11: always-allowed calls cost too");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::ParseError& misuse) {
    complain({Severity::error, "usage", {}, misuse.what(), "see " + app.get_name() + " --help"});
    return kFailed;
  }
}

}  // namespace seccompress::cmd
