// SPDX-License-Identifier: Apache-2.0
// Which program this is.
#pragma once

#include <string>

namespace seccompress::cmd {

std::string version();             // "0.1.0"
std::string libseccomp_version();  // "2.5.4"
std::string version_text();        // and the build id (support/build_id.h), as --version prints them

}  // namespace seccompress::cmd
