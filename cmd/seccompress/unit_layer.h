// SPDX-License-Identifier: Apache-2.0
// The layer kind `unit`: a unit of this host, by its name. Here and not among the readers: they do not ask the machine.
#pragma once

#include "read/reader.h"

namespace seccompress::cmd {

inline constexpr std::string_view kUnitKind = "unit",
                                  kUnitSummary = "NAME of a systemd unit of this host, with all its drop-ins";

// The unit's file and drop-ins as a `systemd` layer's texts.
Result<read::Source> load_unit(const read::LayerSpec& spec);

}  // namespace seccompress::cmd
