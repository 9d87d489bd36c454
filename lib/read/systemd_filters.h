// SPDX-License-Identifier: Apache-2.0
// The filters that systemd installs for a unit's settings, oldest first, each as a policy of its own.
#pragma once

#include <string>
#include <vector>

#include "read/reader.h"
#include "read/systemd_settings.h"

namespace seccompress::read::systemd {

// `source` is the unit's file, for messages. Errors (in the diagnostics): settings with which systemd cannot start
// the unit.
Result<std::vector<NamedPolicy>> filters_of(const Settings& settings, const std::string& source, const Options& options,
                                            Diagnostics& diagnostics);

}  // namespace seccompress::read::systemd
