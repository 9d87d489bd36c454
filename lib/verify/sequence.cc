// SPDX-License-Identifier: Apache-2.0
#include "verify/sequence.h"

#include <algorithm>

namespace seccompress::verify {
namespace {

std::uint64_t hash_of(const Residue& residue) {
  const std::uint64_t place = std::uint64_t{residue.subject} << 32 | residue.pc;
  return mix(mix(place) +
             (std::uint64_t{residue.held.word} << 33 | std::uint64_t{residue.held.emulated} << 32 | residue.held.bits));
}

std::uint64_t hash_of(Sequences::Number previous, Item item) {
  return mix((std::uint64_t{previous} << 33 | std::uint64_t{item.constant} << 32) ^ item.value);
}

}  // namespace

Item Residues::file(const Residue& residue) {
  const auto next = static_cast<std::uint32_t>(all_.size());
  const std::uint32_t found = index_.find_or_file(
      hash_of(residue), next,
      [&](std::uint32_t at) {
        return all_[at].subject == residue.subject && all_[at].pc == residue.pc && all_[at].held == residue.held;
      },
      [&](std::uint32_t at) { return hash_of(all_[at]); });
  if (found == next) all_.push_back(residue);
  return {false, found};
}

Sequences::Sequences() { links_.push_back({kEmpty, {true, abi::kAllow}, abi::strictness(abi::kAllow), 0}); }

Sequences::Number Sequences::find(const Link& link) {
  const auto next = static_cast<Number>(links_.size());
  const Number found = index_.find_or_file(
      hash_of(link.previous, link.item), next,
      [&](Number at) { return links_[at].previous == link.previous && links_[at].item == link.item; },
      [&](Number at) { return hash_of(links_[at].previous, links_[at].item); });
  if (found == next) links_.push_back(link);
  return found;
}

Sequences::Number Sequences::append(Number sequence, Item older) {
  const Link last = links_[sequence];
  if (!older.constant) return find({sequence, older, last.floor, last.residues + 1});
  const std::int32_t strictness = abi::strictness(older.value);
  if (strictness >= last.floor) return sequence;
  const Number previous = last.item.constant && sequence != kEmpty ? last.previous : sequence;
  return find({previous, older, strictness, last.residues});
}

abi::Verdict Sequences::verdict(Number sequence) const { return links_[sequence].item.value; }

std::vector<Item> Sequences::newest_first(Number sequence) const {
  std::vector<Item> items;
  for (; sequence != kEmpty; sequence = links_[sequence].previous) items.push_back(links_[sequence].item);
  std::reverse(items.begin(), items.end());
  return items;
}

}  // namespace seccompress::verify
