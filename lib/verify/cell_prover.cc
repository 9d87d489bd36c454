// SPDX-License-Identifier: Apache-2.0
// Method: regions of each program by the executor, combined newest first as the kernel does, compared edge by
// edge. Where programs compute, first with all arithmetic abstract: that is cheap and proves that identical code
// on identical inputs is equal, however wild. Then exactly, in one order of variables and then in the other. Then
// without bringing ways together, since a fresh word is only equal to another of the very same operands. Where there
// are too many verdicts for regions, verdicts are compared as words.
#include "verify/cell_prover.h"

#include <algorithm>
#include <utility>

namespace seccompress::verify {
namespace {

constexpr std::size_t kKeepNodes = std::size_t{1} << 15;
constexpr std::uint64_t kAttemptSteps = 16'000'000;
constexpr std::uint64_t kSeparateSteps = 500'000;  // ways multiply quickly

abi::SeccompData some_input(const Cell& cell) {
  abi::SeccompData data{};
  data.arch = cell.arch->representative();
  abi::write_word(data, abi::kNr, cell.nr.first);
  return data;
}

}  // namespace

CellProver::CellProver(std::span<const Subject> subjects, const Residues& residues, std::uint32_t node_limit,
                       Budget& budget, Holds holds, Shows shows)
    : subjects_(subjects),
      residues_(residues),
      budget_(budget),
      bdd_(node_limit, budget),
      executor_(bdd_, budget),
      holds_(holds),
      shows_(std::move(shows)),
      relations_(std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.uses_x(); })),
      computes_(std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.computes(); })) {}

std::vector<Mode> CellProver::modes() const {
  const Order first = relations_ ? Order::bit_by_bit : Order::word_by_word;
  const Order second = relations_ ? Order::word_by_word : Order::bit_by_bit;
  if (computes_) return {{first, true}, {first}, {second}, {first, true, true}, {first, false, true}};
  return {{first}, {second}};
}

CellProof CellProver::prove(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat) {
  CellProof best;
  best.witness = some_input(cell);
  best.reason = "needs more nodes or verdicts than the limit";
  const bool asks_equality = holds_(abi::kAllow, abi::kKillProcess) && holds_(abi::kKillProcess, abi::kAllow);
  bool words = false;
  for (Mode mode : modes()) {
    mode.words = words;
    CellProof proof = attempt(cell, stack, flat, mode);
    if (executor_.trouble() == Trouble::verdicts && asks_equality && !words) {
      mode.words = words = true;
      proof = attempt(cell, stack, flat, mode);
    }
    const Trouble trouble = executor_.trouble();
    if (trouble == Trouble::none) {
      if (proof.kind == CellProof::Kind::never || proof.exact || shows_(proof.witness)) best = proof;
      if (best.kind != CellProof::Kind::undecided) break;
      if (!mode.abstract) best.reason = "depends on a multiplication, a division or a shift by a register";
    }
    if (budget_.all_spent()) best.reason = "the step limit was reached";
    if (budget_.all_spent() || trouble == Trouble::verdicts) break;
  }
  budget_.begin_attempt(~0ULL);
  return best;
}

CellProof CellProver::attempt(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat, Mode mode) {
  budget_.begin_attempt(mode.separate ? kSeparateSteps : kAttemptSteps);
  CellProof proof = attempt(cell, stack, flat, mode, false);
  if (executor_.trouble() == Trouble::needs_plane) proof = attempt(cell, stack, flat, mode, true);
  return proof;
}

CellProof CellProver::attempt(const Cell& cell, std::span<const Item> stack, std::span<const Item> flat, Mode mode,
                              bool plane) {
  if (bdd_.order() != mode.order || bdd_.overflowed() || bdd_.node_count() > kKeepNodes) bdd_.reset(mode.order);
  executor_.enter(cell, mode, plane);
  const Edge inside = executor_.inside();
  Edge where = kFalse;
  if (mode.words) {
    where = where_words_differ(stack, flat, inside);
  } else {
    const Regions before = sum_of(stack, inside);
    if (executor_.trouble() != Trouble::none) return {};
    where = where_it_holds(before, sum_of(flat, inside));
  }
  if (executor_.trouble() != Trouble::none) return {};
  CellProof proof;
  proof.kind = where == kFalse ? CellProof::Kind::never : CellProof::Kind::somewhere;
  proof.for_this_cell_only = plane || executor_.used_plane();
  proof.exact = !executor_.used_fresh();
  proof.witness = some_input(cell);
  if (where != kFalse) bdd_.satisfy(where, proof.witness);
  return proof;
}

Edge CellProver::where_words_differ(std::span<const Item> stack, std::span<const Item> flat, Edge inside) {
  const Executor::Bits before = word_of(stack, inside), after = word_of(flat, inside);
  for (unsigned i = 0; i < 32; ++i)
    if (before[i] != after[i]) return bdd_.difference(before[i], after[i]);
  return kFalse;
}

Executor::Bits CellProver::word_of(std::span<const Item> newest_first, Edge inside) {
  Executor::Bits sum = executor_.word_of(abi::kAllow, inside);
  for (const Item item : newest_first) {
    sum = executor_.stack_words(sum, word_of(item, inside));
    if (executor_.trouble() != Trouble::none) break;
  }
  return sum;
}

Executor::Bits CellProver::word_of(Item item, Edge inside) {
  if (item.constant) return executor_.word_of(abi::normalize(item.value), inside);
  const Residue& residue = residues_[item.value];
  return executor_.run_to_word(subjects_[residue.subject], residue.pc, residue.held, inside);
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

// Both are partitions of the same region, so parts that are equal meet no other part.
Edge CellProver::where_it_holds(const Regions& a, const Regions& b) {
  for (const Region& mine : a) {
    const auto twin = std::find_if(b.begin(), b.end(), [&](const Region& r) { return r.where == mine.where; });
    for (const Region& other : b) {
      if ((twin != b.end() && twin->verdict != other.verdict) || !holds_(mine.verdict, other.verdict)) continue;
      const Edge where = bdd_.conjunction(mine.where, other.where);
      if (where != kFalse) return where;
    }
  }
  return kFalse;
}

}  // namespace seccompress::verify
