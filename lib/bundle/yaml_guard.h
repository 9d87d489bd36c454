// SPDX-License-Identifier: Apache-2.0
// What a YAML text may be before a tree is built from it.
#pragma once

#include <string>

#include "support/diagnostic.h"

namespace seccompress::bundle {

// Exactly one document, at most `max_depth` levels and `max_events` nodes, no alias, anchor or explicit tag. False:
// reported. An alias could make a small text a large tree.
bool check_yaml(const std::string& text, const std::string& file, std::size_t max_depth, std::size_t max_events,
                Diagnostics& diagnostics);

}  // namespace seccompress::bundle
