// SPDX-License-Identifier: Apache-2.0
// VERB: a bench's report -> what a person or a program reads.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/report.h"

namespace seccompress::cmd {

std::string to_text(const bench::Report& report);
nlohmann::ordered_json to_json(const bench::Report& report);

}  // namespace seccompress::cmd
