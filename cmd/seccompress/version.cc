// SPDX-License-Identifier: Apache-2.0
#include "version.h"

#include <fmt/core.h>
#include <seccomp.h>

#include "support/build_id.h"

namespace seccompress::cmd {
std::string version() { return SECCOMPRESS_VERSION; }

std::string libseccomp_version() {
  const scmp_version* v = ::seccomp_version();
  return v == nullptr ? "" : fmt::format("{}.{}.{}", v->major, v->minor, v->micro);
}

std::string version_text() {
  return fmt::format("seccompress {}\nbuild id {}\nlibseccomp {}\n", version(), build_id(), libseccomp_version());
}

}  // namespace seccompress::cmd
