// SPDX-License-Identifier: Apache-2.0
#include "options.h"

namespace seccompress::cmd {

void add_output_options(CommandLine& app, OutputOptions& options) {
  app.flag("--json", options.json, "machine-readable output");
  app.flag("-q,--quiet", options.quiet, "no summary and no warnings");
}

void add_read_options(CommandLine& app, CompileOptions& options) {
  app.option("--arch", options.arch, "the machine that profiles are resolved for (default: this one)");
  app.option("--caps", options.caps,
             "capabilities of the container: names, default, default:podman, default:crio, all, 0xMASK");
  app.option("--kernel", options.kernel, "kernel version that profiles are resolved for (default: this one's)");
  app.option(
      "--systemd-version", options.systemd_version,
      "systemd version that units are read for: a number, or host (default): this host's systemd-analyze is asked");
  app.option("--host-facts", options.host_facts,
             "arch, kernel, capabilities and systemd as a --json report tells them, instead of this host's");
  app.option("--runtime", options.runtime, "add what this runtime itself makes of a profile: runc, crun or youki");
  app.option("--lint", options.lint, "warnings about profiles: warn (default), error or off",
             {.one_of = {"warn", "error", "off"}});
  app.flag("--timings", options.timings, "CPU time of each stage");
}

void add_emit_options(CommandLine& app, CompileOptions& options) {
  app.option("--weights", options.weights, "how often each call is made: NAME WEIGHT lines or strace -c output");
  app.flag("--no-cache-model", options.no_cache_model, "for kernels before 5.11: always-allowed calls cost too");
}

}  // namespace seccompress::cmd
