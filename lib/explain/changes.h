// SPDX-License-Identifier: Apache-2.0
// Which calls get another verdict when one function takes the place of another: what a layer adds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagram/store.h"

namespace seccompress::explain {

// Numbers that are looked at one by one.
struct NumberSpace {
  std::uint32_t audit;  // seccomp_data.arch
  std::uint32_t first;
  std::uint32_t count;
};
// x86_64: native, i386 and x32 numbers; other machines: their own.
std::vector<NumberSpace> number_spaces();

struct ChangedCall {
  std::uint32_t nr;
  bool for_some_arguments;  // for others the verdict stays
  bool computed = false;    // carried code decides it: perhaps nothing changes after all
};
struct Changes {
  std::vector<std::vector<ChangedCall>> calls;  // one list a space, ascending
  std::optional<abi::SeccompData> elsewhere;    // a call outside all spaces that changes
  bool any() const;
};
Changes changes_between(diagram::Store& store, diagram::Node before, diagram::Node after);

}  // namespace seccompress::explain
