// SPDX-License-Identifier: Apache-2.0
// The layer kind `pid`: a live process's stack. Here and not among the readers: they do not ask the machine.
#pragma once

#include "read/reader.h"

namespace seccompress::cmd {

inline constexpr std::string_view kPidSummary = "PID of a live process, or PID/TID of one of its threads";

// LOCATION is PID (all threads must have the same filters) or PID/TID.
Result<read::Layer> read_pid_layer(const read::LayerSpec& spec, Diagnostics& diagnostics);

}  // namespace seccompress::cmd
