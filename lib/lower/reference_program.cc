// SPDX-License-Identifier: Apache-2.0
// Input: a policy that lower() accepted. Output: the most obvious program that means the same, any length.
// Entry point: reference_program. Never installed: it is what verify takes as a policy's meaning, so it is
// written without a look at lower.cc and tests hold it to policy/evaluate.
//
// Shape:
//     ld [arch]
//     for each AUDIT word:      jeq #word, body, next
//       ld [nr]; the ENOSYS stub; the x32 split
//       for each number:        jeq #nr, block, next
//         for each rule, strictest first:   its conditions, each jumping to the next rule when it fails; ret
//         ret default
//       ret default
//     ret bad-arch
// Jumps over blocks use JA's 32-bit offset when they do not fit 8 bits.
#include <algorithm>
#include <optional>
#include <span>

#include "abi/multiplex.h"
#include "abi/syscalls.h"
#include "lower/lower.h"
#include "policy/precedence.h"
#include "support/check.h"

namespace seccompress::lower {
namespace {

using policy::Condition;
using policy::Operator;
using policy::Policy;
using policy::Rule;
using program::Code;
using program::Instruction;

constexpr abi::Verdict kEnosys = abi::kErrno | 38;

Instruction load(abi::Word word) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, 4U * word}; }
Instruction give(abi::Verdict verdict) { return {BPF_RET | BPF_K, 0, 0, verdict}; }
Instruction masked(std::uint32_t mask) { return {BPF_ALU | BPF_AND | BPF_K, 0, 0, mask}; }
Instruction jump_if(std::uint16_t compare, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return {static_cast<std::uint16_t>(BPF_JMP | BPF_K | compare), yes, no, value};
}
Instruction jump(std::size_t over) { return {BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(over)}; }

void append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

// `body` runs when A == value; everything else goes on behind it. The body ends every path with a ret.
void append_if_equal(Code& code, std::uint32_t value, const Code& body) {
  if (body.size() <= 255) {
    code.push_back(jump_if(BPF_JEQ, value, 0, static_cast<std::uint8_t>(body.size())));
  } else {
    code.push_back(jump_if(BPF_JEQ, value, 1, 0));
    code.push_back(jump(body.size()));
  }
  append(code, body);
}

// Jump targets inside one condition that are not known yet.
constexpr std::uint8_t kHolds = 254, kFails = 255;

struct Halves {
  std::uint32_t high, low;
};
Halves halves(std::uint64_t value) {
  return {static_cast<std::uint32_t>(value >> 32), static_cast<std::uint32_t>(value)};
}

Code low_word_code(const Condition& condition) {
  const std::uint32_t value = halves(condition.value).low;
  const Instruction low = load(abi::arg_low(condition.index));
  switch (condition.op) {
    case Operator::eq: return {low, jump_if(BPF_JEQ, value, kHolds, kFails)};
    case Operator::ne: return {low, jump_if(BPF_JEQ, value, kFails, kHolds)};
    case Operator::gt: return {low, jump_if(BPF_JGT, value, kHolds, kFails)};
    case Operator::ge: return {low, jump_if(BPF_JGE, value, kHolds, kFails)};
    case Operator::lt: return {low, jump_if(BPF_JGE, value, kFails, kHolds)};
    case Operator::le: return {low, jump_if(BPF_JGT, value, kFails, kHolds)};
    case Operator::masked_eq:
      return {low, masked(value), jump_if(BPF_JEQ, halves(condition.value_two).low & value, kHolds, kFails)};
  }
  return {};
}

// The instructions of one condition with symbolic targets; falling off the end means that it holds.
Code condition_code(const Condition& condition) {
  if (condition.low_word) return low_word_code(condition);
  const Halves v = halves(condition.value);
  const Instruction high = load(abi::arg_high(condition.index));
  const Instruction low = load(abi::arg_low(condition.index));
  switch (condition.op) {
    case Operator::eq: return {high, jump_if(BPF_JEQ, v.high, 0, kFails), low, jump_if(BPF_JEQ, v.low, kHolds, kFails)};
    case Operator::ne: return {high, jump_if(BPF_JEQ, v.high, 0, kHolds), low, jump_if(BPF_JEQ, v.low, kFails, kHolds)};
    case Operator::gt:
      return {high, jump_if(BPF_JGT, v.high, kHolds, 0), jump_if(BPF_JEQ, v.high, 0, kFails), low,
              jump_if(BPF_JGT, v.low, kHolds, kFails)};
    case Operator::ge:
      return {high, jump_if(BPF_JGT, v.high, kHolds, 0), jump_if(BPF_JEQ, v.high, 0, kFails), low,
              jump_if(BPF_JGE, v.low, kHolds, kFails)};
    case Operator::lt:
      return {high, jump_if(BPF_JGT, v.high, kFails, 0), jump_if(BPF_JEQ, v.high, 0, kHolds), low,
              jump_if(BPF_JGE, v.low, kFails, kHolds)};
    case Operator::le:
      return {high, jump_if(BPF_JGT, v.high, kFails, 0), jump_if(BPF_JEQ, v.high, 0, kHolds), low,
              jump_if(BPF_JGT, v.low, kFails, kHolds)};
    case Operator::masked_eq: {
      const Halves datum = halves(condition.value_two & condition.value);
      return {high, masked(v.high), jump_if(BPF_JEQ, datum.high, 0, kFails),
              low,  masked(v.low),  jump_if(BPF_JEQ, datum.low, kHolds, kFails)};
    }
  }
  return {};
}

