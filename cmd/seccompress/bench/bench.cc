// SPDX-License-Identifier: Apache-2.0
// bench: the published measurements of stacked filters, and the same here for a stack and its flat program.
#include "bench.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bench/svg.h"
#include "command.h"
#include "host/host_facts.h"
#include "output.h"
#include "report_output.h"
#include "support/file.h"

namespace seccompress::cmd {
namespace {

struct Measurement {
  std::string_view name;
  Result<bench::Report> (*run)(BenchContext& context);
  std::string_view help;
};
constexpr std::array kMeasurements = {
    Measurement{"unixbench", bench_unixbench, "a loop of five calls under 0, 1, 4, 32 filters; time to install (40 s)"},
    Measurement{"entry", bench_entry, "nanoseconds of getpid; estimates for entering and for each filter (40 s)"},
    Measurement{"allow-min", bench_allow_min, "the loop of always-allowed calls, flat, stacked and unfiltered (12 s)"},
    Measurement{"cache", bench_cache,
                "how many calls the kernel's cache answers, predicted and as the kernel says (1 s)"},
    Measurement{"snap", bench_snap, "instructions executed on snapd's template, three builds (1 s)"},
    Measurement{"build", bench_build, "files of this project compiled on the host and in runc's containers (4 min)"},
    Measurement{"hook", bench_hook, "containers of runc and crun, alone and with each route of the hook (1 min)"},
};

const Measurement* find_measurement(const std::string& name) {
  for (const Measurement& one : kMeasurements)
    if (one.name == name) return &one;
  return nullptr;
}

std::string names_text() {
  Table table(true);
  for (const Measurement& one : kMeasurements) table.add({"  " + std::string(one.name), std::string(one.help)});
  return table.text();
}

struct BenchOptions {
  std::string name, svg, hook, sources;
  std::vector<std::string> layers;
  unsigned trials = static_cast<unsigned>(bench::Plan().trials);
  bool quick = false;
};

bench::Progress progress_on_terminal(bool quiet) {
  if (quiet || ::isatty(STDERR_FILENO) != 1) return [](const std::string&, double) {};
  return [](const std::string& what, double share) {
    const std::string line = "\r\033[K" + std::to_string(static_cast<int>(share * 100)) + " % " + what;
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  };
}

void end_progress(bool quiet) {
  if (!quiet && ::isatty(STDERR_FILENO) == 1) static_cast<void>(!::write(STDERR_FILENO, "\r\033[K", 4));
}

double load() {
  double average = 0;
  return ::getloadavg(&average, 1) == 1 ? average : 0;
}

Result<void> run_measurement(Session& session, const BenchOptions& options) {
  const Measurement* measurement = find_measurement(options.name);
  if (measurement == nullptr)
    return failure(Errc::malformed, "no measurement is called '" + options.name + "'; they are\n" + names_text());
  TRY(session.prepare());
  BenchContext context{session,
                       options.layers,
                       {},
                       options.quick,
                       options.hook,
                       options.sources,
                       progress_on_terminal(session.output().quiet)};
  context.plan.trials = static_cast<int>(options.trials);
  if (options.quick) context.plan.seconds = 0.01;
  if (options.quick && (measurement->run == bench_build || measurement->run == bench_hook)) context.plan.trials = 3;
  const double load_before = load();
  // A tracer and what it traces run side by side: one processor for both is not how the hook is used.
  const bool pinned = measurement->run != bench_hook && bench::stay_on_one_cpu();
  auto report = measurement->run(context);
  end_progress(session.output().quiet);
  if (!report) return tl::unexpected(std::move(report).error());
  if (!options.svg.empty()) {
    TRY(write_file_atomically(options.svg, bench::to_svg(*report)));
  }
  TRY_ASSIGN(const host::HostFacts host, host::host_facts());
  nlohmann::ordered_json json = to_json(*report);
  json["quick"] = options.quick;
  json["machine"] = {
      {"kernel", host.kernel_release}, {"load_before", load_before}, {"load_after", load()}, {"pinned", pinned}};
  json["host"] = session.host_json();
  const std::string machine = "Linux " + host.kernel_release + ", load " + std::to_string(load_before).substr(0, 4) +
                              " before, " + std::to_string(load()).substr(0, 4) + " after" +
                              (pinned ? ", on one processor\n" : ", on any processor\n");
  const int printed = session.output().json ? print_json(json) : print(to_text(*report) + machine);
  return printed == kOk ? Result<void>() : reported();
}

}  // namespace

int run_bench(int argc, char** argv) {
  CommandLine app(
      "Published measurements of stacked filters, and the same here for a stack and for its flat program. Ratios are\n"
      "taken between trials that ran next to each other. NAME, and how long it takes at most on an idle machine:\n" +
          names_text() +
          "Without LAYER the stack is built in: a hardened service's filters under a container's. Times are for 7 "
          "trials;\n"
          "with --quick each takes less than 10 s.",
      "seccompress bench");
  BenchOptions bench;
  CompileOptions compile;
  OutputOptions output;
  app.option("NAME", bench.name, "which measurement", {.required = true});
  app.option("LAYER", bench.layers, "[KIND:]LOCATION, oldest first: the stack to measure");
  app.option("--trials", bench.trials, "alternating trials (default: 7)", {.least = 3, .most = 1000});
  app.flag("--quick", bench.quick, "short trials: to see that it works, not to measure");
  app.option("--svg", bench.svg, "a plot");
  app.option("--hook", bench.hook, "build, hook: the hook's program (default: beside this one)");
  app.option("--sources", bench.sources, "build: this project's source folder (default: where it was built from)");
  add_read_options(app, compile);
  add_emit_options(app, compile);
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;

  Session session(compile, output);
  const Result<void> done = run_measurement(session, bench);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
