// SPDX-License-Identifier: Apache-2.0
// A policy through libseccomp, as runc hands it over: a reference where libseccomp is right. Runs in a child that a
// timer kills, because some rule sets never return.
#pragma once

#include <functional>

#include "policy/policy.h"
#include "program/program.h"

namespace seccompress::test {

enum class LibseccompFailure { refused, hung };
// list: the numbers one after the other (its default); tree: SCMP_FLTATR_CTL_OPTIMIZE 2, which runc asks for from 1.2
// on.
enum class LibseccompShape { list, tree };
// refused: libseccomp (or the exec of the child) said no; hung: killed after `seconds` of CPU time.
tl::expected<program::Code, LibseccompFailure> build_with_libseccomp(const policy::Policy& policy,
                                                                     unsigned seconds = 10,
                                                                     LibseccompShape shape = LibseccompShape::list);
// CPU time of building and exporting it, in microseconds, the fastest of some rounds as the child measured them; and of
// other work in such a child, for comparisons.
tl::expected<double, LibseccompFailure> time_libseccomp(const policy::Policy& policy, LibseccompShape shape);
tl::expected<double, LibseccompFailure> time_in_child(const std::function<bool()>& work);

}  // namespace seccompress::test
