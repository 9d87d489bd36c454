// SPDX-License-Identifier: Apache-2.0
// Method: regions of each program by the executor, combined newest first as the kernel does, compared edge by
// edge. Where programs compute, first with all arithmetic abstract: that is cheap and proves that identical code
// on identical inputs is equal, however wild. Then exactly, in one order of variables and then in the other.
#include "verify/cell_prover.h"

#include <algorithm>
#include <utility>

namespace seccompress::verify {
namespace {

constexpr std::size_t kKeepNodes = std::size_t{1} << 15;
constexpr std::uint64_t kAttemptSteps = 16'000'000;

abi::SeccompData some_input(const Cell& cell) {
  abi::SeccompData data{};
  data.arch = cell.arch->representative();
  abi::write_word(data, abi::kNr, cell.nr.first);
  return data;
}

}  // namespace

CellProver::CellProver(std::span<const Subject> subjects, const Residues& residues, std::uint32_t node_limit,
                       Budget& budget, Shows shows)
    : subjects_(subjects),
      residues_(residues),
      budget_(budget),
      bdd_(node_limit, budget),
      executor_(bdd_, budget),
      shows_(std::move(shows)),
      relations_(std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.uses_x(); })),
      computes_(std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.computes(); })) {}

std::vector<Mode> CellProver::modes() const {
  const Order first = relations_ ? Order::bit_by_bit : Order::word_by_word;
  const Order second = relations_ ? Order::word_by_word : Order::bit_by_bit;
  if (computes_) return {{first, true}, {first}, {second}};
  return {{first}, {second}};
}

CellProof CellProver::prove(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat) {
  CellProof best;
  best.witness = some_input(cell);
  best.reason = "needs more nodes or verdicts than the limit";
  for (const Mode mode : modes()) {
    budget_.begin_attempt(kAttemptSteps);
    CellProof proof = attempt(cell, stack, flat, mode, false);
    if (executor_.trouble() == Trouble::needs_plane) proof = attempt(cell, stack, flat, mode, true);
    const Trouble trouble = executor_.trouble();
    if (trouble == Trouble::none) {
      if (proof.kind == CellProof::Kind::equal || proof.exact || shows_(proof.witness)) best = proof;
      if (best.kind != CellProof::Kind::undecided) break;
      if (!mode.abstract) best.reason = "depends on a multiplication, a division or a shift by a register";
    }
    if (budget_.all_spent()) best.reason = "the step limit was reached";
    if (budget_.all_spent() || trouble == Trouble::verdicts) break;
  }
  budget_.begin_attempt(~0ULL);
  return best;
}

CellProof CellProver::attempt(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat, Mode mode,
                              bool plane) {
  if (bdd_.order() != mode.order || bdd_.overflowed() || bdd_.node_count() > kKeepNodes) bdd_.reset(mode.order);
  executor_.enter(cell, mode, plane);
  const Edge inside = executor_.inside();
  const Regions before = sum_of(stack, inside);
  if (executor_.trouble() != Trouble::none) return {};
  const Edge where = where_they_differ(before, sum_of(flat, inside));
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

Regions CellProver::sum_of(std::span<const Item> newest_first, Edge inside) {
  Regions sum{{abi::kAllow, inside}};
  for (const Item item : newest_first) {
    sum = add(sum, regions_of(item, inside));
    if (executor_.trouble() != Trouble::none) break;
  }
  return sum;
}

Regions CellProver::add(const Regions& newer, const Regions& older) {
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
