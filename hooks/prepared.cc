// SPDX-License-Identifier: Apache-2.0
// Input: a configuration. Output: its host layers as one proved program, from a receipt when there is one. Entry
// points: prepare, find_prepared.
// Method: the receipt's inputs name every file (path, size, mtime, hash), the layers, this build and the running
// kernel. Layers of `select` are not prepared: they are few and chosen by each container. Weakness: the build is known
// by the project's version: a receipt outlives a rebuild of the same version.
#include "prepared.h"

#include <nlohmann/json.hpp>

#include "composition.h"
#include "layer_systemd.h"
#include "layers.h"
#include "pipeline.h"
#include "support/build_id.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxWarnings = 20;

std::string label_of(const std::string& settings_path) { return "host-" + sha256(settings_path); }

Json to_json(const std::vector<Input>& inputs) {
  Json list = Json::array();
  for (const Input& input : inputs)
    list.push_back({{"path", input.path},
                    {"size", input.size},
                    {"sha256", input.sha256},
                    {"mtime", {input.mtime_seconds, input.mtime_nanoseconds}}});
  return list;
}

std::vector<Input> inputs_from(const Json& list) {
  std::vector<Input> inputs;
  for (const Json& one : list)
    inputs.push_back({.path = one.at("path").get<std::string>(),
                      .size = one.at("size").get<std::uint64_t>(),
                      .mtime_seconds = one.at("mtime").at(0).get<std::int64_t>(),
                      .mtime_nanoseconds = one.at("mtime").at(1).get<std::int64_t>(),
                      .sha256 = one.at("sha256").get<std::string>()});
  return inputs;
}

