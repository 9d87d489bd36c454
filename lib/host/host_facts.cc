// SPDX-License-Identifier: Apache-2.0
#include "host/host_facts.h"

#include <sys/utsname.h>

namespace seccompress::host {

Result<HostFacts> host_facts() {
  utsname names{};
  if (::uname(&names) != 0) return errno_failure("uname");
  return HostFacts{names.release, abi::native_arch()};
}

}  // namespace seccompress::host
