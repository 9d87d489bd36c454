// SPDX-License-Identifier: Apache-2.0
// build: files of this project compiled one after the other on one processor: on the host, and in runc's containers
// without a filter, under the stack, and under its flat program, which the real hook puts in. Timed inside, by bash.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "containers.h"
#include "host/spawn.h"
#include "inputs.h"
#include "output.h"

namespace seccompress::cmd {
namespace {

using bench::ContainerGround;
using bench::ContainerOptions;
using bench::Row;
using bench::Section;

constexpr std::chrono::milliseconds kDeadline{600'000};
constexpr const char* kShell = "/bin/bash";
constexpr const char* kDefaultSources =
#include "project_sources.inc"
    ;
constexpr const char* kFiles[] = {"cost.cc", "cache.cc", "check.cc", "instructions.cc", "interpret.cc"};

// Seconds of the day and of the processor, as bash prints them.
struct Times {
  double real = 0, processor = 0;
};

// "1.234 1.100 0.120" on the last line.
Result<Times> parse_times(const std::string& output) {
  std::string last = output;
  while (last.ends_with('\n')) last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  char* end = nullptr;
  const double real = std::strtod(last.c_str(), &end), user = std::strtod(end, &end), system = std::strtod(end, &end);
  if (real <= 0 || *end != '\0') return failure(Errc::refused, "the build failed: " + output);
  return Times{real, user + system};
}

struct Compilation {
  std::string sources, script;
};

Result<Compilation> find_compilation(const BenchContext& context) {
  Compilation found{context.sources.empty() ? kDefaultSources : context.sources, {}};
  const auto compiler = bench::find_program("g++");
  if (!compiler) return failure(Errc::refused, "g++ is not installed, and it is what is measured");
  if (!std::filesystem::exists(found.sources + "/lib/program/cost.cc"))
    return failure(Errc::refused, found.sources + " has no sources of this project; name their folder with --sources");
  std::string files;
  for (std::size_t i = 0; i < (context.quick ? 1 : std::size(kFiles)); ++i)
    files += ' ' + found.sources + "/lib/program/" + kFiles[i];
  found.script = "TIMEFORMAT='%3R %3U %3S'; export PATH=/usr/bin:/bin TMPDIR=/tmp; { time for f in" + files + "; do " +
                 *compiler + " -std=c++20 -O1 -D_GNU_SOURCE -DFMT_HEADER_ONLY -I " + found.sources +
                 "/lib -c $f -o /tmp/seccompress-bench.o || exit 1; done; } 2>&1";
  return found;
}

struct Candidate {
  std::string label, bundle;  // no bundle: on the host
  Row real, processor;
};

class BuildBench {
 public:
  BuildBench(BenchContext& context, ContainerGround& ground, std::string runtime, Compilation compilation)
      : context_(context), ground_(ground), runtime_(std::move(runtime)), compilation_(std::move(compilation)) {}
  Result<void> prepare();
  Result<void> measure();
  std::vector<Candidate>& candidates() { return candidates_; }

 private:
  Result<void> add(const std::string& label, ContainerOptions options);
  Result<Times> once(const Candidate& candidate);

  BenchContext& context_;
  ContainerGround& ground_;
  std::string runtime_;
  Compilation compilation_;
  std::vector<Candidate> candidates_;
};

Result<void> BuildBench::add(const std::string& label, ContainerOptions options) {
  options.runtime = runtime_;
  options.arguments.insert(options.arguments.end(), {kShell, "-c", compilation_.script});
  TRY_ASSIGN(const std::string bundle, ground_.bundle(options));
  candidates_.push_back({label, bundle, {label, {}}, {label, {}}});
  return {};
}

Result<void> BuildBench::prepare() {
  TRY_ASSIGN(const HookLayers layers, hook_layers(context_.session, context_.layers));
  TRY_ASSIGN(const std::string folder, put_filters(ground_, "layers", layers.strict));
  TRY_ASSIGN(const std::string self, ground_.copy("/proc/self/exe", "seccompress"));
  TRY_ASSIGN(const std::string profile, container_seccomp(context_.session));
  TRY_ASSIGN(const GroundHook hook, put_hook(ground_, context_, "hook", {"dir:" + folder}));
  ground_.show(compilation_.sources);
  candidates_.push_back({"on the host", {}, {"on the host", {}}, {"on the host", {}}});
  ContainerOptions options;
  TRY(add("in a container, no filter", options));
  options.profile = profile;
  options.arguments = {self, "run", "--stacked", "dir:" + folder, "--"};
  TRY(add("in a container, " + counted(layers.strict.size() + 1, "filter"), options));
  options.arguments.clear();
  options.hook_stage = "createRuntime";
  options.hook = hook.program;
  options.hook_arguments = hook.arguments();
  return add("in a container, flattened by the hook", options);
}

Result<Times> BuildBench::once(const Candidate& candidate) {
  if (candidate.bundle.empty()) {
    TRY_ASSIGN(const host::Finished done, host::spawn({kShell, {"-c", compilation_.script}, kDeadline}));
    return parse_times(done.output);
  }
  TRY_ASSIGN(const bench::ContainerRun done, ground_.run(runtime_, candidate.bundle, kDeadline));
  return parse_times(done.output);
}

Result<void> BuildBench::measure() {
  for (const Candidate& candidate : candidates_) TRY(once(candidate));  // the page cache
  double done = 0;
  for (int trial = 0; trial < context_.plan.trials; ++trial)
    for (Candidate& candidate : candidates_) {
      context_.progress(candidate.label, done++ / (context_.plan.trials * static_cast<double>(candidates_.size())));
      TRY_ASSIGN(const Times times, once(candidate));
      candidate.real.trials.push_back(times.real);
      candidate.processor.trials.push_back(times.processor);
    }
  return {};
}

}  // namespace

Result<bench::Report> bench_build(BenchContext& context) {
  TRY_ASSIGN(Compilation compilation, find_compilation(context));
  const auto runtime = bench::find_program("runc");
  if (!runtime) return failure(Errc::refused, "runc is not installed, and its containers are what is measured");
  TRY_ASSIGN(const auto ground, ContainerGround::make());
  BuildBench build(context, *ground, *runtime, std::move(compilation));
  TRY(build.prepare());
  TRY(build.measure());
  Section published{"published: a kernel build, one job, mean of the middle two of 4",
                    "seconds",
                    true,
                    0,
                    {{"on the host", {1097.38}},
                     {"in a container, no filter", {1095.54}},
                     {"in a container, its filter", {1242.47}}}};
  Section processor{"files of this project, processor time", "seconds"}, real{"the same, time of the day", "seconds"};
  for (Candidate& candidate : build.candidates()) {
    processor.rows.push_back(std::move(candidate.processor));
    real.rows.push_back(std::move(candidate.real));
  }
  bench::Report report{"build", "a real build in real containers"};
  report.sections = {std::move(published), std::move(processor), std::move(real)};
  return report;
}

}  // namespace seccompress::cmd
