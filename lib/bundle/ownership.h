// SPDX-License-Identifier: Apache-2.0
// Who can have written a file.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "support/result.h"

namespace seccompress::bundle {

// `fd` was reached from / as `path`, without links. Trusted is what root owns and nobody else can write. Where root has
// no number, also what nobody with a number here owns, in the places of ownership.cc. Errors: Errc::refused, the
// reason.
Result<void> check_owner(int fd, const std::string& path);

// This process is not the host's root: it runs as another user, or in a user namespace in which root has no number.
bool is_rootless();

// Parts of the rule, for its tests.
bool maps_number(std::string_view uid_map, uid_t number);  // /proc/PID/uid_map; true when it cannot be read
bool is_place_of_roots(std::string_view path);

}  // namespace seccompress::bundle
