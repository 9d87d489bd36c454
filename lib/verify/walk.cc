// SPDX-License-Identifier: Apache-2.0
// See walk.h. Instructions are taken in the order of their places, which is an order of execution because
// jumps only go forward: whatever reaches an instruction has been delivered before it is taken.
#include "verify/walk.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace seccompress::verify {

using program::Instruction;

std::uint32_t Walker::allocate() {
  if (!free_.empty()) {
    const std::uint32_t set = free_.back();
    free_.pop_back();
    std::fill_n(words_.begin() + set, stride_, 0);
    return set;
  }
  const auto set = static_cast<std::uint32_t>(words_.size());
  words_.resize(words_.size() + stride_);
  return set;
}

bool Walker::is_empty(std::uint32_t set) const {
  return std::all_of(row(set), row(set) + stride_, [](std::uint64_t word) { return word == 0; });
}

std::uint32_t Walker::full_set() {
  const std::uint32_t set = allocate();
  std::fill_n(words_.begin() + set, stride_, ~0ULL);
  if (cells_.count() % 64 != 0) words_[set + stride_ - 1] = (1ULL << cells_.count() % 64) - 1;
  return set;
}

// Moves the cells from first_cell on into a new set.
std::uint32_t Walker::take_from(std::uint32_t set, std::uint32_t first_cell) {
  const std::uint32_t taken = allocate();
  const std::uint32_t at = first_cell / 64;
  if (at >= stride_) return taken;
  const std::uint64_t below = (1ULL << first_cell % 64) - 1;
  words_[taken + at] = words_[set + at] & ~below;
  words_[set + at] &= below;
  for (std::uint32_t w = at + 1; w < stride_; ++w) {
    words_[taken + w] = words_[set + w];
    words_[set + w] = 0;
  }
  return taken;
}

const Outcomes& Walker::walk(const Subject& subject, const ArchClass& arch) {
  arch_ = &arch;
  start(subject);
  for (std::uint32_t w = 0; w <= (subject.size() - 1) / 64; ++w) {
    while (reached_[w] != 0) {
      const std::uint32_t pc = w * 64 + static_cast<std::uint32_t>(std::countr_zero(reached_[w]));
      reached_[w] &= reached_[w] - 1;
      std::uint32_t at = heads_[pc];
      heads_[pc] = kNone;
      while (at != kNone) {
        const Pending entry = pending_[at];
        at = entry.next;
        budget_.spend(1 + stride_ / 32);
        if (budget_.exhausted()) return outcomes_;
        step(pc, entry.held, entry.set);
      }
    }
  }
  return outcomes_;
}

void Walker::start(const Subject& subject) {
  subject_ = &subject;
  words_.clear();
  free_.clear();
  pending_.clear();
  outcomes_.constants.clear();
  outcomes_.residues.clear();
  if (heads_.size() < subject.size()) {
    heads_.resize(subject.size(), kNone);
    reached_.resize((subject.size() + 63) / 64);
  }
  deliver(0, Held{}, full_set());
}

void Walker::deliver(std::uint32_t pc, Held held, std::uint32_t set) {
  if (is_empty(set)) return release(set);
  if (subject_->forgets_a(pc)) {
    held.word = Held::kConstant;
    held.bits = 0;
  }
  for (std::uint32_t at = heads_[pc]; at != kNone; at = pending_[at].next) {
    if (pending_[at].held != held) continue;
    for (std::uint32_t w = 0; w < stride_; ++w) words_[pending_[at].set + w] |= words_[set + w];
    return release(set);
  }
  pending_.push_back({held, set, heads_[pc]});
  heads_[pc] = static_cast<std::uint32_t>(pending_.size() - 1);
  reached_[pc / 64] |= 1ULL << pc % 64;
}

// Lists of tests of nr that lead to a RET each are most of a policy: no set is made for one cell.
void Walker::finish_cell(abi::Verdict verdict, bool emulated, std::uint32_t cell) {
  const std::uint64_t bit = 1ULL << cell % 64;
  for (const Outcomes::Constant& entry : outcomes_.constants) {
    if (entry.verdict != verdict || entry.emulated != emulated) continue;
    words_[entry.set + cell / 64] |= bit;
    return;
  }
  const std::uint32_t set = allocate();
  words_[set + cell / 64] = bit;
  outcomes_.constants.push_back({verdict, emulated, set});
}

void Walker::finish(abi::Verdict verdict, bool emulated, std::uint32_t set) {
  for (const Outcomes::Constant& entry : outcomes_.constants) {
    if (entry.verdict != verdict || entry.emulated != emulated) continue;
    for (std::uint32_t w = 0; w < stride_; ++w) words_[entry.set + w] |= words_[set + w];
    return release(set);
  }
  outcomes_.constants.push_back({verdict, emulated, set});
}

