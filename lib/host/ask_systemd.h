// SPDX-License-Identifier: Apache-2.0
// Starts programs, which the hook must not: of the command line alone.
#pragma once

#include <optional>

#include "host/systemd_facts.h"

namespace seccompress::host {

// Starts systemd-analyze twice. nullopt: this host has none.
Result<std::optional<SystemdFacts>> ask_systemd();

}  // namespace seccompress::host
