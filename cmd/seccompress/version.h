// SPDX-License-Identifier: Apache-2.0
// Which program this is.
#pragma once

#include <string>

namespace seccompress::cmd {

std::string version();             // "0.1.0"
std::string build_id();            // GNU build id in hex, read from the running program's own ELF note; "" if none
std::string libseccomp_version();  // "2.5.4"
std::string version_text();        // all three, as --version prints them

}  // namespace seccompress::cmd