// Replaces symbolic targets: kHolds is the end of the condition, kFails the end of the rule, which is
// `behind` instructions further.
void resolve_targets(Code& code, std::size_t behind) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (BPF_CLASS(code[at].code) != BPF_JMP) continue;
    const std::size_t holds = code.size() - at - 1;
    CHECK(holds + behind < kHolds);
    for (std::uint8_t* target : {&code[at].jt, &code[at].jf}) {
      if (*target == kHolds)
        *target = static_cast<std::uint8_t>(holds);
      else if (*target == kFails)
        *target = static_cast<std::uint8_t>(holds + behind);
    }
  }
}

// All conditions hold: ret verdict. Else: on behind it. At most 6 conditions of 6 instructions.
Code rule_code(const std::vector<Condition>& conditions, abi::Verdict verdict) {
  Code code{give(verdict)};
  for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition) {
    Code one = condition_code(*condition);
    resolve_targets(one, code.size());
    append(one, code);
    code = std::move(one);
  }
  return code;
}

struct Candidate {
  std::uint32_t number;
  const Rule* rule;
  std::optional<std::uint32_t> multiplexed;  // argument 0 then is this call's number, whatever the rule says of it
};
using Candidates = std::vector<Candidate>;  // by number, then in rule order

// The numbers that names stand for. A name is looked up once, not once for each architecture.
class Names {
 public:
  explicit Names(const Policy& policy) {
    for (const Rule& rule : policy.rules)
      if (rule.verdict != policy.default_verdict)
        for (const std::string& name : rule.names) named_.push_back({&rule, &name, abi::syscall_numbers(name)});
  }

  void append(Candidates& candidates, abi::Arch arch) const {
    const bool multiplexes = abi::has_multiplexed_calls(arch);
    for (const Named& one : named_) {
      if (const auto number = one.numbers.on(arch)) candidates.push_back({*number, one.rule, std::nullopt});
      if (!multiplexes) continue;
      if (const auto through = abi::multiplexed_call(arch, *one.name))
        candidates.push_back({through->number, one.rule, through->call});
    }
  }

 private:
  struct Named {
    const Rule* rule;
    const std::string* name;
    abi::SyscallNumbers numbers;
  };
  std::vector<Named> named_;
};

// What rules say of numbers themselves.
Candidates numbered_candidates(const Policy& policy) {
  Candidates candidates;
  for (const Rule& rule : policy.rules) {
    if (rule.verdict == policy.default_verdict) continue;
    CHECK(rule.all_of.size() <= 6);
    for (const std::uint32_t number : rule.numbers) candidates.push_back({number, &rule, std::nullopt});
  }
  return candidates;
}

// Rules are members of one vector: their addresses are their order.
Candidates candidates_of(const Policy& policy, const Names& names, abi::Arch arch) {
  Candidates candidates = numbered_candidates(policy);
  names.append(candidates, arch);
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.number != b.number ? a.number < b.number : a.rule < b.rule;
  });
  return candidates;
}

Code candidate_code(const Candidate& candidate, bool low_words) {
  std::vector<Condition> conditions;
  if (candidate.multiplexed)
    conditions.push_back(
        {.index = 0, .op = Operator::eq, .value = *candidate.multiplexed, .value_two = 0, .where = {}});
  for (const Condition& condition : candidate.rule->all_of)
    if (!candidate.multiplexed || condition.index != 0) conditions.push_back(condition);
  for (Condition& condition : conditions) condition.low_word = condition.low_word || low_words;
  return rule_code(conditions, candidate.rule->verdict);
}

