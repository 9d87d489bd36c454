// SPDX-License-Identifier: Apache-2.0
// Method: regions of each program by the executor, combined newest first as the kernel does, compared edge by
// edge. When that grows too large, it is tried again in the other order of variables, and at last with all
// arithmetic abstract, which still proves that identical code on identical inputs is equal.
#include "verify/cell_prover.h"

#include <algorithm>
#include <array>

namespace seccompress::verify {
namespace {

constexpr std::size_t kKeepNodes = std::size_t{1} << 15;

abi::SeccompData some_input(const Cell& cell) {
  abi::SeccompData data{};
  data.arch = cell.arch->representative();
  abi::write_word(data, abi::kNr, cell.nr.first);
  return data;
}

}  // namespace

CellProver::CellProver(std::span<const Subject> subjects, const Residues& residues, std::uint32_t node_limit,
                       Budget& budget)
    : subjects_(subjects),
      residues_(residues),
      budget_(budget),
      bdd_(node_limit, budget),
      executor_(bdd_, budget),
      relations_(std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.uses_x(); })) {}

CellProof CellProver::prove(const Cell& cell, std::span<const Item> newest_first, Item flat) {
  const Order first = relations_ ? Order::bit_by_bit : Order::word_by_word;
  const Order second = relations_ ? Order::word_by_word : Order::bit_by_bit;
  for (const Mode mode : {Mode{first}, Mode{second}, Mode{first, true}}) {
    CellProof proof = attempt(cell, newest_first, flat, mode, false);
    if (executor_.trouble() == Trouble::needs_plane) proof = attempt(cell, newest_first, flat, mode, true);
    if (executor_.trouble() == Trouble::none) return proof;
    if (budget_.exhausted() || executor_.trouble() == Trouble::verdicts) break;
  }
  CellProof proof;
  proof.witness = some_input(cell);
  proof.reason = budget_.exhausted() ? "the step limit was reached" : "needs more nodes or verdicts than the limit";
  return proof;
}

CellProof CellProver::attempt(const Cell& cell, std::span<const Item> newest_first, Item flat, Mode mode, bool plane) {
  if (bdd_.order() != mode.order || bdd_.overflowed() || bdd_.node_count() > kKeepNodes) bdd_.reset(mode.order);
  executor_.enter(cell, mode, plane);
  const Edge inside = executor_.inside();
  Regions sum{{abi::kAllow, inside}};
  for (const Item item : newest_first) {
    sum = stack(sum, regions_of(item, inside));
    if (executor_.trouble() != Trouble::none) return {};
  }
  const Edge where = where_they_differ(sum, regions_of(flat, inside));
  CellProof proof;
  proof.kind = where == kFalse ? CellProof::Kind::equal : CellProof::Kind::differs;
  proof.for_this_cell_only = plane || executor_.used_plane();
  proof.exact = !executor_.used_fresh();
  proof.witness = some_input(cell);
  if (executor_.trouble() == Trouble::none && where != kFalse) bdd_.satisfy(where, proof.witness);
  return proof;
}

Regions CellProver::regions_of(Item item, Edge inside) {
  if (item.constant) return {{item.value, inside}};
  const Residue& residue = residues_[item.value];
  return executor_.run(subjects_[residue.subject], residue.pc, residue.held, inside);
}

Regions CellProver::stack(const Regions& newer, const Regions& older) {
  Regions sum;
  budget_.spend(newer.size() * older.size());
  for (const Region& mine : newer)
    for (const Region& other : older) {
      const Edge both = newer.size() == 1 ? other.where : bdd_.conjunction(mine.where, other.where);
      add_region(bdd_, sum, abi::stack(mine.verdict, other.verdict), both);
    }
  return sum;
}

// Both are partitions of the same region, so equal parts on one side mean equal parts on the other.
Edge CellProver::where_they_differ(const Regions& a, const Regions& b) {
  for (const Region& mine : a) {
    const auto other = std::find_if(b.begin(), b.end(), [&](const Region& r) { return r.verdict == mine.verdict; });
    const Edge where = other == b.end() ? kFalse : other->where;
    if (where != mine.where) return bdd_.difference(where, mine.where);
  }
  return kFalse;
}

}  // namespace seccompress::verify
