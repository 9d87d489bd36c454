// SPDX-License-Identifier: Apache-2.0
// Input: a policy and one call. Output: its verdict. Entry points: evaluate, decide.
//
// Method: walk every rule, every name, every number it has; keep what is about the call; choose. No caching:
// this file is to be obviously right, tests hold everything faster to it.
//
// Known weakness, on purpose: libseccomp's direct rules for its pseudo numbers (nr = -105 for x86 accept), which
// no process can call, are not reproduced.
#include "policy/evaluate.h"

#include <algorithm>
#include <optional>

#include "abi/multiplex.h"
#include "abi/syscalls.h"
#include "policy/precedence.h"

namespace seccompress::policy {
namespace {

constexpr abi::Verdict kEnosys = abi::kErrno | 38;

bool is_x32(std::uint32_t nr) { return (nr & abi::kX32Bit) != 0; }

// runc libcontainer/seccomp/patchbpf/enosys_linux.go: x86_64's limit looks at numbers without bit 30, x32's
// at those with it; s390 reports unknown multiplexed calls as number 0.
bool is_above(const Policy::EnosysAbove& limit, std::uint32_t nr) {
  if (limit.arch == abi::Arch::x86_64 && is_x32(nr)) return false;
  if (limit.arch == abi::Arch::x32 && !is_x32(nr)) return false;
  if ((limit.arch == abi::Arch::s390 || limit.arch == abi::Arch::s390x) && nr == 0) return true;
  return nr > limit.last;
}

bool answers_enosys(const Policy& policy, std::uint32_t audit, std::uint32_t nr) {
  return std::any_of(policy.enosys_above.begin(), policy.enosys_above.end(), [&](const Policy::EnosysAbove& limit) {
    return abi::facts(limit.arch).audit == audit && is_above(limit, nr);
  });
}

// libseccomp src/gen_bpf.c: with x86_64 listed and x32 not, numbers from 0x40000000 go to the bad-arch
// action, except -1 (what a tracer writes to skip a call).
std::optional<abi::Arch> arch_of(const Policy& policy, std::uint32_t audit, std::uint32_t nr) {
  for (const abi::Arch arch : policy.architectures) {
    if (abi::facts(arch).audit != audit) continue;
    if (arch == abi::Arch::x86_64 && nr >= abi::kX32Bit && nr != UINT32_MAX) continue;
    if (arch == abi::Arch::x32 && nr < abi::kX32Bit) continue;
    return arch;
  }
  return std::nullopt;
}

bool all_hold(const std::vector<Condition>& conditions, const abi::SeccompData& data) {
  return std::all_of(conditions.begin(), conditions.end(), [&](Condition condition) {
    if (abi::is_32_bit(data.arch)) condition.low_word = true;
    return holds(condition, data.args[condition.index]);
  });
}

// libseccomp's rule_add for multiplexed calls: argument 0 becomes the call number, the others stay.
std::vector<Condition> multiplexed_conditions(const std::vector<Condition>& conditions, std::uint32_t call) {
  std::vector<Condition> all{{.index = 0, .op = Operator::eq, .value = call, .value_two = 0, .where = {}}};
  for (const Condition& condition : conditions)
    if (condition.index != 0) all.push_back(condition);
  return all;
}

// The rules that are about this call, and whether they match it.
class Choice {
 public:
  void offer(const Rule& rule, bool always, bool matches) {
    if (always && unconditional_ == nullptr) unconditional_ = &rule;
    if (rules_.empty() || rules_.back() != &rule) ++naming_;
    rules_.push_back(&rule);
    matches_.push_back(matches);
  }
  bool empty() const { return rules_.empty(); }
  Decision decision(abi::Verdict otherwise) const {
    if (const Rule* rule = decisive()) return {rule->verdict, Ground::rule, rule, naming_};
    return {otherwise, Ground::default_verdict, nullptr, naming_};
  }

