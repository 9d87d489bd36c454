// SPDX-License-Identifier: Apache-2.0
// VERB: text or bytes -> Policy or filters. readers.cc is the only registry of layer kinds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "abi/arch.h"
#include "abi/systemd_groups.h"
#include "policy/policy.h"
#include "program/program.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::read {

inline constexpr std::size_t kMaxInputBytes = std::size_t{4} << 20;

struct KernelVersion {
  unsigned major = 0, minor = 0;
  auto operator<=>(const KernelVersion&) const = default;
};

// What a profile is resolved against. host_options() in host/ fills it from this machine.
struct Options {
  abi::Arch arch = abi::native_arch();
  std::set<std::string> caps;  // "CAP_SYS_ADMIN"; docker's 14 by default
  KernelVersion kernel;
  unsigned systemd_version = 252;  // Debian 12's
  std::shared_ptr<const abi::SystemdTable> systemd_groups =
      {};  // a host's own; null: the shipped table of that version
};
std::set<std::string> docker_default_caps();
bool is_capability(std::string_view name);  // "CAP_CHOWN"
// "default", "default:podman", "default:crio", "all", "none", "0x3fb", "CAP_CHOWN,sys_admin".
Result<std::set<std::string>> parse_caps(std::string_view text);
Result<KernelVersion> parse_kernel(std::string_view text);  // "6.1", "6.1.0-18-amd64"

// "[KIND:]LOCATION" of the command line and config.yaml. kind is empty when it is to be detected.
struct LayerSpec {
  std::string kind;
  std::string location;
};
Result<LayerSpec> parse_layer_spec(std::string_view text);
std::string to_string(const LayerSpec& spec);

// A layer as read: one policy; or any number of filters or policies, oldest first, with their names.
struct NamedFilter {
  std::string name;  // "03.bpf"
  program::Code code;
};
// One of several filters that a source asks for by its rules (systemd: one a directive and architecture).
struct NamedPolicy {
  std::string name;  // "SystemCallFilter= (x86_64)"
  policy::Policy policy;
};
using Content = std::variant<policy::Policy, std::vector<NamedFilter>, std::vector<NamedPolicy>>;
struct Layer {
  LayerSpec spec;  // kind filled in
  Content content;
};

// A text that belongs to a layer beside its main one (a systemd unit's drop-ins).
struct NamedText {
  std::string name;  // path, for messages
  std::string text;
};

struct ReaderFacts {
  std::string_view kind;     // "oci"
  std::string_view summary;  // one line for --help
};
std::span<const ReaderFacts> readers();

// What a layer is made of, before it is read: its kind may ask for facts about the host (a unit's systemd).
struct Source {
  LayerSpec spec;     // kind filled in
  std::string bytes;  // none of a folder
  std::vector<NamedText> beside;
};
Result<Source> load(const LayerSpec& spec, Diagnostics& diagnostics);
Result<Layer> read_source(const Source& source, const Options& options, Diagnostics& diagnostics);

// Reads one layer from its location (a file; for `dir` a folder). Diagnostics carry every fault found.
Result<Layer> read(const LayerSpec& spec, const Options& options, Diagnostics& diagnostics);
// The same from bytes already in memory (the hook reads files itself, with its ownership rules). Nothing else is read:
// what lies beside a layer (reads_beside) has to be handed over too.
Result<Layer> read_bytes(const LayerSpec& spec, std::string_view bytes, const Options& options,
                         Diagnostics& diagnostics, std::span<const NamedText> beside = {});
// Has a layer of this kind (empty: detected from the bytes) texts beside it? They are LOCATION.d/*.conf, by name.
bool reads_beside(const LayerSpec& spec, std::string_view bytes);
Result<unsigned> parse_systemd_version(std::string_view text);  // "252", "252.39", "v256"

}  // namespace seccompress::read
