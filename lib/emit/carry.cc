// SPDX-License-Identifier: Apache-2.0
// Input: a leaf, that is code of some filters and a verdict, newest first. Output: operations that run them one after
// the other and return what the kernel makes of their verdicts. Entry: Carrier::emit.
//
// Method: filters have no effects, so they can run in any order: the newest first. Where one returns a verdict, the
// code of the others follows with that verdict known, one copy for each that can still matter; the last one returns
// the winner. Nothing has to be kept between them, because carried code reads nothing before it sets it. Only a
// verdict that was computed (RET A), and a dividend whose divisor may be 0 while another filter may be stricter than 0,
// are kept, in scratch words that no code of the leaf uses.
//
// RET operations carry the set of scratch words that are set where they stand, so that they are not shared between
// places where that differs: bpf_check_classic's check_load_and_stores goes on after a RET with what was set before
// it, and refuses code behind it that reads more.
#include "emit/carry.h"

#include <algorithm>

namespace seccompress::emit {
namespace {

using opaque::Item;
using opaque::Items;
using opaque::Operation;

constexpr std::uint32_t kSign = 0x80000000U;  // turns the signed order of actions into the unsigned one

bool touches_memory(const Operation& op) {
  return op.code == BPF_ST || op.code == BPF_STX || op.code == (BPF_LD | BPF_MEM) || op.code == (BPF_LDX | BPF_MEM);
}

}  // namespace

std::optional<OpId> Carrier::emit(opaque::LeafId leaf) {
  choose_cells(leaf);
  const Items items = leaves_[leaf];
  const OpId start = stack(items, kNone, 0);
  if (exhausted_) return std::nullopt;
  return start;
}

// Two words are enough for computed verdicts: the one so far, and the next one.
void Carrier::choose_cells(opaque::LeafId leaf) {
  std::uint32_t used = 0;
  for (const Item& item : leaves_[leaf]) {
    if (!item.is_code) continue;
    for (const opaque::OpId id : leaves_.graph().below(item.value)) {
      const Operation& op = leaves_.graph()[id];
      if (touches_memory(op)) used |= 1U << op.k;
    }
  }
  cells_.fill(kNone);
  std::size_t found = 0;
  for (std::uint32_t cell = BPF_MEMWORDS; cell-- > 0 && found < cells_.size();)
    if ((used >> cell & 1U) == 0) cells_[found++] = cell;
  done_.clear();  // what is known of other leaves used other words
}

// Is there such a word? Else this leaf cannot be emitted.
bool Carrier::has_cell(std::size_t which) {
  if (cells_[which] == kNone) lacks_cells_ = exhausted_ = true;
  return !exhausted_;
}

// The verdict of newer filters is in `cell`, unless that is kNone.
OpId Carrier::stack(const Items& items, std::uint32_t cell, std::uint32_t set) {
  if (exhausted_ || graph_.size() > max_operations_) {
    exhausted_ = true;
    return graph_.ret(abi::kKillProcess);
  }
  if (cell != kNone && !items.empty() && !items.front().is_code) {
    const OpId cell_wins = stack({items.begin() + 1, items.end()}, cell, set);
    return unless_stricter(cell, items.front().value, stack(items, kNone, set), cell_wins);
  }
  const auto first = std::ranges::find(items, true, &Item::is_code);
  if (first != items.end()) return code(first->value, {leaves_.file(items), set}, cell);
  if (cell == kNone) return ret(items.empty() ? abi::kAllow : items.front().value, set);
  return graph_.step(BPF_LD | BPF_MEM, cell, graph_.ret_carried(BPF_RET | BPF_A, 0, set));
}

OpId Carrier::code(opaque::OpId root, const Place& place, std::uint32_t cell) {
  const auto key = std::tuple(root, place, cell);
  if (const auto known = done_.find(key); known != done_.end()) return known->second;
  if (exhausted_ || graph_.size() > max_operations_) {
    exhausted_ = true;
    return graph_.ret(abi::kKillProcess);
  }
  return done_[key] = make(root, place, cell);
}

OpId Carrier::make(opaque::OpId root, const Place& place, std::uint32_t cell) {
  const Operation op = leaves_.graph()[root];
  switch (BPF_CLASS(op.code)) {
    case BPF_RET: return op.code == (BPF_RET | BPF_K) ? given(op.k, place, cell) : computed(place, cell);
    case BPF_JMP: {
      const OpId yes = code(op.yes, place, cell), no = code(op.no, place, cell);
      return graph_.jump(static_cast<std::uint16_t>(BPF_OP(op.code) | BPF_SRC(op.code)), op.k, yes, no, 0.5);
    }
    default: break;
  }
  if (op.code == (BPF_ALU | BPF_DIV | BPF_X)) return divide(op.yes, place, cell);
  Place next = place;
  if (BPF_CLASS(op.code) == BPF_ST || BPF_CLASS(op.code) == BPF_STX) next.set |= 1U << op.k;
  return graph_.step(op.code, op.k, code(op.yes, next, cell));
}

// A division by 0 ends the whole program with 0, which only is right where no other filter can be stricter.
OpId Carrier::divide(opaque::OpId quotient, const Place& place, std::uint32_t cell) {
  const Items ended = leaves_.stack({{false, abi::stack(before(place), abi::kKillThread)}}, after(place));
  const Items kill_thread{{false, abi::kKillThread}};
  if (ended == kill_thread && cell == kNone)
    return graph_.step(BPF_ALU | BPF_DIV | BPF_X, 0, code(quotient, place, cell));
  if (!has_cell(2)) return graph_.ret(abi::kKillProcess);
  Place next = place;
  next.set |= 1U << cells_[2];
  const OpId divided = graph_.step(BPF_ALU | BPF_DIV | BPF_X, 0, code(quotient, next, cell));
  const OpId again = graph_.step(BPF_LD | BPF_MEM, cells_[2], divided);
  const OpId test = graph_.jump(BPF_JEQ, 0, given(abi::kKillThread, next, cell), again, 0.1);
  return graph_.step(BPF_ST, cells_[2], graph_.step(BPF_MISC | BPF_TXA, 0, test));
}

// The verdict of what is newer than the code that runs; the list begins with it or with the code.
abi::Verdict Carrier::before(const Place& place) const {
  const Item& first = leaves_[place.items].front();
  return first.is_code ? abi::kAllow : first.value;
}

Items Carrier::after(const Place& place) const {
  const Items& items = leaves_[place.items];
  const auto code = std::ranges::find(items, true, &Item::is_code);
  return {code + 1, items.end()};
}

// The code that ran returned this.
OpId Carrier::given(abi::Verdict verdict, const Place& place, std::uint32_t cell) {
  const Items older = after(place);
  const Items known{{false, abi::stack(before(place), verdict)}};
  const Items with_verdict = leaves_.stack(known, older);
  if (cell == kNone) return stack(with_verdict, cell, place.set);
  if (verdict == abi::kAllow) return stack(older, cell, place.set);
  const OpId verdict_wins = stack(with_verdict, kNone, place.set);
  return unless_stricter(cell, verdict, verdict_wins, stack(older, cell, place.set));
}

// The code that ran returned what A holds.
OpId Carrier::computed(const Place& place, std::uint32_t cell) {
  const Items older = after(place);
  const abi::Verdict newer = before(place);
  const std::size_t which = cell == cells_[0] ? 1 : 0;
  const bool kept = !older.empty() || cell != kNone;
  if (kept && !has_cell(which)) return graph_.ret(abi::kKillProcess);
  const std::uint32_t mine = cells_[which];
  const std::uint32_t set = kept ? place.set | 1U << mine : place.set;
  if (cell != kNone) {  // which of two computed words wins?
    const OpId compare = graph_.jump(BPF_JGE | BPF_X, 0, stack(older, cell, set), stack(older, mine, set), 0.5);
    const OpId right = graph_.step(BPF_ALU | BPF_RSH | BPF_K, 16, compare);
    const OpId again = graph_.step(BPF_LD | BPF_MEM, mine, graph_.step(BPF_ALU | BPF_XOR | BPF_K, kSign, right));
    const OpId left = graph_.step(BPF_ALU | BPF_RSH | BPF_K, 16, graph_.step(BPF_MISC | BPF_TAX, 0, again));
    const OpId load = graph_.step(BPF_LD | BPF_MEM, cell, graph_.step(BPF_ALU | BPF_XOR | BPF_K, kSign, left));
    return graph_.step(BPF_ST, mine, load);
  }
  OpId keep = 0;
  if (older.empty())
    keep = graph_.ret_carried(BPF_RET | BPF_A, 0, set);
  else
    keep = graph_.step(BPF_ST, mine, stack(older, mine, set));
  if (newer == abi::kAllow) return keep;
  const OpId newer_wins = stack(leaves_.stack({{false, newer}}, older), kNone, place.set);
  const OpId turned_back = graph_.step(BPF_ALU | BPF_XOR | BPF_K, kSign, keep);
  const OpId test = graph_.jump(BPF_JGE, abi::action_word(newer) ^ kSign, newer_wins, turned_back, 0.5);
  return graph_.step(BPF_ALU | BPF_XOR | BPF_K, kSign, test);
}

// The word in the cell is the newer one: an older verdict only wins when it is stricter.
OpId Carrier::unless_stricter(std::uint32_t cell, abi::Verdict verdict, OpId verdict_wins, OpId cell_wins) {
  const std::uint32_t bound = (abi::action_word(verdict) ^ kSign) | 0xffffU;
  const OpId test = graph_.jump(BPF_JGT, bound, verdict_wins, cell_wins, 0.5);
  return graph_.step(BPF_LD | BPF_MEM, cell, graph_.step(BPF_ALU | BPF_XOR | BPF_K, kSign, test));
}

}  // namespace seccompress::emit
