// SPDX-License-Identifier: Apache-2.0
// Socket and System V IPC calls that an architecture (also) offers through one multiplexing call:
// socketcall(call, ...) and ipc(call, ...). Numbers: include/uapi/linux/net.h and ipc.h; the list of
// architectures is libseccomp 2.5.4's (their rule_add functions), which adds a rule for such a name twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "abi/arch.h"

namespace seccompress::abi {

struct MultiplexedCall {
  std::uint32_t number;  // of socketcall or ipc on that architecture
  std::uint32_t call;    // the value of argument 0
};

bool has_multiplexed_calls(Arch arch);
// nullopt: the name is no such call, or the architecture has no such entry.
std::optional<MultiplexedCall> multiplexed_call(Arch arch, std::string_view name);

}  // namespace seccompress::abi