std::string inputs_text(const std::string& path, const std::vector<Input>& files) {
  return Json{{"build", build_id()}, {"kernel", kernel_release()}, {"settings", path}, {"files", to_json(files)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

std::string about_text(const Prepared& prepared) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < prepared.layers.size(); ++i)
    layers.push_back({{"name", prepared.layers[i].name},
                      {"filters", prepared.layers[i].filters},
                      {"instructions", prepared.layers[i].instructions},
                      {"flags", prepared.flags[i]}});
  return Json{{"layers", layers}, {"warnings", prepared.warnings}, {"systemd", to_json(prepared.systemd)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

// Two listeners can never be one program, whatever the container brings: said here, not at each start.
Result<void> one_listener(const Stack& stack) {
  const CompiledLayer* first = nullptr;
  for (const CompiledLayer& layer : stack.layers) {
    if (!can_notify(stack, layer.node)) continue;
    if (first != nullptr)
      return failure(Errc::refused,
                     "two layers notify a listener, and a process can have one: " + first->name + " and " + layer.name);
    first = &layer;
  }
  return {};
}

// What was said about the layers when they were read is as true of each start that does not read them.
std::vector<std::string> warnings_of(const Diagnostics& diagnostics) {
  std::vector<std::string> warnings;
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::warning && warnings.size() < kMaxWarnings)
      warnings.push_back(to_string(diagnostic));
  return warnings;
}

std::vector<LayerRecord> records_of(const Stack& stack) {
  std::vector<LayerRecord> records;
  for (const CompiledLayer& layer : stack.layers) {
    std::size_t instructions = 0;
    for (const program::Code& filter : layer.filters) instructions += filter.size();
    records.push_back({layer.name, layer.filters.size(), instructions});
  }
  return records;
}

Result<Prepared> compile(const bundle::Settings& settings, HostFiles& files, Diagnostics& diagnostics,
                         const SystemdCheck& check) {
  PipelineOptions options;
  TRY_ASSIGN(LayerReader reader, LayerReader::make(settings));
  options.read = reader.options();
  options.emit.weights = emit::Weights::built_in();
  Stack stack = make_stack(options);
  std::vector<std::uint32_t> flags;
  for (const std::string& text : settings.host_layers) {
    TRY_ASSIGN(read::Layer layer, reader.read(text, diagnostics, files));
    flags.push_back(flags_of(layer));
    TRY(add_layer(stack, std::move(layer), options, diagnostics));
  }
  if (reader.systemd() && check) TRY(check(*reader.systemd(), settings));
  TRY(one_listener(stack));
  TRY_ASSIGN(Flat flat, flatten(stack, options));
  std::string hash = sha256(program::to_bytes(flat.program.view()));
  SystemdRecord systemd = reader.systemd() ? record_of(*reader.systemd()) : SystemdRecord();
  return Prepared{records_of(stack), std::move(flags),       warnings_of(diagnostics), std::move(systemd), {}, {},
                  std::move(hash),   std::move(flat.program)};
}

void take_inputs(Prepared& prepared, std::vector<Input> inputs) {
  prepared.configuration = std::move(inputs.front());
  prepared.inputs.assign(inputs.begin() + 1, inputs.end());
}

// Words of a receipt that say nothing about layers.
struct Origin {
  std::string build, kernel, settings;
  bool operator==(const Origin&) const = default;
};

// The receipt's words as data. They passed its checksum; what they do not say all the same is a bad receipt.
std::optional<Prepared> read_receipt(receipt::Receipt receipt, Origin& origin) {
  try {
    const Json inputs = Json::parse(receipt.inputs), about = Json::parse(receipt.about);
    origin = {inputs.at("build").get<std::string>(), inputs.at("kernel").get<std::string>(),
              inputs.at("settings").get<std::string>()};
    std::string hash = sha256(program::to_bytes(receipt.program.view()));
    auto warnings = about.at("warnings").get<std::vector<std::string>>();
    Prepared prepared{{}, {}, std::move(warnings), {}, {}, {}, std::move(hash), std::move(receipt.program)};
    if (const Json& systemd = about.at("systemd"); !systemd.is_null())
      prepared.systemd = {systemd.at("version").get<unsigned>(), systemd.at("from").get<std::string>()};
    for (const Json& layer : about.at("layers")) {
      prepared.layers.push_back({layer.at("name").get<std::string>(), layer.at("filters").get<std::size_t>(),
                                 layer.at("instructions").get<std::size_t>()});
      prepared.flags.push_back(layer.at("flags").get<std::uint32_t>());
    }
    std::vector<Input> files = inputs_from(inputs.at("files"));
    if (files.empty() || prepared.layers.empty()) return std::nullopt;
    take_inputs(prepared, std::move(files));
    return prepared;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string changed(const Prepared& prepared) {
  std::string what = changed_since({prepared.configuration});
  return what.empty() ? changed_since(prepared.inputs) : what;
}

Result<Prepared> prepare_holding(const receipt::Lock& lock, const std::string& path, const receipt::Cache& cache,
                                 Diagnostics& diagnostics, const SystemdCheck& check) {
  HostFiles files;
  TRY_ASSIGN(const bundle::TrustedFile file, files.read(path, bundle::kMaxSettingsBytes));
  TRY_ASSIGN(const bundle::Settings settings, bundle::parse_settings(file.bytes, path, diagnostics));
  if (settings.host_layers.empty())
    return failure(Errc::refused, path + ": host_layers is empty, there is nothing to prepare");
  TRY_ASSIGN(Prepared prepared, compile(settings, files, diagnostics, check));
  take_inputs(prepared, files.inputs());
  TRY(cache.store(lock, label_of(path), inputs_text(path, files.inputs()), about_text(prepared),
                  prepared.program.view()));
  return prepared;
}

Result<std::optional<Prepared>> again(const std::string& path, const receipt::Cache& cache, const std::string& why,
                                      std::vector<std::string>& notes) {
  Diagnostics diagnostics;
  Result<receipt::Lock> lock = cache.lock(receipt::Wait::no);
  Result<Prepared> prepared = lock ? prepare_holding(*lock, path, cache, diagnostics, {})
                                   : Result<Prepared>(tl::unexpected(std::move(lock).error()));
  notes.push_back((prepared ? "prepared again: " : "not prepared: ") + why);
  if (prepared) return std::optional<Prepared>(std::move(*prepared));
  // The layers are then compiled without the cache, and what is wrong with them is said there.
  notes.push_back("not prepared again: " + to_string(prepared.error()));
  return std::optional<Prepared>();
}

}  // namespace

Result<Prepared> prepare(const std::string& path, const receipt::Cache& cache, Diagnostics& diagnostics,
                         const SystemdCheck& check) {
  TRY_ASSIGN(const receipt::Lock lock, cache.lock(receipt::Wait::yes));
  return prepare_holding(lock, path, cache, diagnostics, check);
}

Look look_prepared(const std::string& path, const receipt::Cache& cache) {
  receipt::Found found = cache.load(label_of(path));
  if (!found.value && found.bad.empty()) return {};
  if (!found.value) return {Look::State::unusable, found.bad, {}};
  Origin origin;
  std::optional<Prepared> prepared = read_receipt(std::move(*found.value), origin);
  if (!prepared || origin.settings != path) return {Look::State::unusable, "the receipt is another one's", {}};
  std::string why = changed(*prepared);
  if (!why.empty()) return {Look::State::stale, std::move(why), std::move(prepared)};
  if (origin != Origin{std::string(build_id()), kernel_release(), path})
    return {Look::State::unusable, "another build or kernel made the receipt", std::move(prepared)};
  return {Look::State::good, {}, std::move(prepared)};
}

Result<std::optional<Prepared>> find_prepared(const std::string& path, const std::string& settings_sha256,
                                              const receipt::Cache& cache, std::vector<std::string>& notes) {
  Look look = look_prepared(path, cache);
  if (look.state == Look::State::none) return std::optional<Prepared>();
  if (look.state == Look::State::stale)
    return failure(Errc::refused, "stale: " + look.why + " since `seccompress prepare`; run it again");
  Result<std::optional<Prepared>> found = std::move(look.prepared);
  if (look.state == Look::State::unusable) found = again(path, cache, look.why, notes);
  // What follows is of one configuration: the one that was read first.
  if (found && *found && (*found)->configuration.sha256 != settings_sha256)
    return failure(Errc::refused, path + " changed while the container was being started");
  return found;
}

}  // namespace seccompress::hooks
