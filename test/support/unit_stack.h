// SPDX-License-Identifier: Apache-2.0
// A systemd unit as read against the filters that a real systemd installed for it.
#pragma once

#include <span>
#include <string>

#include "merge/merge.h"
#include "read/reader.h"

namespace seccompress::test {

// What they disagree on: the number of filters, one of them (with a witness), or the whole. Empty: equal, filter by
// filter and as a whole. Warnings of the reader are no disagreement.
std::string compare_unit(const std::string& unit, std::span<const program::Code> installed,
                         const read::Options& options);

// The calls that the unit as read refuses and the filters do not, in words: "i386 socketcall (some)"; something else
// when it is not stricter and in no call looser.
std::string stricter_calls(const std::string& unit, std::span<const program::Code> installed,
                           const read::Options& options);

}  // namespace seccompress::test
