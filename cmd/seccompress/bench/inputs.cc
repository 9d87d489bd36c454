// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <nlohmann/json.hpp>

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kContainerProfile =
#include "container_profile.inc"
    ;
constexpr std::string_view kHardenedUnit =
#include "hardened_unit.inc"
    ;
constexpr std::string_view kSnapTemplate =
#include "snap_template.inc"
    ;

// The calls of the loop, each allowed for the arguments that the loop passes and refused for others.
struct CheckedCall {
  const char* name;
  std::uint64_t last;  // of argument 0
};
constexpr CheckedCall kChecked[] = {{"dup", 1023}, {"close", 1023}, {"getpid", 0}, {"getuid", 0}, {"umask", 0777}};

bool is_checked(const Json& name) {
  for (const CheckedCall& call : kChecked)
    if (name == call.name) return true;
  return false;
}

std::string checked_profile() {
  Json profile = Json::parse(kContainerProfile);
  for (Json& entry : profile["syscalls"]) {
    Json kept = Json::array();
    for (const Json& name : entry["names"])
      if (!is_checked(name)) kept.push_back(name);
    entry["names"] = kept;
  }
  for (const CheckedCall& call : kChecked) {
    const Json condition{{"index", 0}, {"value", call.last}, {"op", "SCMP_CMP_LE"}};
    profile["syscalls"].push_back(
        {{"names", Json::array({call.name})}, {"action", "SCMP_ACT_ALLOW"}, {"args", Json::array({condition})}});
  }
  return profile.dump();
}

Result<read::Layer> built_in(const PipelineOptions& options, const char* kind, const char* name,
                             std::string_view text) {
  Diagnostics diagnostics;
  auto layer = read::read_bytes({kind, name}, text, options.read, diagnostics);
  if (!layer) return failure(layer.error().code, std::string("built-in ") + name + ": " + layer.error().what);
  return layer;
}

Result<std::vector<read::Layer>> layers_of(Session& session, const std::vector<std::string>& names) {
  std::vector<read::Layer> layers;
  for (const std::string& name : names) {
    TRY_ASSIGN(read::Layer layer, session.read(name));
    layers.push_back(std::move(layer));
  }
  if (!layers.empty()) return layers;
  TRY_ASSIGN(read::Layer unit, built_in(session.options(), "systemd", "strict-service.conf", kHardenedUnit));
  TRY_ASSIGN(read::Layer profile, built_in(session.options(), "docker", "container-default.json", kContainerProfile));
  layers.push_back(std::move(unit));
  layers.push_back(std::move(profile));
  return layers;
}

Result<std::vector<program::Code>> filters_of(Session& session, const std::vector<read::Layer>& layers) {
  std::vector<program::Code> all;
  for (const read::Layer& layer : layers) {
    TRY_ASSIGN(std::vector<read::NamedFilter> filters, session.programs_of(layer));
    for (read::NamedFilter& filter : filters) all.push_back(std::move(filter.code));
  }
  return all;
}

std::string without_call_filters(std::string_view unit) {
  std::string kept;
  while (!unit.empty()) {
    const std::string_view line = unit.substr(0, unit.find('\n') + 1);
    if (!line.starts_with("SystemCallFilter=")) kept += line;
    unit.remove_prefix(line.empty() ? unit.size() : line.size());
  }
  return kept;
}

Result<BenchSubject> subject_of(Session& session, std::vector<read::Layer> layers) {
  BenchSubject subject;
  Stack stack = make_stack(session.options());
  Diagnostics diagnostics;
  TRY_ASSIGN(subject.filters, filters_of(session, layers));
  for (read::Layer& layer : layers) {
    TRY(add_layer(stack, std::move(layer), session.options(), diagnostics));
  }
  TRY_ASSIGN(Flat flat, flatten(stack, session.options()));
  subject.flat.push_back(std::move(flat.program));
  TRY_ASSIGN(subject.stack, bench::as_verified(subject.filters));
  return subject;
}

}  // namespace

Result<policy::Policy> container_policy(const PipelineOptions& options) {
  TRY_ASSIGN(read::Layer layer, built_in(options, "docker", "container-default.json", kContainerProfile));
  return std::move(std::get<policy::Policy>(layer.content));
}

Result<HookLayers> hook_layers(Session& session, const std::vector<std::string>& names) {
  HookLayers layers;
  if (!names.empty()) {
    TRY_ASSIGN(const std::vector<read::Layer> typed, layers_of(session, names));
    TRY_ASSIGN(layers.strict, filters_of(session, typed));
    layers.lenient = layers.strict;
    return layers;
  }
  TRY_ASSIGN(const read::Layer strict, built_in(session.options(), "systemd", "strict-service.conf", kHardenedUnit));
  TRY_ASSIGN(const read::Layer lenient,
             built_in(session.options(), "systemd", "strict-service.conf", without_call_filters(kHardenedUnit)));
  TRY_ASSIGN(layers.strict, filters_of(session, {strict}));
  TRY_ASSIGN(layers.lenient, filters_of(session, {lenient}));
  return layers;
}

Result<program::Code> flat_snap_template(const PipelineOptions& options) {
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  TRY_ASSIGN(read::Layer layer, built_in(options, "docker", "snap-template.json", kSnapTemplate));
  TRY(add_layer(stack, std::move(layer), options, diagnostics));
  TRY_ASSIGN(const Flat flat, flatten(stack, options));
  return flat.program.code();
}

Result<BenchSubject> stack_subject(Session& session, const std::vector<std::string>& names) {
  TRY_ASSIGN(std::vector<read::Layer> layers, layers_of(session, names));
  TRY(session.show_diagnostics());
  return subject_of(session, std::move(layers));
}

Result<BenchSubject> copies_subject(Session& session, LoopRules rules, std::size_t copies) {
  const std::string checked = rules == LoopRules::checked ? checked_profile() : std::string();
  TRY_ASSIGN(const read::Layer layer, built_in(session.options(), "docker", "container-default.json",
                                               rules == LoopRules::checked ? checked : kContainerProfile));
  return subject_of(session, std::vector<read::Layer>(copies, layer));
}

std::vector<program::VerifiedProgram> first(const std::vector<program::VerifiedProgram>& filters, std::size_t count) {
  return {filters.begin(), filters.begin() + static_cast<std::ptrdiff_t>(std::min(count, filters.size()))};
}

}  // namespace seccompress::cmd
