// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "command.h"
#include "exact_stack.h"
#include "host/ask_systemd.h"
#include "host/host_facts.h"
#include "lint/lint.h"
#include "output.h"
#include "pid_layer.h"
#include "support/clock.h"
#include "support/file.h"
#include "support/sha256.h"
#include "unit_layer.h"
#include "version.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMaxWeightsBytes = std::size_t{1} << 20;
constexpr std::string_view kSystemdKind = "systemd";

Result<abi::Arch> parse_arch(const std::string& name) {
  if (const auto arch = abi::arch_from_name(name)) return *arch;
  std::string known;
  for (const abi::ArchFacts& facts : abi::all_arches())
    known += (known.empty() ? "" : ", ") + std::string(abi::arch_name(facts.arch));
  return failure(Errc::malformed, "--arch: unknown architecture '" + name + "'; known are " + known);
}

// The option's name before the library's own words.
template <class T>
Result<T> named(const char* option, Result<T> result) {
  if (result) return result;
  return failure(result.error().code, std::string(option) + ": " + result.error().what);
}

Diagnostic as_diagnostic(const Error& error) {
  const std::string text = to_string(error);
  const std::size_t hint = text.rfind("; ");
  if (hint == std::string::npos) return {Severity::error, "failed", {}, text, {}};
  return {Severity::error, "failed", {}, text.substr(0, hint), text.substr(hint + 2)};
}

}  // namespace

Result<void> Session::prepare() {
  TRY_ASSIGN(const host::HostFacts host, host::host_facts());
  options_.read.arch = host.arch;
  options_.read.caps = read::docker_default_caps();
  if (!compile_.host_facts.empty()) {
    TRY_ASSIGN(const std::string text, read_file(compile_.host_facts, host::kMaxFactsBytes));
    TRY_ASSIGN(pinned_, host::parse_facts(text, compile_.host_facts, diagnostics_));
  }
  TRY(pin(host.kernel_release));
  TRY(take_weights());
  if (!compile_.runtime.empty()) {
    const auto runtime = policy::runtime_from_name(compile_.runtime);
    if (!runtime)
      return failure(Errc::malformed,
                     "--runtime: unknown runtime '" + compile_.runtime + "'; known are runc, crun, youki");
    runtime_ = *runtime;
  }
  options_.emit.cache_model = !compile_.no_cache_model;
  return {};
}

// An option beats --host-facts, that beats the host.
Result<void> Session::pin(const std::string& kernel_release) {
  const bool file = !compile_.host_facts.empty();
  const std::string& kernel = !compile_.kernel.empty() ? compile_.kernel : file ? pinned_.kernel : kernel_release;
  TRY_ASSIGN(options_.read.kernel, named(compile_.kernel.empty() ? "kernel" : "--kernel", read::parse_kernel(kernel)));
  const std::string& arch = compile_.arch.empty() ? pinned_.arch : compile_.arch;
  if (!arch.empty()) {
    TRY_ASSIGN(options_.read.arch, parse_arch(arch));
  }
  if (file) options_.read.caps = pinned_.caps;
  if (!compile_.caps.empty()) {
    TRY_ASSIGN(options_.read.caps, named("--caps", read::parse_caps(compile_.caps)));
  }
  if (compile_.systemd_version.empty()) {
    systemd_ = pinned_.systemd;
  } else if (compile_.systemd_version != host::kFromHost) {
    TRY_ASSIGN(const unsigned version,
               named("--systemd-version", read::parse_systemd_version(compile_.systemd_version)));
    systemd_ = host::SystemdChoice{host::kFromOption, {version, abi::shipped_systemd_table(version)}};
  }
  return {};
}

Result<void> Session::take_weights() {
  if (!compile_.weights.empty()) {
    TRY_ASSIGN(const std::string text, read_file(compile_.weights, kMaxWeightsBytes));
    TRY_ASSIGN(options_.emit.weights, emit::Weights::parse(text, compile_.weights, diagnostics_));
    weights_ = sha256(text);
  }
  if (compile_.host_facts.empty() || pinned_.weights == weights_) return {};
  return failure(Errc::refused, compile_.host_facts + ": was made with other weights" +
                                    (pinned_.weights == kMeasuredWeights ? "" : " (SHA-256 " + pinned_.weights + ")") +
                                    "; give the same --weights");
}

Result<void> Session::choose_systemd() {
  if (!systemd_) {
    TRY_ASSIGN(auto facts, host::ask_systemd());
    constexpr unsigned kDebian12 = 252;
    if (!facts)
      diagnostics_.add({Severity::note,
                        "no-systemd",
                        {},
                        "this host has no systemd-analyze: units are read as systemd 252 takes them",
                        "--systemd-version says which one"});
    systemd_ = facts ? host::SystemdChoice{host::kFromHost, std::move(*facts)}
                     : host::SystemdChoice{host::kFromDefault, {kDebian12, abi::shipped_systemd_table(kDebian12)}};
  }
  options_.read.systemd_version = systemd_->facts.version;
  options_.read.systemd_groups = std::make_shared<const abi::SystemdTable>(systemd_->facts.groups);
  return {};
}

// The texts of a layer; those of a unit are found by its name.
Result<read::Source> Session::load(const read::LayerSpec& spec) {
  return spec.kind == kUnitKind ? load_unit(spec) : read::load(spec, diagnostics_);
}

