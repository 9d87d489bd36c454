// SPDX-License-Identifier: Apache-2.0
// The systemd that unit layers are read for.
#pragma once

#include <string>

#include "host/facts_file.h"
#include "inputs.h"

namespace seccompress::hooks {

// As the file `host_facts` says; "": as the library's name does, with this build's groups of that version. Both are
// inputs, the library also where the file decides: after an upgrade the file has to be looked at again.
Result<host::SystemdChoice> systemd_for_units(const std::string& host_facts, Diagnostics& diagnostics,
                                              HostFiles& files);

// The systemd that unit layers were read for. version 0: no layer is a unit.
struct SystemdRecord {
  unsigned version = 0;
  std::string from;  // the library or the file of facts that says so
};

nlohmann::ordered_json to_json(const SystemdRecord& systemd);  // null, or {version, from}
std::string systemd_text(const SystemdRecord& systemd);        // "", or ", units as systemd 252 takes them"
SystemdRecord record_of(const host::SystemdChoice& systemd);

}  // namespace seccompress::hooks
