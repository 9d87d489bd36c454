// SPDX-License-Identifier: Apache-2.0
// Which calls a container runtime's init still needs once its filter is in force.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "abi/verdict.h"
#include "abi/word.h"

namespace seccompress::abi {

enum class Runtime : std::uint8_t { runc, crun };
std::string_view to_string(Runtime runtime);

enum class NoNewPrivs : std::uint8_t { off, on, both };
enum class Need : std::uint8_t { answered, survived };
enum class Made : std::uint8_t { always, sometimes };

struct RuntimeNeed {
  Runtime runtime;
  NoNewPrivs no_new_privs;
  std::string_view call;
  std::uint64_t arguments[3];
  Need need;
  Made made;
};
std::span<const RuntimeNeed> runtime_needs();

// The need as a concrete native call. Aborts on a name that this machine does not know (a unit test walks all).
SeccompData call_of(const RuntimeNeed& need);
// Does a call with this verdict meet the need? ALLOW, LOG and USER_NOTIF let a call run (the container's own
// listener answers it), TRACE without a tracer is ENOSYS (kernel/seccomp.c).
bool meets(Need need, Verdict verdict);

// Those that start under `verdict_of` would fail at, in the order of the table.
std::vector<RuntimeNeed> unmet_needs(Runtime runtime, bool no_new_privs,
                                     const std::function<Verdict(const SeccompData&)>& verdict_of);

}  // namespace seccompress::abi
