// SPDX-License-Identifier: Apache-2.0
// A unit of this host by its name: which file is it, and which drop-ins does systemd read with it? The unit path is
// searched directly, so that no manager has to run and the hook can do it too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace seccompress::host {

struct UnitPaths {
  std::string name;                   // after aliases: "systemd-logind.service" for "dbus-org.freedesktop.login1"
  std::string fragment;               // absolute, without links
  std::vector<std::string> drop_ins;  // in the order in which systemd reads them
};

// The folders of a system manager's units, the most important first (systemd.unit(5); `systemd-analyze unit-paths`).
const std::vector<std::string>& unit_path();

// name: "x.service", "x" for the same, "x@instance.service", or an alias. root: where / is, for tests. Errors: a name
// that is none, of a type that starts no process, a unit that is masked, or is not there; Errc::budget.
Result<UnitPaths> find_unit(std::string_view name, const std::string& root = {});

}  // namespace seccompress::host
