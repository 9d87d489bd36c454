// SPDX-License-Identifier: Apache-2.0
// Docker's (moby's, podman's, CRI-O's) profile format: a superset of the OCI object, resolved against an
// architecture, capabilities and a kernel version.
#pragma once

#include <string>
#include <string_view>

#include "read/reader.h"

namespace seccompress::read {

// Errors: Errc::reported.
Result<policy::Policy> read_docker(std::string_view text, const std::string& name, const Options& options,
                                   Diagnostics& diagnostics);

}  // namespace seccompress::read
