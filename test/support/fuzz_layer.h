// SPDX-License-Identifier: Apache-2.0
// What every reader's fuzz target holds: a refusal has a diagnostic or an error, an accepted policy lowers or says
// which limit it hit, and its three meanings agree on a few calls. Aborts otherwise.
#pragma once

#include <string_view>

namespace seccompress::test {

void fuzz_layer(std::string_view kind, std::string_view bytes);

}  // namespace seccompress::test
