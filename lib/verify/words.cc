// SPDX-License-Identifier: Apache-2.0
// Verdicts that a program computes (RET A): one by one, or, where there are too many, as 32 functions (symbolic.h,
// Mode::words). Equal functions are equal normalized words.
#include <utility>

#include "verify/symbolic.h"

namespace seccompress::verify {
namespace {

constexpr std::size_t kMaxVerdicts = 1024;  // of one run

}  // namespace

Executor::Bits Executor::word_of(abi::Verdict verdict, Edge region) {
  Bits word;
  for (unsigned i = 0; i < 32; ++i) word[i] = (verdict >> i & 1U) != 0 ? region : kFalse;
  return word;
}

Executor::Bits Executor::run_to_word(const Subject& subject, std::uint32_t pc, Held held, Edge region) {
  explore(subject, pc, held, region);
  const std::vector<Word> computed = std::move(computed_);
  Bits word;
  word.fill(kFalse);
  for (const Region& constant : collect())
    for (unsigned i = 0; i < 32; ++i)
      if ((constant.verdict >> i & 1U) != 0) word[i] = bdd_.disjunction(word[i], constant.where);
  for (const Word& one : computed) {
    const Bits bits = normalize(one.bits);
    for (unsigned i = 0; i < 32; ++i) word[i] = bdd_.disjunction(word[i], bdd_.conjunction(one.when, bits[i]));
  }
  return word;
}

// abi::normalize on words; which actions have which data is asked of it.
Executor::Bits Executor::normalize(Bits word) {
  Edge no_data = kFalse, is_errno = kFalse;
  for (const abi::Verdict action : {abi::kKillProcess, abi::kKillThread, abi::kTrap, abi::kErrno, abi::kUserNotif,
                                    abi::kTrace, abi::kLog, abi::kAllow}) {
    Edge is_action = kTrue;
    for (unsigned i = 16; i < 32; ++i)
      is_action = bdd_.conjunction(is_action, (action >> i & 1U) != 0 ? word[i] : negate(word[i]));
    const abi::Verdict largest = abi::normalize(action | 0xffffU);
    if (largest == action) no_data = bdd_.disjunction(no_data, is_action);
    if (largest == (action | 0xfffU)) is_errno = is_action;
  }
  Edge capped = kFalse;
  for (unsigned i = 12; i < 16; ++i) capped = bdd_.disjunction(capped, bdd_.conjunction(is_errno, word[i]));
  for (unsigned i = 0; i < 16; ++i) {
    word[i] = bdd_.conjunction(word[i], negate(no_data));
    word[i] = bdd_.choose(capped, i < 12 ? kTrue : kFalse, word[i]);
  }
  return word;
}

Executor::Bits Executor::stack_words(const Bits& newer, const Bits& older) {
  Edge older_wins = kFalse;  // by the highest bit of the action that differs; a set sign makes it smaller
  for (unsigned i = 16; i < 32; ++i)
    older_wins = bdd_.choose(bdd_.difference(newer[i], older[i]), i == 31 ? older[i] : newer[i], older_wins);
  Bits word;
  for (unsigned i = 0; i < 32; ++i) word[i] = bdd_.choose(older_wins, older[i], newer[i]);
  return word;
}

// Every verdict that the bits can form, data bits only where they matter.
void Executor::split_verdicts(const Bits& bits, int bit, abi::Verdict prefix, Edge region) {
  if (region == kFalse || trouble() != Trouble::none) return;
  if (results_.size() > kMaxVerdicts) {
    trouble_ = Trouble::verdicts;
    return;
  }
  budget_.spend(1 + results_.size() / 8);
  const bool data_matters = bit > 15 || abi::normalize(prefix) != abi::normalize(prefix | 0xffffU);
  if (bit < 0 || !data_matters) return finish(prefix, Condition(region));
  const Edge one = bits[static_cast<unsigned>(bit)];
  split_verdicts(bits, bit - 1, prefix | 1U << bit, bdd_.conjunction(region, one));
  split_verdicts(bits, bit - 1, prefix, bdd_.conjunction(region, negate(one)));
}

}  // namespace seccompress::verify