 private:
  const Rule* decisive() const {
    if (unconditional_ != nullptr) return unconditional_;
    for (const std::size_t i : order_of_precedence(rules_))
      if (matches_[i]) return rules_[i];
    return nullptr;
  }

  const Rule* unconditional_ = nullptr;
  std::vector<const Rule*> rules_;
  std::vector<bool> matches_;
  std::size_t naming_ = 0;  // different rules
};

void offer_direct(const Rule& rule, const abi::SeccompData& data, Choice& choice) {
  choice.offer(rule, rule.all_of.empty(), all_hold(rule.all_of, data));
}

void offer_rule(const Rule& rule, abi::Arch arch, const abi::SeccompData& data, Choice& choice) {
  const auto nr = static_cast<std::uint32_t>(data.nr);
  for (const std::uint32_t number : rule.numbers)
    if (number == nr) offer_direct(rule, data, choice);
  for (const std::string& name : rule.names) {
    if (abi::syscall_number(arch, name) == nr) offer_direct(rule, data, choice);
    const auto multiplexed = abi::multiplexed_call(arch, name);
    if (multiplexed && multiplexed->number == nr)
      choice.offer(rule, false, all_hold(multiplexed_conditions(rule.all_of, multiplexed->call), data));
  }
}

}  // namespace

bool holds(const Condition& condition, std::uint64_t argument) {
  const std::uint64_t counts = condition.low_word ? UINT32_MAX : UINT64_MAX;
  argument &= counts;
  const std::uint64_t value = condition.value & counts;
  switch (condition.op) {
    case Operator::ne: return argument != value;
    case Operator::lt: return argument < value;
    case Operator::le: return argument <= value;
    case Operator::eq: return argument == value;
    case Operator::ge: return argument >= value;
    case Operator::gt: return argument > value;
    case Operator::masked_eq:
      // libseccomp masks the datum too (src/db.c), so bits of it outside the mask do not matter.
      return (argument & value) == (condition.value_two & value);
  }
  return false;
}

abi::Verdict evaluate(const Policy& policy, const abi::SeccompData& data) { return decide(policy, data).verdict; }

Decision decide(const Policy& policy, const abi::SeccompData& data) {
  const auto nr = static_cast<std::uint32_t>(data.nr);
  if (answers_enosys(policy, data.arch, nr)) return {kEnosys, Ground::enosys, nullptr, 0};
  const std::optional<abi::Arch> arch = arch_of(policy, data.arch, nr);
  if (!arch) return {policy.bad_arch_verdict, Ground::bad_arch, nullptr, 0};
  Choice choice;
  const Rule* same_as_default = nullptr;
  for (const Rule& rule : policy.rules) {
    if (rule.verdict != policy.default_verdict) {
      offer_rule(rule, *arch, data, choice);
      continue;
    }
    Choice about_it;
    offer_rule(rule, *arch, data, about_it);
    if (!about_it.empty()) same_as_default = &rule;
  }
  Decision decision = choice.decision(policy.default_verdict);
  if (decision.naming == 0) decision.rule = same_as_default;
  return decision;
}

std::vector<std::uint64_t> interesting_values(const Condition& condition) {
  constexpr std::uint64_t kHigh = std::uint64_t{1} << 32;
  std::vector<std::uint64_t> values;
  const auto around = [&](std::uint64_t value) {
    for (const std::uint64_t near : {value, value - 1, value + 1, value ^ kHigh, (value ^ kHigh) - 1,
                                     value & 0xffffffffU, value | 0xffffffff00000000U})
      values.push_back(near);
  };
  values.push_back(0);
  values.push_back(UINT64_MAX);
  if (condition.op == Operator::masked_eq) {
    const std::uint64_t wanted = condition.value_two & condition.value;
    around(wanted);
    for (const std::uint64_t other : {wanted | ~condition.value, condition.value, ~condition.value,
                                      wanted ^ (condition.value & (~condition.value + 1))})
      values.push_back(other);
  } else {
    around(condition.value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace seccompress::policy
