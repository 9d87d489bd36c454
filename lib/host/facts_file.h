// SPDX-License-Identifier: Apache-2.0
// The host facts that a result depends on, as `--json` prints them under "host" and as `--host-facts FILE` and the
// hook's `host_facts: FILE` take them back.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "host/systemd_facts.h"
#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::host {

inline constexpr std::size_t kMaxFactsBytes = std::size_t{4} << 20;

// Where the systemd that units are read for comes from: one of these words, or a path.
inline constexpr char kFromHost[] = "host", kFromOption[] = "option", kFromDefault[] = "default";
struct SystemdChoice {
  std::string from;
  SystemdFacts facts;
};

struct FactsFile {
  std::string arch, kernel, weights;
  std::set<std::string> caps;
  std::optional<SystemdChoice> systemd;  // none: no unit was read
};
// text: that object, or a whole --json report with it. file: for messages. Strict: an unknown key, a key that is there
// twice and groups that no systemd can have are errors, each at its place. Errors: Errc::reported.
Result<FactsFile> parse_facts(std::string_view text, const std::string& file, Diagnostics& diagnostics);

// null when no unit was read; else version, origin, and how the groups differ from this build's table.
nlohmann::ordered_json to_json(const std::optional<SystemdChoice>& systemd);

}  // namespace seccompress::host
