// SPDX-License-Identifier: Apache-2.0
// A policy through libseccomp, as runc hands it over: a reference where libseccomp is right. Runs in a child that a
// timer kills, because some rule sets never return.
#pragma once

#include "policy/policy.h"
#include "program/program.h"

namespace seccompress::test {

enum class LibseccompFailure { refused, hung };
// refused: libseccomp (or the exec of the child) said no; hung: killed after `seconds` of CPU time.
tl::expected<program::Code, LibseccompFailure> build_with_libseccomp(const policy::Policy& policy,
                                                                     unsigned seconds = 10);

}  // namespace seccompress::test