// The first rule that asks nothing of the arguments decides alone.
std::optional<abi::Verdict> plain_verdict(std::span<const Candidate> candidates) {
  for (const Candidate& candidate : candidates)
    if (!candidate.multiplexed && candidate.rule->all_of.empty()) return candidate.rule->verdict;
  return std::nullopt;
}

Code number_code(std::span<const Candidate> candidates, abi::Verdict otherwise, bool low_words) {
  if (const auto plain = plain_verdict(candidates)) return {give(*plain)};
  std::vector<const Rule*> rules;
  for (const Candidate& candidate : candidates) rules.push_back(candidate.rule);
  Code code;
  for (const std::size_t i : policy::order_of_precedence(rules)) append(code, candidate_code(candidates[i], low_words));
  code.push_back(give(otherwise));
  return code;
}

// A holds nr. Ends every path.
Code arch_code(const Policy& policy, const Names& names, abi::Arch arch) {
  Code code;
  const Candidates all = candidates_of(policy, names, arch);
  const bool low_words = abi::is_32_bit(abi::facts(arch).audit);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].number == all[begin].number) ++end;
    const std::span<const Candidate> of_number(all.data() + begin, end - begin);
    if (const auto plain = plain_verdict(of_number)) {  // most numbers: no vector for one instruction
      code.push_back(jump_if(BPF_JEQ, all[begin].number, 0, 1));
      code.push_back(give(*plain));
    } else {
      append_if_equal(code, all[begin].number, number_code(of_number, policy.default_verdict, low_words));
    }
  }
  code.push_back(give(policy.default_verdict));
  return code;
}

// The stub of one architecture; falls through, with nr in A, when it does not apply.
Code enosys_code(const Policy::EnosysAbove& limit) {
  Code code{jump_if(BPF_JGT, limit.last, 0, 1), give(kEnosys)};
  if (limit.arch == abi::Arch::x86_64) code.insert(code.begin(), jump_if(BPF_JSET, abi::kX32Bit, 2, 0));
  if (limit.arch == abi::Arch::x32) code.insert(code.begin(), jump_if(BPF_JSET, abi::kX32Bit, 0, 2));
  if (limit.arch == abi::Arch::s390 || limit.arch == abi::Arch::s390x)
    append(code, {jump_if(BPF_JEQ, 0, 0, 1), give(kEnosys)});
  return code;
}

bool lists(const Policy& policy, abi::Arch arch) {
  return std::count(policy.architectures.begin(), policy.architectures.end(), arch) > 0;
}

// Rules for -1 itself, a call that a tracer cancelled. No name has that number.
Code cancelled_code(const Policy& policy) {
  Candidates all = numbered_candidates(policy);
  std::erase_if(all, [](const Candidate& candidate) { return candidate.number != UINT32_MAX; });
  return number_code(all, policy.default_verdict, false);
}

// x86_64 and x32 share an AUDIT word; nr tells them apart. -1 is either's.
Code x86_64_code(const Policy& policy, const Names& names) {
  const Code refused{give(policy.bad_arch_verdict)};
  const Code low = lists(policy, abi::Arch::x86_64) ? arch_code(policy, names, abi::Arch::x86_64) : refused;
  const Code high = lists(policy, abi::Arch::x32) ? arch_code(policy, names, abi::Arch::x32) : refused;
  Code code;
  append_if_equal(code, UINT32_MAX, cancelled_code(policy));
  code.push_back(jump_if(BPF_JGE, abi::kX32Bit, 0, 1));
  code.push_back(jump(low.size()));
  append(code, low);
  append(code, high);
  return code;
}

Code audit_code(const Policy& policy, const Names& names, std::uint32_t audit) {
  Code code{load(abi::kNr)};
  for (const Policy::EnosysAbove& limit : policy.enosys_above)
    if (abi::facts(limit.arch).audit == audit) append(code, enosys_code(limit));
  if (audit == abi::facts(abi::Arch::x86_64).audit) {
    append(code, x86_64_code(policy, names));
    return code;
  }
  for (const abi::Arch arch : policy.architectures)
    if (abi::facts(arch).audit == audit) append(code, arch_code(policy, names, arch));
  return code;
}

}  // namespace

program::Code reference_program(const Policy& policy) {
  const Names names(policy);
  Code code{load(abi::kArch)};
  std::vector<std::uint32_t> done;
  for (const abi::Arch arch : policy.architectures) {
    const std::uint32_t audit = abi::facts(arch).audit;
    if (std::count(done.begin(), done.end(), audit) > 0) continue;
    done.push_back(audit);
    append_if_equal(code, audit, audit_code(policy, names, audit));
  }
  code.push_back(give(policy.bad_arch_verdict));
  return code;
}

}  // namespace seccompress::lower
