// SPDX-License-Identifier: Apache-2.0
// Host layers: files that only root can have written, read as layers.
#pragma once

#include <string>

#include "inputs.h"
#include "read/reader.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::hooks {

// text: "[KIND:]LOCATION" of config.yaml. Kinds: whatever this build's readers can read from one file, `dir`, and
// `unit`.
Result<read::Layer> read_host_layer(const std::string& text, const read::Options& options, Diagnostics& diagnostics,
                                    HostFiles& files);

// This host's kernel, docker's default capabilities.
Result<read::Options> host_read_options();

// Which SECCOMP_FILTER_FLAG_* a policy layer asks for; bpf and dir layers say none.
std::uint32_t flags_of(const read::Layer& layer);

}  // namespace seccompress::hooks
