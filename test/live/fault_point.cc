// SPDX-License-Identifier: Apache-2.0
// seccompress-hook with steps that tests can hold: `--pause-at STEP` makes the tracer stop itself
// there, after it wrote its pid to the FIFO of `--notify FIFO`. Built from the product's own sources with
// SECCOMPRESS_FAULTS; never installed.
#include "install/fault_point.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "hook.h"
#include "support/unique_fd.h"

namespace {
std::string g_pause_at, g_notify;

void notify() {
  const seccompress::UniqueFd fifo(::open(g_notify.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  char pid[32];  // as /proc numbers it: getpid() counts from 1 in a container
  const ssize_t size = ::readlink("/proc/self", pid, sizeof pid);
  if (size > 0) (void)!::write(fifo.get(), pid, static_cast<std::size_t>(size));
}
}  // namespace

void seccompress::install::fault_point(const char* step) {
  if (g_pause_at != step) return;
  notify();
  ::raise(SIGSTOP);
}

int main(int argc, char** argv) {
  seccompress::hooks::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--pause-at") == 0)
      g_pause_at = argv[i + 1];
    else if (std::strcmp(argv[i], "--notify") == 0)
      g_notify = argv[i + 1];
    else if (std::strcmp(argv[i], "--receipts") == 0)
      options.receipts = argv[i + 1];
    else if (std::strcmp(argv[i], "--config") == 0)
      options.settings_path = argv[i + 1];
    else
      return 2;
  }
  return seccompress::hooks::run_hook(options);
}
