// SPDX-License-Identifier: Apache-2.0
// The registry of layer kinds, and the detection of a kind from the content. Entry points: read, read_bytes,
// parse_layer_spec. To add a kind: one line in kReaders, its golden folder, its fuzz target (registry_test).
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "read/bpf_reader.h"
#include "read/docker_reader.h"
#include "read/json_cursor.h"
#include "read/oci_reader.h"
#include "read/reader.h"
#include "read/systemd_reader.h"
#include "support/file.h"

namespace seccompress::read {
namespace {

using ReadBytes = Result<Content> (*)(std::string_view bytes, const std::string& name, const Options& options,
                                      Diagnostics& diagnostics);
using ReadFolder = Result<Content> (*)(const std::string& folder, const Options& options, Diagnostics& diagnostics);

using ReadTexts = Result<Content> (*)(std::string_view bytes, const std::string& name,
                                      std::span<const NamedText> beside, const Options& options,
                                      Diagnostics& diagnostics);

// Exactly one of the three is set.
struct Reader {
  ReaderFacts facts;
  ReadBytes bytes;
  ReadFolder folder;
  ReadTexts texts = nullptr;  // of a file and of LOCATION.d/*.conf
};

template <auto Function>
Result<Content> policy_from(std::string_view bytes, const std::string& name, const Options& options,
                            Diagnostics& diagnostics) {
  TRY_ASSIGN(policy::Policy policy, Function(bytes, name, options, diagnostics));
  // In its place: g++ 12 takes the temporary variant's other members for uninitialized ones that are destroyed.
  return Result<Content>(tl::in_place, std::in_place_type<policy::Policy>, std::move(policy));
}

Result<Content> filters_from_bytes(std::string_view bytes, const std::string& name, const Options& /*options*/,
                                   Diagnostics& diagnostics) {
  TRY_ASSIGN(std::vector<NamedFilter> filters, read_bpf(bytes, name, diagnostics));
  return Content(std::move(filters));
}

Result<Content> filters_from_folder(const std::string& folder, const Options& /*options*/, Diagnostics& diagnostics) {
  TRY_ASSIGN(std::vector<NamedFilter> filters, read_folder(folder, diagnostics));
  return Content(std::move(filters));
}

Result<Content> filters_of_unit(std::string_view bytes, const std::string& name, std::span<const NamedText> beside,
                                const Options& options, Diagnostics& diagnostics) {
  TRY_ASSIGN(std::vector<NamedPolicy> policies, read_systemd(bytes, name, beside, options, diagnostics));
  return Content(std::move(policies));
}

constexpr std::array kReaders = {
    Reader{{"oci", "config.json, or a bare linux.seccomp object"}, policy_from<read_oci>, nullptr},
    Reader{
        {"docker", "docker, podman or CRI-O profile (archMap, includes, excludes)"}, policy_from<read_docker>, nullptr},
    Reader{{"bpf", "raw struct sock_filter[], native byte order"}, filters_from_bytes, nullptr},
    Reader{{"dir", "folder of *.bpf files in name order, the first one the oldest"}, nullptr, filters_from_folder},
    Reader{{"systemd", "unit file or fragment, with the drop-ins in LOCATION.d"}, nullptr, nullptr, filters_of_unit},
};

constexpr auto kFacts = [] {
  std::array<ReaderFacts, kReaders.size()> facts{};
  for (std::size_t i = 0; i < kReaders.size(); ++i) facts[i] = kReaders[i].facts;
  return facts;
}();

// Prefixes that name a kind, of this reader or of another part of the program.
constexpr std::array<std::string_view, 10> kKinds = {"oci",  "docker", "bpf",     "dir", "systemd",
                                                     "unit", "snap",   "snapbin", "spo", "pid"};

const Reader* find_reader(std::string_view kind) {
  for (const Reader& reader : kReaders)
    if (reader.facts.kind == kind) return &reader;
  return nullptr;
}

std::string known_kinds() {
  std::string names;
  for (const Reader& reader : kReaders) names += (names.empty() ? "" : ", ") + std::string(reader.facts.kind);
  return names;
}

tl::unexpected<Error> unknown_kind(const LayerSpec& spec, Diagnostics& diagnostics) {
  diagnostics.error("unknown-kind", {.file = to_string(spec), .line = 0, .column = 0, .pointer = {}},
                    "layers of kind \"" + spec.kind + "\" cannot be read from here", "one of " + known_kinds());
  return reported();
}

bool has_docker_keys(const json::Value& root) {
  if (root.find("archMap") != nullptr || root.find("defaultErrno") != nullptr) return true;
  const json::Value* entries = root.find("syscalls");
  if (entries == nullptr) return false;
  return std::any_of(entries->elements.begin(), entries->elements.end(), [](const json::Value& entry) {
    return entry.find("includes") != nullptr || entry.find("excludes") != nullptr || entry.find("name") != nullptr ||
           entry.find("errno") != nullptr;
  });
}

// Text that begins like JSON (a brace, a byte order mark, nothing at all) gets the JSON readers' messages.
bool looks_like_text(std::string_view bytes) {
  const auto at = bytes.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return true;
  return bytes[at] == '{' || bytes[at] == '[' || bytes.starts_with("\xef\xbb\xbf") || bytes.starts_with("\xff\xfe") ||
         bytes.starts_with("\xfe\xff") || bytes.substr(0, 256).find('\0') == std::string_view::npos;
}

std::string_view detect_kind(std::string_view path, std::string_view bytes) {
  if (looks_like_unit(path, bytes)) return "systemd";
  if (!looks_like_text(bytes)) return "bpf";
  Diagnostics ignored;  // the reader that is chosen reports the same faults
  const auto document = json::parse(bytes, {}, ignored);
  return document && has_docker_keys(document->root()) ? "docker" : "oci";
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<Layer> finish(LayerSpec spec, Result<Content> content) {
  if (!content) return tl::unexpected(std::move(content).error());
  return Layer{std::move(spec), std::move(*content)};
}

}  // namespace

std::span<const ReaderFacts> readers() { return kFacts; }

Result<LayerSpec> parse_layer_spec(std::string_view text) {
  LayerSpec spec;
  const auto colon = text.find(':');
  if (colon != std::string_view::npos &&
      std::find(kKinds.begin(), kKinds.end(), text.substr(0, colon)) != kKinds.end()) {
    spec.kind = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  spec.location = text;
  if (spec.location.empty()) return failure(Errc::malformed, "a layer needs a location: [KIND:]LOCATION");
  if (text.find('\0') != std::string_view::npos)
    return failure(Errc::malformed, "a layer's location contains a zero byte");
  return spec;
}

std::string to_string(const LayerSpec& spec) {
  return spec.kind.empty() ? spec.location : spec.kind + ':' + spec.location;
}

Result<Source> load(const LayerSpec& spec, Diagnostics& diagnostics) {
  Source source{spec, {}, {}};
  if (spec.kind.empty() && is_folder(spec.location)) source.spec.kind = "dir";
  const Reader* reader = find_reader(source.spec.kind);
  if (reader == nullptr && !source.spec.kind.empty()) return unknown_kind(spec, diagnostics);
  if (reader != nullptr && reader->folder != nullptr) return source;
  TRY_ASSIGN(source.bytes, read_file(spec.location, kMaxInputBytes));
  if (source.spec.kind.empty()) source.spec.kind = detect_kind(spec.location, source.bytes);
  if (!reads_beside(source.spec, source.bytes)) return source;
  TRY_ASSIGN(source.beside, read_drop_ins(spec.location, diagnostics));
  return source;
}

Result<Layer> read_source(const Source& source, const Options& options, Diagnostics& diagnostics) {
  const Reader* reader = find_reader(source.spec.kind);
  if (reader != nullptr && reader->folder != nullptr)
    return finish(source.spec, reader->folder(source.spec.location, options, diagnostics));
  return read_bytes(source.spec, source.bytes, options, diagnostics, source.beside);
}

Result<Layer> read(const LayerSpec& spec, const Options& options, Diagnostics& diagnostics) {
  TRY_ASSIGN(const Source source, load(spec, diagnostics));
  return read_source(source, options, diagnostics);
}

bool reads_beside(const LayerSpec& spec, std::string_view bytes) {
  const Reader* reader = find_reader(spec.kind.empty() ? detect_kind(spec.location, bytes) : spec.kind);
  return reader != nullptr && reader->texts != nullptr;
}

Result<Layer> read_bytes(const LayerSpec& spec, std::string_view bytes, const Options& options,
                         Diagnostics& diagnostics, std::span<const NamedText> beside) {
  LayerSpec full = spec;
  if (full.kind.empty()) full.kind = detect_kind(full.location, bytes);
  const Reader* reader = find_reader(full.kind);
  if (reader != nullptr && reader->texts != nullptr)
    return finish(full, reader->texts(bytes, full.location, beside, options, diagnostics));
  if (reader == nullptr || reader->bytes == nullptr) return unknown_kind(full, diagnostics);
  return finish(full, reader->bytes(bytes, full.location, options, diagnostics));
}

}  // namespace seccompress::read
