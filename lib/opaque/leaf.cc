// SPDX-License-Identifier: Apache-2.0
// Input: items of stacks. Output: the one list that stands for their stack. Entry: class Leaves.
// Facts: kernel/seccomp.c seccomp_run_filters (the smallest action wins, of equal ones the newest filter's word).
#include "opaque/leaf.h"

#include <algorithm>

namespace seccompress::opaque {
namespace {

// Of two verdicts only the one that wins over the other can matter, at its own place.
void add_verdict(Items& items, const Item& older) {
  const auto known = std::ranges::find(items, false, &Item::is_code);
  if (known == items.end()) return items.push_back(older);
  if (abi::strictness(older.value) >= abi::strictness(known->value)) return;
  items.erase(known);
  items.push_back(older);
}

}  // namespace

const Leaves::Summary& Leaves::summary(OpId root) const {
  const auto [entry, is_new] = summaries_.try_emplace(root);
  if (!is_new) return entry->second;
  Summary& summary = entry->second;
  for (const OpId id : graph_.below(root)) {
    const Operation& op = graph_[id];
    if (op.code == (BPF_RET | BPF_K)) summary.verdicts.push_back(op.k);
    if (op.code == (BPF_ALU | BPF_DIV | BPF_X)) summary.verdicts.push_back(abi::kKillThread);
    if (op.code == (BPF_RET | BPF_A)) summary.computed = true;
  }
  std::ranges::sort(summary.verdicts);
  summary.verdicts.erase(std::unique(summary.verdicts.begin(), summary.verdicts.end()), summary.verdicts.end());
  return summary;
}

bool Leaves::can_win(const Item& code, const Item& verdict, bool is_newer, bool alone) const {
  const Summary& all = summary(code.value);
  return all.computed || std::ranges::any_of(all.verdicts, [&](abi::Verdict mine) {
           const std::int32_t m = abi::strictness(mine), v = abi::strictness(verdict.value);
           return m < v || (m == v && is_newer && (!alone || mine != verdict.value));
         });
}

Items Leaves::stack(const Items& newer, const Items& older) const {
  Items items = newer;
  for (const Item& item : older) {
    if (!item.is_code)
      add_verdict(items, item);
    else if (std::ranges::find(items, item) == items.end())  // again the same code: the newer one wins the tie
      items.push_back(item);
  }
  drop_idle(items);
  return items;
}

// Code that loses to the verdict whatever it returns. Newer code that ties with it and gives the very same word still
// hides what other filters say, so it only goes when it is alone with the verdict or there is nothing to hide.
void Leaves::drop_idle(Items& items) const {
  const auto verdict = std::ranges::find(items, false, &Item::is_code);
  if (verdict == items.end()) return;
  const Item known = *verdict;
  const bool has_no_data = abi::normalize(known.value | 0xffffU) == known.value;
  const bool alone = items.size() == 2 || has_no_data;
  Items kept;
  bool is_newer = true;
  for (const Item& item : items) {
    if (item == known)
      is_newer = false;
    else if (!can_win(item, known, is_newer, alone))
      continue;
    kept.push_back(item);
  }
  if (kept.size() > 1 && known.value == abi::kAllow) std::erase(kept, known);
  items = std::move(kept);
}

LeafId Leaves::file(Items items) {
  const auto [entry, is_new] = index_.try_emplace(items, static_cast<LeafId>(leaves_.size()));
  if (is_new) leaves_.push_back(std::move(items));
  return entry->second;
}

abi::Verdict Leaves::evaluate(LeafId leaf, const abi::SeccompData& data) const {
  abi::Verdict verdict = abi::kAllow;
  for (const Item& item : leaves_[leaf]) {
    const abi::Verdict older = item.is_code ? abi::normalize(graph_.run(item.value, data)) : item.value;
    verdict = abi::stack(verdict, older);
  }
  return verdict;
}

std::optional<std::vector<abi::Verdict>> Leaves::verdicts(LeafId leaf) const {
  std::vector<abi::Verdict> sum{abi::kAllow};
  for (const Item& item : leaves_[leaf]) {
    const Summary constant{{item.value}, false};
    const Summary& older = item.is_code ? summary(item.value) : constant;
    if (older.computed) return std::nullopt;
    std::vector<abi::Verdict> next;
    for (const abi::Verdict newer : sum)
      for (const abi::Verdict mine : older.verdicts) next.push_back(abi::stack(newer, mine));
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    sum = std::move(next);
  }
  return sum;
}

std::uint16_t Leaves::words(LeafId leaf) const {
  std::uint32_t words = 0;
  for (const Item& item : leaves_[leaf]) {
    if (!item.is_code) continue;
    for (const OpId id : graph_.below(item.value))
      if (graph_[id].code == (BPF_LD | BPF_W | BPF_ABS)) words |= 1U << graph_[id].k / 4;
  }
  return static_cast<std::uint16_t>(words);
}

}  // namespace seccompress::opaque
