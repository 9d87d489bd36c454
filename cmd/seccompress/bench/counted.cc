// SPDX-License-Identifier: Apache-2.0
// cache, snap: nothing is timed, figures are counted. Published: YiFei Zhu's report in /proc/PID/seccomp_cache; the
// instructions executed on snapd's template by libseccomp's linear and tree builds (Tom Hromatka, Linux Plumbers 2018).
#include <fmt/core.h>

#include "abi/syscalls.h"
#include "bench.h"
#include "inputs.h"
#include "output.h"
#include "program/cache_report.h"
#include "support/file.h"

namespace seccompress::cmd {
namespace {

using bench::Grid;
using bench::GridRow;
using program::CachedArch;

// ---- cache
// -----------------------------------------------------------------------------------------------------------

constexpr std::size_t kMaxReportBytes = std::size_t{1} << 20;

GridRow counts(const std::string& label, const std::vector<CachedArch>& arches) {
  GridRow row{label, false, {}};
  for (const CachedArch& arch : arches) row.values.push_back(static_cast<double>(arch.count()));
  return row;
}

// Names of the calls that `more` has and `less` has not.
std::string gained(const std::vector<CachedArch>& more, const std::vector<CachedArch>& less) {
  std::string names;
  for (std::size_t a = 0; a < more.size(); ++a)
    for (std::uint32_t nr = 0; nr < more[a].allowed.size(); ++nr)
      if (more[a].allowed[nr] && !less[a].allowed[nr])
        names += (names.empty() ? "" : ", ") + more[a].name + ' ' + abi::syscall_label(more[a].audit, nr);
  return names.empty() ? "none" : names;
}

// What the kernel itself reports for a process under these filters, beside the prediction.
Result<std::string> compare_with_kernel(const std::string& name, const std::vector<program::VerifiedProgram>& filters,
                                        const std::vector<CachedArch>& predicted) {
  TRY_ASSIGN(const auto worker, bench::Worker::start(filters));
  const std::string path = "/proc/" + std::to_string(worker->pid()) + "/seccomp_cache";
  auto report = read_file(path, kMaxReportBytes);
  if (!report && report.error().code == std::errc::no_such_file_or_directory)
    return name + ": this kernel has no /proc/PID/seccomp_cache (CONFIG_SECCOMP_CACHE_DEBUG)";
  if (!report) return tl::unexpected(std::move(report).error());
  const bool equal = *report == program::cache_report(predicted);
  return name +
         (equal ? ": the kernel's report is the predicted one" : ": THE KERNEL'S REPORT IS NOT THE PREDICTED ONE");
}

}  // namespace

Result<bench::Report> bench_cache(BenchContext& context) {
  TRY_ASSIGN(const BenchSubject subject, stack_subject(context.session, context.layers));
  const read::KernelVersion version = context.session.options().read.kernel;
  const program::CacheKernel kernel = program::cache_kernel(version.major, version.minor);
  if (kernel.numbers == 0) return failure(Errc::refused, "this kernel has no constant-action cache (5.11 and later)");
  const std::vector<CachedArch> stack = program::predict_cache(subject.filters, kernel);
  const std::vector<CachedArch> flat = program::predict_cache({&subject.flat[0].code(), 1}, kernel);
  Grid grid{"calls that the kernel's cache answers", fmt::format("predicted, of {} numbers", kernel.numbers), {}};
  for (const CachedArch& arch : stack) grid.columns.push_back(arch.name);
  grid.rows = {counts(counted(subject.stack.size(), "filter"), stack), counts("flattened", flat)};
  bench::Report report{"cache", "the kernel's cache of always-allowed calls"};
  report.grids.push_back(std::move(grid));
  report.notes = {"flattened only: " + gained(flat, stack), "stack only: " + gained(stack, flat)};
  TRY_ASSIGN(const std::string of_stack, compare_with_kernel("stack", subject.stack, stack));
  TRY_ASSIGN(const std::string of_flat, compare_with_kernel("flattened", subject.flat, flat));
  report.notes.push_back(of_stack);
  report.notes.push_back(of_flat);
  return report;
}

// ---- snap
// ------------------------------------------------------------------------------------------------------------

namespace {

constexpr const char* kSnapCalls[] = {"read", "lseek", "mmap", "getppid", "epoll_wait", "openat"};

Result<GridRow> executed_row(BenchContext& context, const std::string& label, const emit::Options& options) {
  PipelineOptions pipeline = context.session.options();
  pipeline.emit = options;
  TRY_ASSIGN(const program::Code code, flat_snap_template(pipeline));
  GridRow row{label, false, {}};
  abi::SeccompData call{};
  call.arch = abi::facts(abi::Arch::x86_64).audit;
  for (const char* name : kSnapCalls) {
    call.nr = static_cast<int>(abi::syscall_number(abi::Arch::x86_64, name).value_or(0));
    row.values.push_back(program::run(code, call).executed);
  }
  return row;
}

emit::Options weighing_alike(bool cache_model) {
  std::string table;
  for (const char* name : kSnapCalls) table += std::string(name) + " 1\n";
  Diagnostics diagnostics;
  auto weights = emit::Weights::parse(table, "the six calls", diagnostics);
  return {weights ? *weights : emit::Weights::uniform(), cache_model};
}

}  // namespace

Result<bench::Report> bench_snap(BenchContext& context) {
  Grid grid{"instructions executed on snapd's template, x86_64", "classic BPF", {}};
  grid.columns.assign(std::begin(kSnapCalls), std::end(kSnapCalls));
  grid.rows = {{"published: libseccomp, linear", true, {6, 14, 15, 108, 192, 204}},
               {"published: libseccomp, tree", true, {14, 14, 14, 16, 16, 16}}};
  const emit::Options chosen = context.session.options().emit;
  TRY_ASSIGN(GridRow own, executed_row(context, "flattened", chosen));
  TRY_ASSIGN(GridRow no_cache, executed_row(context, "flattened, --no-cache-model", {chosen.weights, false}));
  TRY_ASSIGN(GridRow alike, executed_row(context, "flattened, the six calls weighted alike", weighing_alike(false)));
  for (GridRow* row : {&own, &no_cache, &alike}) grid.rows.push_back(std::move(*row));
  bench::Report report{"snap", "snapd's default template, three builds"};
  report.grids.push_back(std::move(grid));
  report.notes = {
      "the template is that of snapd 2.57.6 (test/regression/snap-template.json); the published figures are of an "
      "older one",
      "bar, weighted alike: at most 6, 8, 8, 9, 9, 9"};
  return report;
}

}  // namespace seccompress::cmd
