// SPDX-License-Identifier: Apache-2.0
// The State JSON that a runtime gives its hooks on stdin (runtime-spec, runtime.md "State").
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>

#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::bundle {

inline constexpr std::size_t kMaxStateBytes = std::size_t{64} << 10;

// `status` is left out on purpose: crun says "created" where runc says "creating", and nothing may depend on it.
struct State {
  std::string id;
  pid_t pid = 0;       // above 1, or see inside()
  std::string bundle;  // absolute
  std::map<std::string, std::string> annotations;

  // A stage that runs inside the container (createContainer, startContainer): crun gives 0 there, runc 1.
  bool inside() const { return pid <= 1; }
};

// Errors: Errc::reported.
Result<State> parse_state(std::string_view text, Diagnostics& diagnostics);

}  // namespace seccompress::bundle
