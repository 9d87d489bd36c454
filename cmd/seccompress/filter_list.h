// SPDX-License-Identifier: Apache-2.0
// A compiled stack as one list of filters, and what people are told about each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "explain/explain.h"
#include "pipeline.h"

namespace seccompress::cmd {

// Oldest first; points into the stack.
std::vector<explain::Filter> filters_of(const Stack& stack);

// "LAYER", or "LAYER, FILTER" for one of several.
std::string filter_label(const Stack& stack, const explain::Filter& filter);
// Where the opinion comes from: "profile.json:12:5: rule for mount and 2 others", "instruction 12 of 20". Not in full:
// without the file's name.
std::string reason(const explain::Opinion& opinion, const explain::Filter& filter, const abi::SeccompData& call,
                   bool in_full);
nlohmann::ordered_json reason_json(const explain::Opinion& opinion, const abi::SeccompData& call);

// What happens to the call, for someone who has not read seccomp(2): "the call runs", "it fails with EPERM".
std::string consequence(abi::Verdict verdict);
nlohmann::ordered_json to_json(const abi::SeccompData& call);

}  // namespace seccompress::cmd
