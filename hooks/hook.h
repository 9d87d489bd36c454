// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bundle/settings.h"
#include "receipt/cache.h"

namespace seccompress::hooks {

struct Options {
  std::string settings_path = bundle::kSettingsPath;
  std::string receipts = receipt::kCacheFolder;
};

// The whole hook: reads the State JSON from stdin and returns the exit status: 0, and the container goes on under
// our eyes (or was left alone as configured), or 1 with the cause on stderr, which the runtime shows.
int run_hook(const Options& options);

}  // namespace seccompress::hooks
