// SPDX-License-Identifier: Apache-2.0
// Input: a policy. Output: warnings about rules that do not do what they seem to. Entries: shadowed, never_true,
// or_turned, no_effect. Each looks at names, not numbers: the author wrote names.
#include "lint/rules.h"

#include <cstdint>
#include <map>
#include <string>

namespace seccompress::lint {
namespace {

using policy::Condition;
using policy::Operator;
using policy::Policy;
using policy::Rule;

std::string place(const Location& where) {
  if (where.line == 0) return "elsewhere";
  return "in line " + std::to_string(where.line);
}

// A rule that runtimes do not skip.
bool counts(const Policy& policy, const Rule& rule) { return rule.verdict != policy.default_verdict; }

std::string names_of(const Rule& rule) {
  if (rule.names.empty()) return "a number";
  if (rule.names.size() == 1) return rule.names[0];
  return rule.names[0] + " and " + std::to_string(rule.names.size() - 1) + " more";
}

bool is_never_true(const Condition& condition) {
  const std::uint64_t most = condition.low_word ? UINT32_MAX : UINT64_MAX;
  if (condition.op == Operator::lt) return condition.value == 0;
  if (condition.op == Operator::gt) return condition.value >= most;
  return false;
}

}  // namespace

// libseccomp src/db.c and every runtime on it: an unconditional rule replaces all others of its call; of several
// unconditional ones the first stays.
void shadowed(const Policy& policy, Diagnostics& diagnostics) {
  std::map<std::string, const Rule*> deciding;
  for (const Rule& rule : policy.rules)
    if (counts(policy, rule) && rule.all_of.empty())
      for (const std::string& name : rule.names) deciding.try_emplace(name, &rule);
  for (const Rule& rule : policy.rules)
    for (const std::string& name : rule.names) {
      const auto found = deciding.find(name);
      if (!counts(policy, rule) || found == deciding.end() || found->second == &rule) continue;
      if (found->second->verdict == rule.verdict) continue;
      diagnostics.warning("lint-shadowed", rule.where,
                          "this rule for " + name + " is never asked: the unconditional one " +
                              place(found->second->where) + " decides",
                          "remove one of the two, or give the other its conditions");
    }
}

void never_true(const Policy& policy, Diagnostics& diagnostics) {
  for (const Rule& rule : policy.rules)
    for (const Condition& condition : rule.all_of)
      if (is_never_true(condition))
        diagnostics.warning("lint-never-true", condition.where, "no argument meets this condition", "remove the rule");
}

void or_turned(const Policy& policy, Diagnostics& diagnostics) {
  const Location* last = nullptr;
  for (const Rule& rule : policy.rules) {
    if (!rule.or_turned) continue;
    const bool same_entry = last != nullptr && last->line == rule.where.line && last->pointer == rule.where.pointer;
    last = &rule.where;
    if (same_entry) continue;
    diagnostics.warning(
        "lint-or-turned", rule.where,
        "an argument occurs twice: runtimes match " + names_of(rule) + " when ANY of the conditions holds",
        "write each condition as an entry of its own, or use one condition per argument");
  }
}

void no_effect(const Policy& policy, Diagnostics& diagnostics) {
  for (const Rule& rule : policy.rules)
    if (!counts(policy, rule))
      diagnostics.warning("lint-no-effect", rule.where,
                          "the rule for " + names_of(rule) + " does what the default does, so runtimes skip it",
                          "remove it; it does not shield the call from other rules");
}

}  // namespace seccompress::lint