void Walker::step(std::uint32_t pc, Held held, std::uint32_t set) {
  const Instruction& insn = subject_->at(pc);
  switch (insn.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      held.word = static_cast<std::uint8_t>(insn.k / 4);
      held.bits = 0xffffffffU;
      held.emulated = held.emulated && (held.word == abi::kNr || held.word == abi::kArch);
      return deliver(pc + 1, held, set);
    case BPF_LD | BPF_IMM: return deliver(pc + 1, {Held::kConstant, false, insn.k}, set);
    case BPF_LD | BPF_W | BPF_LEN: return deliver(pc + 1, {Held::kConstant, false, sizeof(abi::SeccompData)}, set);
    case BPF_ALU | BPF_AND | BPF_K:  // of a mask or of a constant, the same
      held.bits &= insn.k;
      return deliver(pc + 1, held, set);
    case BPF_RET | BPF_K: return finish(insn.k, held.emulated, set);
    case BPF_RET | BPF_A:
      if (held.word == Held::kConstant) return finish(held.bits, false, set);
      held.emulated = false;
      return stop(pc, held, set);
    case BPF_JMP | BPF_JA: return deliver(pc + 1 + insn.k, held, set);
    default: break;
  }
  if (BPF_CLASS(insn.code) == BPF_JMP && BPF_SRC(insn.code) == BPF_K) return jump(pc, held, set);
  held.emulated = false;
  stop(pc, held, set);
}

void Walker::jump(std::uint32_t pc, Held held, std::uint32_t set) {
  const Instruction& insn = subject_->at(pc);
  const Relation relation = relation_of(insn.code);
  std::optional<bool> known;
  if (insn.jt == insn.jf)
    known = true;
  else if (held.word == Held::kConstant)
    known = holds(relation, held.bits, insn.k);
  else if (held.word == abi::kArch)
    known = arch_->holds(relation, held.bits, insn.k);
  else if (held.word == abi::kNr && held.bits == 0xffffffffU && relation != Relation::any_bit)
    return jump_on_nr(pc, held, set);
  else if (held.word == abi::kNr)
    return split_by_cell(pc, held, set);
  if (!known) return stop(pc, held, set);
  deliver(pc + 1 + (*known ? insn.jt : insn.jf), held, set);
}

// The cuts hold the constant: each cell answers as a whole.
void Walker::jump_on_nr(std::uint32_t pc, Held held, std::uint32_t set) {
  const Instruction& insn = subject_->at(pc);
  const std::uint32_t cell = cells_.find(insn.k);
  std::uint32_t yes = 0;
  if (relation_of(insn.code) == Relation::equal) {
    CHECK(cells_.first(cell) == cells_.last(cell));
    const std::uint64_t bit = words_[set + cell / 64] & 1ULL << cell % 64;
    words_[set + cell / 64] ^= bit;
    if (const Instruction& next = subject_->at(pc + 1 + insn.jt); next.code == (BPF_RET | BPF_K)) {
      if (bit != 0) finish_cell(next.k, held.emulated, cell);
      return deliver(pc + 1 + insn.jf, held, set);
    }
    yes = allocate();
    words_[yes + cell / 64] = bit;
  } else {
    const bool includes = relation_of(insn.code) == Relation::greater_equal;
    CHECK(includes ? cells_.first(cell) == insn.k : cells_.last(cell) == insn.k);
    yes = take_from(set, includes ? cell : cell + 1);
  }
  deliver(pc + 1 + insn.jt, held, yes);
  deliver(pc + 1 + insn.jf, held, set);
}

void Walker::split_by_cell(std::uint32_t pc, Held held, std::uint32_t set) {
  const Instruction& insn = subject_->at(pc);
  const std::uint32_t yes = allocate(), no = allocate(), unknown = allocate();
  budget_.spend(64 * std::uint64_t{stride_});
  for_each(set, [&](std::uint32_t cell) {
    const auto answer = holds_for_all(relation_of(insn.code), cells_.first(cell), cells_.last(cell), held.bits, insn.k);
    const std::uint32_t to = !answer ? unknown : *answer ? yes : no;
    words_[to + cell / 64] |= 1ULL << cell % 64;
  });
  release(set);
  deliver(pc + 1 + insn.jt, held, yes);
  deliver(pc + 1 + insn.jf, held, no);
  if (is_empty(unknown)) return release(unknown);
  stop(pc, held, unknown);
}

}  // namespace seccompress::verify
