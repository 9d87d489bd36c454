// SPDX-License-Identifier: Apache-2.0
// simulate: what each system call meets: its verdict, what the program executes for it, whether the kernel's cache
// answers it. --stack runs the unflattened filters; raw ones need no diagram for that, so every filter that the
// kernel takes can be simulated.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "abi/call.h"
#include "abi/syscalls.h"
#include "call_arguments.h"
#include "command.h"
#include "exact_stack.h"
#include "explain/call_cost.h"
#include "filter_list.h"
#include "output.h"
#include "program/cache_report.h"
#include "session.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
struct Programs {
  std::vector<program::Code> codes;  // oldest first
  std::string why_several;           // of flattened layers: why it is not one
};
constexpr std::uint32_t kNumbers = 512;

struct SimulateOptions {
  std::vector<std::string> layers, syscalls, exempt;
  std::string call_arch;
  std::uint32_t nr_syscalls = 0;
  bool stack = false, cache_report = false;
};

Result<Programs> programs_of(Session& session, const SimulateOptions& options) {
  Programs programs;
  if (options.stack) {
    for (const std::string& name : options.layers) {
      TRY_ASSIGN(read::Layer layer, session.read(name));
      TRY_ASSIGN(const std::vector<read::NamedFilter> filters, session.programs_of(std::move(layer)));
      for (const read::NamedFilter& filter : filters) programs.codes.push_back(filter.code);
    }
    TRY(session.show_diagnostics());
    return programs;
  }
  TRY_ASSIGN(Stack stack, session.compile(options.layers));
  TRY(session.show_diagnostics());
  TRY_ASSIGN(const ExactStack flat, flatten_to_stack(stack, session.options()));
  for (const program::VerifiedProgram& program : flat.programs) programs.codes.push_back(program.code());
  programs.why_several = flat.why;
  return programs;
}

Result<std::vector<std::uint32_t>> numbers_of(const SimulateOptions& options, abi::Arch arch) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : options.syscalls) {
    TRY_ASSIGN(const std::uint32_t nr, parse_syscall(name, arch));
    numbers.push_back(nr);
  }
  const std::uint32_t audit = abi::facts(arch).audit, base = arch == abi::Arch::x32 ? abi::kX32Bit : 0;
  for (std::uint32_t nr = base; options.syscalls.empty() && nr < base + kNumbers; ++nr)
    if (!abi::syscall_name(audit, nr).empty()) numbers.push_back(nr);
  return numbers;
}

// "a0.lo a1.hi": the words besides nr and arch that were loaded on the way.
std::string looked_at(const program::Run& run) {
  std::string text;
  for (abi::Word word = abi::kIpLow; word < abi::kWords; ++word)
    if ((run.words >> word & 1U) != 0) text += (text.empty() ? "" : " ") + abi::word_name(word);
  return text;
}

struct Row {
  abi::SeccompData call{};
  explain::CallCost cost;
};

std::vector<Row> simulate(const Programs& programs, abi::Arch arch, const std::vector<std::uint32_t>& numbers) {
  std::vector<Row> rows;
  for (const std::uint32_t nr : numbers) {
    Row row;
    row.call.arch = abi::facts(arch).audit;
    row.call.nr = static_cast<int>(nr);
    row.cost = explain::cost_of(programs.codes, row.call);
    // x32 numbers and foreign architectures have no bits in the cache (kernel/seccomp.c SECCOMP_ARCH_NATIVE, _COMPAT).
    row.cost.cached = row.cost.cached && arch != abi::Arch::x32;
    rows.push_back(row);
  }
  return rows;
}

std::string to_text(const Programs& programs, const std::vector<Row>& rows) {
  Table table(true);
  table.add({"call", "number", "verdict", "executed", "classic", "loads", "cache", "looks at (arguments taken as 0)"});
  for (const Row& row : rows) {
    const auto nr = static_cast<std::uint32_t>(row.call.nr);
    const program::Run& run = row.cost.run;
    table.add({abi::syscall_label(row.call.arch, nr), std::to_string(nr & ~abi::kX32Bit), abi::to_string(run.verdict),
               grouped(run.executed_converted), grouped(run.executed), grouped(run.loads),
               row.cost.cached ? "yes" : "no", looked_at(run)});
  }
  if (programs.why_several.empty()) return table.text();
  return table.text() + fmt::format("{} programs, not one: {}.\n", programs.codes.size(), programs.why_several);
}

