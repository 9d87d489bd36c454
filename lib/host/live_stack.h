// SPDX-License-Identifier: Apache-2.0
// The filters that the kernel holds for a live thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "program/program.h"
#include "support/result.h"

namespace seccompress::host {

struct LiveFilter {
  program::Code code;  // as it was supplied, before the kernel's conversion
  bool log = false;    // SECCOMP_FILTER_FLAG_LOG, the one flag that the kernel tells
};

// Oldest first. Empty when the thread has no filters. Stops the thread for the time of the reading and lets it
// go in every case. Needs CAP_SYS_ADMIN in the initial user namespace, a caller without filters of its own
// and a kernel with CONFIG_CHECKPOINT_RESTORE; the error says which of them is missing.
Result<std::vector<LiveFilter>> read_live_stack(pid_t pid,
                                                std::chrono::milliseconds stop_timeout = std::chrono::seconds(5));

}  // namespace seccompress::host
