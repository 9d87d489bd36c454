// SPDX-License-Identifier: Apache-2.0
// Input: two diagrams. Output: the calls on which they differ. Entry: changes_between.
// Method: number by number in the spaces where calls are; one witness for everything else.
#include "explain/changes.h"

#include <algorithm>

#include "abi/arch.h"
#include "explain/argument.h"

namespace seccompress::explain {
namespace {

using diagram::Compare;
using diagram::Node;
using diagram::Store;

constexpr std::uint32_t kNumbers = 512;     // where architectures keep their calls
constexpr std::uint32_t kX32Numbers = 548;  // arch/x86/entry/syscalls/syscall_64.tbl: x32's own end at 547

bool same(abi::Verdict a, abi::Verdict b) { return a == b; }

std::vector<ChangedCall> changed_in(const Store& store, Node before, Node after, const NumberSpace& space) {
  std::vector<ChangedCall> calls;
  for (std::uint32_t nr = space.first; nr < space.first + space.count; ++nr) {
    const Node was = node_of_call(store, before, space.audit, nr), is = node_of_call(store, after, space.audit, nr);
    if (was == is) continue;
    const bool computed = store.has_code(was) || store.has_code(is);
    calls.push_back({nr, store.witness(was, is, same).has_value(), computed});
  }
  return calls;
}

// The function outside the spaces; ALLOW inside.
Node outside(Store& store, Node node) {
  const Node allow = store.terminal(abi::kAllow);
  for (const NumberSpace& space : number_spaces()) {
    const Node above = store.test(abi::kNr, UINT32_MAX, Compare::ge, space.first + space.count, node, allow);
    const Node rest = store.test(abi::kNr, UINT32_MAX, Compare::ge, space.first, above, node);
    node = store.test(abi::kArch, UINT32_MAX, Compare::eq, space.audit, rest, node);
  }
  return node;
}

}  // namespace

std::vector<NumberSpace> number_spaces() {
  const abi::Arch native = abi::native_arch();
  const std::uint32_t audit = abi::facts(native).audit;
  if (native != abi::Arch::x86_64) return {{audit, 0, kNumbers}};
  return {{audit, 0, kNumbers}, {abi::facts(abi::Arch::x86).audit, 0, kNumbers}, {audit, abi::kX32Bit, kX32Numbers}};
}

bool Changes::any() const {
  return elsewhere || std::any_of(calls.begin(), calls.end(), [](const auto& list) { return !list.empty(); });
}

Changes changes_between(Store& store, Node before, Node after) {
  Changes changes;
  for (const NumberSpace& space : number_spaces()) changes.calls.push_back(changed_in(store, before, after, space));
  changes.elsewhere = store.difference(outside(store, before), outside(store, after));
  return changes;
}

}  // namespace seccompress::explain