Result<Stack> Session::compile(const std::vector<std::string>& layers) {
  Stack stack = make_stack(options_);
  for (const std::string& name : layers) {
    const double start = cpu_microseconds();
    TRY_ASSIGN(read::Layer layer, read(name));
    stack.timings.read += cpu_microseconds() - start;
    TRY(add_layer(stack, std::move(layer), options_, diagnostics_));
  }
  return stack;
}

Result<read::Layer> Session::read(const std::string& layer) {
  TRY_ASSIGN(const read::LayerSpec spec, read::parse_layer_spec(layer));
  if (spec.kind == "pid") return read_pid_layer(spec, diagnostics_);
  TRY_ASSIGN(const read::Source source, load(spec));
  if (source.spec.kind == kSystemdKind) TRY(choose_systemd());
  TRY_ASSIGN(read::Layer result, read::read_source(source, options_.read, diagnostics_));
  if (spec.kind == kUnitKind) result.spec = spec;
  if (auto* policy = std::get_if<policy::Policy>(&result.content)) {
    lint::lint(*policy, diagnostics_);
    auto applied = policy::apply_runtime(std::move(*policy), runtime_);
    if (!applied) return failure(applied.error().code, read::to_string(result.spec) + ": " + applied.error().what);
    *policy = std::move(*applied);
  }
  return result;
}

Result<std::vector<read::NamedFilter>> Session::programs_of(read::Layer layer) const {
  if (auto* filters = std::get_if<std::vector<read::NamedFilter>>(&layer.content)) return std::move(*filters);
  std::vector<read::NamedPolicy> policies;
  if (auto* policy = std::get_if<policy::Policy>(&layer.content))
    policies.push_back({read::to_string(layer.spec), std::move(*policy)});
  else
    policies = std::move(std::get<std::vector<read::NamedPolicy>>(layer.content));
  std::vector<read::NamedFilter> programs;
  for (read::NamedPolicy& one : policies) {
    Stack stack = make_stack(options_);
    Diagnostics diagnostics;
    TRY(add_layer(stack, read::Layer{layer.spec, std::move(one.policy)}, options_, diagnostics));
    TRY_ASSIGN(const ExactStack flat, flatten_to_stack(stack, options_));
    for (std::size_t i = 0; i < flat.programs.size(); ++i)
      programs.push_back({flat.programs.size() == 1
                              ? one.name
                              : fmt::format("{}, program {} of {}", one.name, i + 1, flat.programs.size()),
                          flat.programs[i].code()});
  }
  return programs;
}

bool Session::hidden(const Diagnostic& diagnostic) const {
  return diagnostic.severity != Severity::error && (compile_.lint == "off" || output_.quiet) &&
         compile_.lint != "error";
}

Result<void> Session::show_diagnostics() {
  if (shown_) return {};
  shown_ = true;
  std::size_t warnings = 0, errors = 0;
  for (Diagnostic diagnostic : diagnostics_.all()) {
    // The first error is the one to mend; what follows is often its consequence.
    if (diagnostic.severity == Severity::error && ++errors > 1) continue;
    if (diagnostic.severity == Severity::warning) ++warnings;
    if (compile_.lint == "error" && diagnostic.severity == Severity::warning) diagnostic.severity = Severity::error;
    if (!hidden(diagnostic)) complain(diagnostic);
  }
  if (errors > 1) complain({Severity::note, "more", {}, counted(errors - 1, "more error") + "; --json lists all", {}});
  const Diagnostic dropped{Severity::note, "dropped", {}, counted(diagnostics_.dropped(), "more message"), {}};
  if (diagnostics_.dropped() > 0 && !hidden(dropped)) complain(dropped);
  if (compile_.lint == "error" && warnings > 0) return reported();
  return {};
}

int Session::fail(const Error& error) {
  const Result<void> told = show_diagnostics();  // an error of its own would say no more than `error` does
  static_cast<void>(told);
  if (error.code != make_error_code(Errc::reported)) complain(as_diagnostic(error));
  if (output_.json) {
    Json report{{"error", to_string(error)}, {"diagnostics", diagnostics_json()}};
    static_cast<void>(print_json(report));
  }
  return kFailed;
}

Json Session::diagnostics_json() const {
  Json all = Json::array();
  for (const Diagnostic& d : diagnostics_.all())
    all.push_back({{"severity", std::string(to_string(d.severity))},
                   {"code", std::string(d.code)},
                   {"file", d.where.file},
                   {"line", d.where.line},
                   {"column", d.where.column},
                   {"pointer", d.where.pointer},
                   {"what", d.what},
                   {"hint", d.hint}});
  return all;
}

Json Session::host_json() const {
  return {{"arch", std::string(abi::arch_name(options_.read.arch))},
          {"kernel", fmt::format("{}.{}", options_.read.kernel.major, options_.read.kernel.minor)},
          {"caps", options_.read.caps},
          {"systemd", host::to_json(systemd_)},
          {"weights", weights_},
          {"libseccomp", libseccomp_version()}};
}

Json to_json(const Timings& timings) {
  const auto tenths = [](double microseconds) { return std::round(microseconds * 10) / 10; };
  return {{"read", tenths(timings.read)}, {"lower", tenths(timings.lower)},   {"merge", tenths(timings.merge)},
          {"emit", tenths(timings.emit)}, {"verify", tenths(timings.verify)}, {"total", tenths(timings.total())}};
}

std::string timings_text(const Timings& t) {
  return fmt::format(
      "CPU time in us: read {:.0f}, lower {:.0f}, merge {:.0f}, emit {:.0f}, verify {:.0f}; total {:.0f}\n", t.read,
      t.lower, t.merge, t.emit, t.verify, t.total());
}

}  // namespace seccompress::cmd
