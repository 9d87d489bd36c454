// SPDX-License-Identifier: Apache-2.0
// Input: code. Output: for each range of (arch, nr) that it may tell apart, what is left of it. Entry: carry.
#include "raise/carry.h"

#include <vector>

#include "opaque/cells.h"
#include "opaque/specialise.h"

namespace seccompress::raise {

Result<diagram::Node> carry(program::CodeView code, diagram::Store& store) {
  const opaque::Plane plane = opaque::plane_of(code);
  std::vector<diagram::Piece> arches;
  for (const opaque::Interval& arch : plane.arch) {
    std::vector<diagram::Piece> numbers;
    for (const opaque::Interval& nr : plane.nr)
      numbers.push_back({nr.last, store.carried(opaque::specialise(store.code(), code, {arch, nr}))});
    arches.push_back({arch.last, store.select(abi::kNr, numbers)});
    TRY(store.status());
  }
  const diagram::Node node = store.select(abi::kArch, arches);
  TRY(store.status());
  return node;
}

}  // namespace seccompress::raise
