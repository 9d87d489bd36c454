// SPDX-License-Identifier: Apache-2.0
// A function cut into parts that together are the function again: each answers on one range of all inputs and allows
// everything else, and the kernel takes the strictest answer. For layers that no single program can hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagram/store.h"

namespace seccompress::diagram {

// A way down a diagram: the byte values taken at the first nodes. It stands for the smallest input that goes this way,
// in the order of the tested bytes; bytes that its nodes do not test are left out.
using Place = std::vector<std::uint8_t>;

// Places, ascending, that cut `node` into at most `parts` parts of about as many edges each.
std::vector<Place> places_between(const Store& store, Node node, std::size_t parts);

// `node` from one of its places up to another, without that; `outside` elsewhere. nullopt: no bound there.
Node slice(Store& store, Node node, const std::optional<Place>& from, const std::optional<Place>& to, Node outside);

}  // namespace seccompress::diagram
