// SPDX-License-Identifier: Apache-2.0
// The filters of a whole process: filters belong to threads, and threads may differ.
#pragma once

#include "host/live_stack.h"

namespace seccompress::host {

// Oldest first; the same for every thread, or Errc::refused with two that differ. Threads that start or end meanwhile
// are looked at again or left out. Needs what read_live_stack needs.
Result<std::vector<LiveFilter>> read_process_stack(pid_t pid);
// One thread, which must belong to the process.
Result<std::vector<LiveFilter>> read_thread_stack(pid_t pid, pid_t thread);

}  // namespace seccompress::host
