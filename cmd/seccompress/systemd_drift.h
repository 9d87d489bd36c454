// SPDX-License-Identifier: Apache-2.0
// Is this host's systemd the one that the hook, which cannot ask it, reads unit layers for? And the file that makes it
// so.
#pragma once

#include <string>

#include "bundle/settings.h"
#include "host/facts_file.h"
#include "options.h"
#include "support/diagnostic.h"

namespace seccompress::cmd {

// Asks the host. Refused, with what differs and the commands that mend it; a note when there is no systemd-analyze.
// config: the configuration's path.
Result<void> check_systemd(const host::SystemdChoice& used, const bundle::Settings& settings, const std::string& config,
                           Diagnostics& diagnostics);

// prepare --write-host-facts FILE. The result is an exit code.
int write_host_facts(const std::string& file, const OutputOptions& output);

}  // namespace seccompress::cmd
