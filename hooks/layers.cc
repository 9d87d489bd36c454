// SPDX-License-Identifier: Apache-2.0
// Input: one entry of host_layers. Output: the layer. Entry point: LayerReader::read.
#include "layers.h"

#include <linux/seccomp.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "layer_systemd.h"

namespace seccompress::hooks {
namespace {

constexpr std::size_t kMaxFilters = 256;
constexpr std::size_t kMaxFilterBytes = program::kMaxInstructions * sizeof(program::Instruction);

Result<read::Layer> read_folder(const read::LayerSpec& spec, HostFiles& files) {
  TRY_ASSIGN(const std::vector<std::string> names, files.list(spec.location));
  std::vector<read::NamedFilter> filters;
  for (const std::string& name : names) {
    if (!name.ends_with(".bpf")) continue;
    if (filters.size() == kMaxFilters)
      return failure(Errc::budget, spec.location + ": more than " + std::to_string(kMaxFilters) + " filters");
    const std::string path = spec.location + "/" + name;
    TRY_ASSIGN(const bundle::TrustedFile file, files.read(path, kMaxFilterBytes));
    TRY_ASSIGN(program::Code code, program::from_bytes(file.bytes, path));
    filters.push_back({name, std::move(code)});
  }
  if (filters.empty()) return failure(Errc::malformed, spec.location + ": no *.bpf file in it");
  return read::Layer{spec, std::move(filters)};
}

// A unit's drop-ins: LOCATION.d/*.conf by name, each of them trusted like the unit.
Result<std::vector<read::NamedText>> read_beside(const std::string& location, HostFiles& files) {
  const std::string folder = location + ".d";
  TRY_ASSIGN(const std::vector<std::string> names, files.list(folder, true));
  std::vector<read::NamedText> texts;
  for (const std::string& name : names) {
    if (!name.ends_with(".conf") || name.front() == '.') continue;
    TRY_ASSIGN(bundle::TrustedFile file, files.read(folder + "/" + name, read::kMaxInputBytes));
    texts.push_back({folder + "/" + name, std::move(file.bytes)});
  }
  return texts;
}

struct Flag {
  std::string_view name;
  std::uint32_t bit;
};
constexpr std::array kFlags = {
    Flag{"SECCOMP_FILTER_FLAG_LOG", SECCOMP_FILTER_FLAG_LOG},
    Flag{"SECCOMP_FILTER_FLAG_SPEC_ALLOW", SECCOMP_FILTER_FLAG_SPEC_ALLOW},
};

}  // namespace

Result<LayerReader> LayerReader::make(const bundle::Settings& settings) {
  LayerReader reader;
  reader.host_facts_ = settings.host_facts;
  reader.options_.caps = read::docker_default_caps();
  // No guess when it cannot be had: minKernel decides which rules of a profile count.
  utsname name{};
  if (::uname(&name) != 0) return errno_failure("uname");
  TRY_ASSIGN(reader.options_.kernel, read::parse_kernel(name.release));
  return reader;
}

Result<read::Layer> LayerReader::read(const std::string& text, Diagnostics& diagnostics, HostFiles& files) {
  TRY_ASSIGN(const read::LayerSpec spec, read::parse_layer_spec(text));
  if (spec.kind == "dir") return read_folder(spec, files);
  if (spec.kind == "unit") return read_unit(spec, diagnostics, files);
  const auto readers = read::readers();
  if (!spec.kind.empty() && std::none_of(readers.begin(), readers.end(), [&](auto& r) { return r.kind == spec.kind; }))
    return failure(Errc::refused, text + ": this build cannot read layers of kind '" + spec.kind + "'");
  TRY_ASSIGN(const bundle::TrustedFile file, files.read(spec.location, read::kMaxInputBytes));
  if (!read::reads_beside(spec, file.bytes)) return read::read_bytes(spec, file.bytes, options_, diagnostics);
  TRY_ASSIGN(const std::vector<read::NamedText> beside, read_beside(spec.location, files));
  TRY(choose_systemd(diagnostics, files));
  return read::read_bytes(spec, file.bytes, options_, diagnostics, beside);
}

// A unit of this host: whichever files it has now, each of them trusted.
Result<read::Layer> LayerReader::read_unit(const read::LayerSpec& spec, Diagnostics& diagnostics, HostFiles& files) {
  TRY_ASSIGN(const host::UnitPaths paths, files.find(spec.location));
  TRY_ASSIGN(const bundle::TrustedFile file, files.read(paths.fragment, read::kMaxInputBytes));
  std::vector<read::NamedText> texts;
  for (const std::string& path : paths.drop_ins) {
    TRY_ASSIGN(bundle::TrustedFile drop_in, files.read(path, read::kMaxInputBytes));
    texts.push_back({path, std::move(drop_in.bytes)});
  }
  TRY(choose_systemd(diagnostics, files));
  TRY_ASSIGN(read::Layer layer,
             read::read_bytes({"systemd", paths.fragment}, file.bytes, options_, diagnostics, texts));
  layer.spec = spec;
  return layer;
}

Result<void> LayerReader::choose_systemd(Diagnostics& diagnostics, HostFiles& files) {
  if (systemd_) return {};
  TRY_ASSIGN(systemd_, systemd_for_units(host_facts_, diagnostics, files));
  options_.systemd_version = systemd_->facts.version;
  options_.systemd_groups = std::make_shared<const abi::SystemdTable>(systemd_->facts.groups);
  return {};
}

std::uint32_t flags_of(const read::Layer& layer) {
  const auto* policy = std::get_if<policy::Policy>(&layer.content);
  if (policy == nullptr) return 0;
  std::uint32_t flags = 0;
  for (const Flag& flag : kFlags)
    if (std::find(policy->flags.begin(), policy->flags.end(), flag.name) != policy->flags.end()) flags |= flag.bit;
  return flags;
}

}  // namespace seccompress::hooks
