// SPDX-License-Identifier: Apache-2.0
// What this machine is: the facts that a policy is resolved against when nobody says otherwise.
#pragma once

#include <string>

#include "abi/arch.h"
#include "support/result.h"

namespace seccompress::host {

struct HostFacts {
  std::string kernel_release;  // uname -r: "6.1.0-18-amd64"
  abi::Arch arch;              // the one this program was built for; a compat process sees the same kernel
};
Result<HostFacts> host_facts();

}  // namespace seccompress::host