Json to_json(const Session& session, const Programs& programs, const std::vector<Row>& rows) {
  Json calls = Json::array();
  for (const Row& row : rows)
    calls.push_back({{"call", abi::syscall_label(row.call.arch, static_cast<std::uint32_t>(row.call.nr))},
                     {"nr", static_cast<std::uint32_t>(row.call.nr)},
                     {"verdict", abi::to_string(row.cost.run.verdict)},
                     {"executed_converted", row.cost.run.executed_converted},
                     {"executed", row.cost.run.executed},
                     {"loads", row.cost.run.loads},
                     {"cached", row.cost.cached},
                     {"looks_at", looked_at(row.cost.run)}});
  return {{"programs", programs.codes.size()},
          {"why_several", programs.why_several.empty() ? Json() : Json(programs.why_several)},
          {"calls", calls},
          {"diagnostics", session.diagnostics_json()},
          {"host", session.host_json()}};
}

Result<program::CacheKernel> cache_kernel(const Session& session, const SimulateOptions& options) {
  if (session.options().read.arch != abi::Arch::x86_64)
    return failure(Errc::refused, "--cache-report: only known for x86_64");
  const read::KernelVersion version = session.options().read.kernel;
  program::CacheKernel kernel = program::cache_kernel(version.major, version.minor);
  if (kernel.numbers == 0 && options.nr_syscalls == 0)
    return failure(Errc::refused, fmt::format("--cache-report: Linux {}.{} has no such cache (5.11 and later)",
                                              version.major, version.minor));
  if (options.nr_syscalls > 0) kernel.numbers = options.nr_syscalls;
  if (!options.exempt.empty()) kernel.exempt.clear();
  for (const std::string& name : options.exempt) {
    if (name == "none") continue;
    TRY_ASSIGN(const std::uint32_t nr, parse_syscall(name, abi::Arch::x86_64));
    kernel.exempt.push_back(nr);
  }
  return kernel;
}

Json report_json(const std::vector<program::CachedArch>& arches) {
  Json json = Json::object();
  for (const program::CachedArch& arch : arches) {
    Json allowed = Json::array();
    for (std::size_t nr = 0; nr < arch.allowed.size(); ++nr)
      if (arch.allowed[nr]) allowed.push_back(nr);
    json[arch.name] = {{"numbers", arch.allowed.size()}, {"allow", allowed}};
  }
  return json;
}

Result<void> print_cache_report(const Session& session, const SimulateOptions& options, const Programs& programs) {
  TRY_ASSIGN(const program::CacheKernel kernel, cache_kernel(session, options));
  const std::vector<program::CachedArch> arches = program::predict_cache(programs.codes, kernel);
  const int printed = session.output().json ? print_json(report_json(arches)) : print(program::cache_report(arches));
  return printed == kOk ? Result<void>() : reported();
}

Result<void> simulate_layers(Session& session, const SimulateOptions& options) {
  TRY(session.prepare());
  TRY_ASSIGN(const abi::Arch arch, parse_call_arch(options.call_arch, session.options().read.arch));
  TRY_ASSIGN(const std::vector<std::uint32_t> numbers, numbers_of(options, arch));
  TRY_ASSIGN(const Programs programs, programs_of(session, options));
  if (options.cache_report) return print_cache_report(session, options, programs);
  const std::vector<Row> rows = simulate(programs, arch, numbers);
  const int printed =
      session.output().json ? print_json(to_json(session, programs, rows)) : print(to_text(programs, rows));
  return printed == kOk ? Result<void>() : reported();
}

}  // namespace

int run_simulate(int argc, char** argv) {
  CommandLine app(
      "What each system call meets under the flattened layers: verdict, executed instructions (as the kernel\n"
      "converts them, and classic ones), loads, and whether the kernel's cache answers it.",
      "seccompress simulate");
  SimulateOptions simulate;
  CompileOptions compile;
  OutputOptions output;
  app.option("LAYER", simulate.layers, "[KIND:]LOCATION, oldest first", {.required = true});
  app.option("--syscalls", simulate.syscalls, "names or numbers, commas between (default: all that have a name)",
             {.commas = true});
  app.option("--call-arch", simulate.call_arch,
             "the architecture that the calls come from: x86_64, i386, x32, ... (default: --arch)");
  app.flag("--stack", simulate.stack, "the filters as they are, not flattened; a policy as its own program");
  app.flag("--cache-report", simulate.cache_report, "the text that /proc/PID/seccomp_cache will have");
  app.option("--nr-syscalls", simulate.nr_syscalls, "NR_syscalls of the kernel (default: as --kernel has it)",
             {.least = 1, .most = 65536});
  app.option("--exempt", simulate.exempt,
             "calls that the kernel does not show to seccomp, or none (default: as --kernel has it)", {.commas = true});
  add_read_options(app, compile);
  add_emit_options(app, compile);
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;

  Session session(compile, output);
  const Result<void> done = simulate_layers(session, simulate);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
