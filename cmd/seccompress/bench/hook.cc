// SPDX-License-Identifier: Apache-2.0
// hook: how long a runtime takes for one short container, alone and with each route; alternating runs.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "containers.h"
#include "inputs.h"
#include "support/file.h"

namespace seccompress::cmd {
namespace {

using bench::ContainerGround;
using bench::ContainerOptions;
using bench::Row;
using bench::Section;

constexpr std::size_t kMaxLogBytes = std::size_t{16} << 20;
constexpr std::chrono::milliseconds kDeadline{60'000};

struct Route {
  std::string label, stage;  // no stage: no hook
  bool disabled = false;     // the hook starts, sees that it is switched off, and ends
  bool prepared = false;     // `seccompress prepare` was run: host layers and programs of earlier starts are kept
};
const std::vector<Route>& routes() {
  static const std::vector<Route> all{{"the runtime alone", ""},
                                      {"a hook that is switched off", "createRuntime", true},
                                      {"route 1: createRuntime, ptrace", "createRuntime"},
                                      {"route 1, prepared", "createRuntime", false, true},
                                      {"route 2: createContainer", "createContainer"},
                                      {"route 2, prepared", "createContainer", false, true}};
  return all;
}

struct Setup {
  std::string runtime;
  bool no_new_privs;
  std::string label() const { return runtime + (no_new_privs ? ", no_new_privs" : ", without no_new_privs"); }
};

struct Candidate {
  std::string label, bundle, log;
  Row wall, stops, hook, composing, tracing;
};

class HookBench {
 public:
  HookBench(BenchContext& context, ContainerGround& ground, std::string profile)
      : context_(context), ground_(ground), profile_(std::move(profile)) {}

  // Sections of one runtime; candidates that the runtime or the hook refuses are left out and noted.
  Result<void> measure(const Setup& setup, const std::string& layers, bench::Report& report, double from, double to);

 private:
  Result<Candidate> prepare(const Setup& setup, const Route& route, const std::string& layers);
  Result<void> trial(const std::string& runtime, Candidate& candidate);
  Result<void> take_record(Candidate& candidate);

  BenchContext& context_;
  ContainerGround& ground_;
  std::string profile_;
  unsigned prepared_ = 0;
};

Result<Candidate> HookBench::prepare(const Setup& setup, const Route& route, const std::string& layers) {
  Candidate candidate{route.label, {}, {}, {route.label, {}}, {}, {}, {}, {}};
  ContainerOptions options;
  options.runtime = setup.runtime;
  options.arguments = {"/usr/bin/true"};
  options.no_new_privs = setup.no_new_privs;
  options.profile = profile_;
  if (!route.stage.empty()) {
    const std::string name = "hook" + std::to_string(prepared_++);
    TRY_ASSIGN(const GroundHook hook, put_hook(ground_, context_, name, {"dir:" + layers}));
    if (route.disabled) {
      TRY(ground_.write(name + "/disabled", ""));
    } else {
      candidate.log = hook.log;
    }
    if (route.prepared) TRY(prepare_hook(hook));
    options.hook_stage = route.stage;
    options.hook = hook.program;
    options.hook_arguments = hook.arguments();
  }
  TRY_ASSIGN(candidate.bundle, ground_.bundle(options));
  TRY(ground_.run(setup.runtime, candidate.bundle, kDeadline));  // warms the page cache, and shows whether it works
  return candidate;
}

// The last line of its log: what the hook itself says of this run. The tracer writes it before it lets go.
Result<void> HookBench::take_record(Candidate& candidate) {
  if (candidate.log.empty()) return {};
  TRY_ASSIGN(std::string text, read_file(candidate.log, kMaxLogBytes));
  while (text.ends_with('\n')) text.pop_back();
  const auto record = nlohmann::json::parse(text.substr(text.rfind('\n') + 1), nullptr, false);
  if (!record.is_object() || record.value("outcome", "") != "installed")
    return failure(Errc::refused,
                   candidate.label + ": the hook installed nothing: " + text.substr(text.rfind('\n') + 1));
  candidate.stops.trials.push_back(record.value("stops", 0));
  const auto& times = record["milliseconds"];
  candidate.hook.trials.push_back(times.value("hook", 0.0));
  candidate.composing.trials.push_back(times.value("composing", 0.0));
  candidate.tracing.trials.push_back(times.value("tracing", 0.0));
  return {};
}

Result<void> HookBench::trial(const std::string& runtime, Candidate& candidate) {
  TRY_ASSIGN(const bench::ContainerRun run, ground_.run(runtime, candidate.bundle, kDeadline));
  candidate.wall.trials.push_back(run.milliseconds);
  return take_record(candidate);
}

std::vector<double> added(const Row& row, const Row& plain) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(row.trials.size(), plain.trials.size()); ++i)
    result.push_back(row.trials[i] - plain.trials[i]);
  return result;
}

void add_sections(const Setup& setup, std::vector<Candidate>& candidates, bench::Report& report) {
  Section wall{setup.label() + ": start, run and end", "milliseconds"};
  Section more{setup.label() + ": added to the runtime alone", "milliseconds", false, std::nullopt};
  std::vector<Section> accounts;
  for (Candidate& candidate : candidates) {
    if (!wall.rows.empty()) more.rows.push_back({candidate.label, added(candidate.wall, wall.rows[0])});
    if (!candidate.stops.trials.empty()) {
      Section own{setup.label() + ": the hook's own account, " + candidate.label, "stops; milliseconds", false,
                  std::nullopt};
      own.rows = {{"stops of init", candidate.stops.trials},
                  {"milliseconds in the hook", candidate.hook.trials},
                  {"milliseconds of merging and proving", candidate.composing.trials},
                  {"milliseconds traced", candidate.tracing.trials}};
      accounts.push_back(std::move(own));
    }
    wall.rows.push_back(std::move(candidate.wall));
  }
  report.sections.push_back(std::move(wall));
  report.sections.push_back(std::move(more));
  for (Section& own : accounts) report.sections.push_back(std::move(own));
}

Result<void> HookBench::measure(const Setup& setup, const std::string& layers, bench::Report& report, double from,
                                double to) {
  const auto runtime = bench::find_program(setup.runtime);
  if (!runtime) {
    report.notes.push_back(setup.label() + ": not installed");
    return {};
  }
  const Setup found{*runtime, setup.no_new_privs};
  std::vector<Candidate> candidates;
  for (const Route& route : routes()) {
    auto candidate = prepare(found, route, layers);
    if (!candidate && route.stage.empty()) {
      report.notes.push_back(setup.label() + ": not measured: " + to_string(candidate.error()));
      return {};
    }
    if (candidate)
      candidates.push_back(std::move(*candidate));
    else
      report.notes.push_back(setup.label() + ", " + route.label + ": refused: " + to_string(candidate.error()));
  }
  for (int i = 0; i < context_.plan.trials; ++i)
    for (Candidate& candidate : candidates) {
      context_.progress(setup.label() + ", " + candidate.label, from + (to - from) * i / context_.plan.trials);
      TRY(trial(found.runtime, candidate));
    }
  add_sections(setup, candidates, report);
  return {};
}

}  // namespace

