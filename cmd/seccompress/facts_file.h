// SPDX-License-Identifier: Apache-2.0
// The host facts that a result depends on, as `--json` prints them under "host" and `--host-facts FILE` takes them
// back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "host/systemd_facts.h"
#include "support/result.h"

namespace seccompress::cmd {

// Where the systemd that units are read for comes from.
inline constexpr char kFromHost[] = "host", kFromOption[] = "option", kFromDefault[] = "default";
struct SystemdChoice {
  std::string from;  // one of the above
  host::SystemdFacts facts;
};

struct FactsFile {
  std::string arch, kernel, weights;
  std::set<std::string> caps;
  std::optional<SystemdChoice> systemd;  // none: no unit was read
};
// FILE: that object, or a whole --json report with it.
Result<FactsFile> read_facts_file(const std::string& path);

// null when no unit was read; else version, origin, and how the groups differ from this build's table.
nlohmann::ordered_json to_json(const std::optional<SystemdChoice>& systemd);

}  // namespace seccompress::cmd
