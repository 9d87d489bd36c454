// SPDX-License-Identifier: Apache-2.0
// What a container runtime itself makes of a profile before libseccomp sees it (never what libseccomp then
// does to it): documented transformations of runc, crun and youki.
#pragma once

#include <optional>
#include <string_view>

#include "policy/policy.h"
#include "support/result.h"

namespace seccompress::policy {

enum class Runtime : std::uint8_t { none, runc, crun, youki };
std::optional<Runtime> runtime_from_name(std::string_view name);  // "runc"
std::string_view to_string(Runtime runtime);

struct RuntimeVersion {
  unsigned major = 1, minor = 1, patch = 5;  // Debian 12's runc
  auto operator<=>(const RuntimeVersion&) const = default;
};

// none: the policy as it is. runc: adds the ENOSYS stub (Policy::enosys_above). Errors: Errc::refused for
// profiles with which the runtime itself refuses to start, naming why.
Result<Policy> apply_runtime(Policy policy, Runtime runtime, RuntimeVersion version = {});

}  // namespace seccompress::policy
