// SPDX-License-Identifier: Apache-2.0
// Prints the quickstart's two tables.
//   report who HOST_LAYERS PROFILE FLAT PROBES     who refused which call; fails when the container did otherwise
//   report costs HOST_LAYERS PROFILE FLAT CALLS    filters, instructions, nanoseconds: before and after
// HOST_LAYERS, PROFILE, FLAT: folders as `seccompress dump` writes them. PROBES: probe.cc's output.
#include "report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "abi/arch.h"
#include "output.h"
#include "pipeline.h"
#include "support/file.h"

namespace seccompress::quickstart {
namespace {

using cmd::Table;

struct Inputs {
  std::string host_folder, profile_folder;
  Filters host, profile, before, flat;
};

Result<Filters> read_folder(const std::string& folder) {
  Diagnostics diagnostics;
  TRY_ASSIGN(read::Layer layer, read::read({"dir", folder}, {}, diagnostics));
  Filters filters;
  for (read::NamedFilter& filter : std::get<std::vector<read::NamedFilter>>(layer.content))
    filters.push_back(std::move(filter.code));
  return filters;
}

Result<Inputs> read_inputs(char** argv) {
  Inputs inputs{argv[0], argv[1], {}, {}, {}, {}};
  TRY_ASSIGN(inputs.host, read_folder(argv[0]));
  TRY_ASSIGN(inputs.profile, read_folder(argv[1]));
  TRY_ASSIGN(inputs.flat, read_folder(argv[2]));
  inputs.before = inputs.host;
  inputs.before.insert(inputs.before.end(), inputs.profile.begin(), inputs.profile.end());
  return inputs;
}

// ---- who ---------------------------------------------------------------------------------------------------

struct Probe {
  std::string label;
  abi::SeccompData data{};
  int error = 0;  // what the container saw
};

// "label\tnumber\targ arg arg arg arg arg\terrno"
Probe parse_probe(const std::string& row) {
  std::istringstream fields(row);
  Probe probe;
  std::getline(fields, probe.label, '\t');
  fields >> probe.data.nr >> std::hex;
  std::string argument;
  for (auto& slot : probe.data.args) {
    fields >> argument;
    slot = std::stoull(argument, nullptr, 0);
  }
  fields >> std::dec >> probe.error;
  probe.data.arch = abi::facts(abi::native_arch()).audit;
  return probe;
}

std::string opinion(abi::Verdict verdict) {
  return abi::action_word(verdict) == abi::kAllow ? "allows" : abi::to_string(verdict);
}

std::string outcome(const Probe& probe, abi::Verdict host, abi::Verdict profile) {
  const bool host_allows = abi::action_word(host) == abi::kAllow,
             profile_allows = abi::action_word(profile) == abi::kAllow;
  if (probe.error == 0) return "allowed";
  const std::string refused = "refused, " + std::string(abi::errno_name(probe.error)) + ": ";
  if (!host_allows && !profile_allows) return refused + "both";
  return refused + (profile_allows ? "the service's layers alone" : "the profile alone");
}

Result<void> hold(const Probe& probe, const Filters& before, const Filters& flat) {
  const abi::Verdict stacked = program::interpret_stack(before, probe.data);
  const abi::Verdict flattened = program::interpret_stack(flat, probe.data);
  const int expected = abi::action_word(stacked) == abi::kAllow ? 0 : abi::data(stacked);
  if (abi::normalize(stacked) == abi::normalize(flattened) && expected == probe.error) return {};
  return failure(Errc::refused, fmt::format("{}: stack {}, program {}, but the container saw errno {}", probe.label,
                                            abi::to_string(stacked), abi::to_string(flattened), probe.error));
}

Result<void> who(const Inputs& inputs, const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path, std::size_t{1} << 20));
  std::istringstream rows(text);
  std::string row;
  Table table(true);
  table.add({"  call", "service's layers", "profile", "in the container"});
  while (std::getline(rows, row)) {
    const Probe probe = parse_probe(row);
    TRY(hold(probe, inputs.before, inputs.flat));
    const abi::Verdict host = program::interpret_stack(inputs.host, probe.data);
    const abi::Verdict profile = program::interpret_stack(inputs.profile, probe.data);
    table.add({"  " + probe.label, opinion(host), opinion(profile), outcome(probe, host, profile)});
  }
  if (cmd::print(table.text()) != 0) return reported();
  return {};
}

// ---- costs -------------------------------------------------------------------------------------------------

std::string ratio(double before, double after) {
  if (after <= 0) return "the kernel's cache answers";
  const double times = before / after;
  return times < 10 ? fmt::format("{:.1f}x less", times) : fmt::format("{:.0f}x less", times);
}

