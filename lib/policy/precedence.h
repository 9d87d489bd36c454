// SPDX-License-Identifier: Apache-2.0
// Which of several conditional rules for one call is asked first. The definition that evaluate, lower and the
// reference program share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "policy/policy.h"

namespace seccompress::policy {

// Does everything that `a` matches match `b` too, condition by condition (each of b's follows from one of a's on
// the same argument), and not the other way round? False when that is not evident.
bool is_narrower(const Rule& a, const Rule& b);

// More rules than this for one call are not compared with each other (it takes their square): of equal actions
// the first one written is asked first.
inline constexpr std::size_t kMaxCompared = 512;

// Indices in the order in which the rules are asked; the first that matches decides. Stricter actions first; of
// equal actions with different data a narrower rule before a wider one (what libseccomp does with the ladders
// that it handles: "ERRNO(1) if a2 > 128, ERRNO(2) if a2 > 256"); else as written.
std::vector<std::size_t> order_of_precedence(std::span<const Rule* const> rules);

}  // namespace seccompress::policy
