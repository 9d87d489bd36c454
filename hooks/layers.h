// SPDX-License-Identifier: Apache-2.0
// Host layers: files that only root can have written, read as layers.
#pragma once

#include <optional>
#include <string>

#include "bundle/settings.h"
#include "host/facts_file.h"
#include "inputs.h"
#include "read/reader.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::hooks {

class LayerReader {
 public:
  // For this host's kernel and docker's default capabilities, whatever host_facts says of them.
  static Result<LayerReader> make(const bundle::Settings& settings);

  // text: "[KIND:]LOCATION" of config.yaml. Kinds: whatever this build's readers can read from one file, `dir`, and
  // `unit`. The first unit makes systemd an input.
  Result<read::Layer> read(const std::string& text, Diagnostics& diagnostics, HostFiles& files);

  const read::Options& options() const { return options_; }
  const std::optional<host::SystemdChoice>& systemd() const { return systemd_; }  // none: no unit was read

 private:
  Result<read::Layer> read_unit(const read::LayerSpec& spec, Diagnostics& diagnostics, HostFiles& files);
  Result<void> choose_systemd(Diagnostics& diagnostics, HostFiles& files);

  std::string host_facts_;
  read::Options options_;
  std::optional<host::SystemdChoice> systemd_;
};

// Which SECCOMP_FILTER_FLAG_* a policy layer asks for; bpf and dir layers say none.
std::uint32_t flags_of(const read::Layer& layer);

}  // namespace seccompress::hooks