void add_count(Table& table, const std::string& name, std::size_t before, std::size_t after) {
  table.add({"  " + name, cmd::grouped(before), cmd::grouped(after),
             ratio(static_cast<double>(before), static_cast<double>(after))});
}

std::size_t total_instructions(const Filters& filters) {
  std::size_t sum = 0;
  for (const program::Code& code : filters) sum += code.size();
  return sum;
}

std::string executed_text(const Executed& e) {
  return e.converted <= 0 ? "0" : fmt::format("{:.1f} ({:.1f})", e.converted, e.classic);
}

void add_executed(Table& table, const Inputs& inputs, const std::vector<Call>& calls, const std::string& name) {
  const Executed before = executed(inputs.before, calls, name), after = executed(inputs.flat, calls, name);
  const std::string label = name.empty() ? fmt::format("weighted mean of {} calls", calls.size()) : name;
  table.add({"    " + label, executed_text(before), executed_text(after), ratio(before.converted, after.converted)});
}

std::string paid(double unfiltered, double before, double after) {
  return fmt::format("{:.2f} -> {:.2f} times the unfiltered {:.0f} ns", before / unfiltered, after / unfiltered,
                     unfiltered);
}

Result<void> add_nanoseconds(Table& table, const Inputs& inputs) {
  TRY_ASSIGN(const std::vector<Nanoseconds> live, measure({{}, inputs.before, inputs.flat}));
  const auto add = [&](const char* name, double none, double before, double after) {
    table.add({name, fmt::format("{:.0f} ns", before), fmt::format("{:.0f} ns", after), paid(none, before, after)});
  };
  add("    openat + close", live[0].openat, live[1].openat, live[2].openat);
  add("    mprotect", live[0].mprotect, live[1].mprotect, live[2].mprotect);
  return {};
}

// Parse to proof, in milliseconds of CPU: the first run of this process and the median of further ones.
Result<std::string> flatten_time(const Inputs& inputs) {
  constexpr int kRuns = 15;
  std::vector<double> totals;
  PipelineOptions options;
  options.emit.weights = emit::Weights::built_in();
  for (int i = 0; i < kRuns; ++i) {
    Diagnostics diagnostics;
    Stack stack = make_stack(options);
    TRY(add_layer(stack, read::LayerSpec{"dir", inputs.host_folder}, options, diagnostics));
    TRY(add_layer(stack, read::LayerSpec{"dir", inputs.profile_folder}, options, diagnostics));
    TRY(flatten(stack, options));
    totals.push_back(stack.timings.total() / 1000);
  }
  const double first = totals[0];
  std::sort(totals.begin(), totals.end());
  return fmt::format("flatten, parse to proof: {:.1f} ms of CPU (median of {}; the first {:.1f})", totals[kRuns / 2],
                     kRuns, first);
}

Result<void> costs(const Inputs& inputs, const std::string& calls_path) {
  TRY_ASSIGN(const std::vector<Call> calls, read_calls(calls_path));
  Table table(true);
  table.add({"", fmt::format("{} stacked", inputs.before.size()), "one program", ""});
  add_count(table, "filters", inputs.before.size(), inputs.flat.size());
  const std::size_t before = total_instructions(inputs.before), after = total_instructions(inputs.flat);
  add_count(table, "instructions", before, after);
  add_count(table, "bytes", before * sizeof(program::Instruction), after * sizeof(program::Instruction));
  table.add({"  executed per call, as converted by the kernel (as written)", "", "", ""});
  for (const char* name : {"openat", "mmap", "mprotect", "socket", "clone", "ioctl", "prctl", ""})
    add_executed(table, inputs, calls, name);
  table.add({"  on this kernel, median of alternating trials", "", "", ""});
  TRY(add_nanoseconds(table, inputs));
  TRY_ASSIGN(const std::string time, flatten_time(inputs));
  if (cmd::print(table.text() + "  " + time + '\n') != 0) return reported();
  return {};
}

Result<void> report(int argc, char** argv) {
  const std::string_view what = argc == 6 ? argv[1] : "";
  if (what != "who" && what != "costs")
    return failure(Errc::malformed, "usage: report who|costs HOST_LAYERS PROFILE FLAT TABLE");
  TRY_ASSIGN(const Inputs inputs, read_inputs(argv + 2));
  return what == "who" ? who(inputs, argv[5]) : costs(inputs, argv[5]);
}

}  // namespace
}  // namespace seccompress::quickstart

int main(int argc, char** argv) {
  const auto done = seccompress::quickstart::report(argc, argv);
  if (!done) std::fprintf(stderr, "quickstart: error: %s\n", seccompress::to_string(done.error()).c_str());
  return done ? 0 : 1;
}
