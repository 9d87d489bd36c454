// SPDX-License-Identifier: Apache-2.0
// The OCI runtime-spec's seccomp object, bare or inside a config.json.
#pragma once

#include <string>
#include <string_view>

#include "read/reader.h"

namespace seccompress::read {

// Errors: Errc::reported.
Result<policy::Policy> read_oci(std::string_view text, const std::string& name, const Options& options,
                                Diagnostics& diagnostics);

}  // namespace seccompress::read