Result<bench::Report> bench_hook(BenchContext& context) {
  TRY_ASSIGN(const auto ground, ContainerGround::make());
  TRY_ASSIGN(const HookLayers layers, hook_layers(context.session, context.layers));
  TRY_ASSIGN(const std::string strict, put_filters(*ground, "strict", layers.strict));
  TRY_ASSIGN(const std::string lenient, put_filters(*ground, "lenient", layers.lenient));
  TRY_ASSIGN(std::string profile, container_seccomp(context.session));
  bench::Report report{"hook", "what the hook adds to one container's life"};
  HookBench hook(context, *ground, std::move(profile));
  const Setup setups[] = {{"runc", false}, {"runc", true}, {"crun", false}, {"crun", true}};
  double from = 0;
  for (const Setup& setup : setups) {
    TRY(hook.measure(setup, setup.no_new_privs ? strict : lenient, report, from, from + 0.25));
    from += 0.25;
  }
  report.notes.push_back(
      fmt::format("host layers: {} filters with no_new_privs, {} without; bars, added at the median: "
                  "route 1 6 ms (runc), 12 ms (runc, no_new_privs), 5 ms (crun); others 5 % and a start",
                  layers.strict.size(), layers.lenient.size()));
  return report;
}

}  // namespace seccompress::cmd
