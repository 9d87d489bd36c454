// SPDX-License-Identifier: Apache-2.0
// Input: the flat program and the layers it stands for. Output: messages. Entry point: unmet_messages.
#include "needs.h"

#include <algorithm>

#include "abi/syscalls.h"
#include "policy/evaluate.h"

namespace seccompress::hooks {
namespace {

bool applies(const policy::Rule& rule, std::string_view call, const abi::SeccompData& data) {
  if (std::find(rule.names.begin(), rule.names.end(), call) == rule.names.end()) return false;
  return std::all_of(rule.all_of.begin(), rule.all_of.end(), [&](const policy::Condition& condition) {
    return policy::holds(condition, data.args[condition.index]);
  });
}

std::string rule_text(const policy::Policy& policy, const abi::SeccompData& data, abi::Verdict verdict) {
  const std::string_view call = abi::syscall_name(data.arch, static_cast<std::uint32_t>(data.nr));
  for (const policy::Rule& rule : policy.rules)
    if (abi::normalize(rule.verdict) == abi::normalize(verdict) && applies(rule, call, data))
      return "the rule at line " + std::to_string(rule.where.line) + " (" + rule.where.pointer + ")";
  return "its default action";
}

struct Decider {
  std::size_t layer = 0, filter = 0;
  abi::Verdict verdict = abi::kAllow;
};

// The kernel's order: newest first, a later result replaces the current one only when it is stricter.
Decider decider(const abi::SeccompData& call, const std::vector<CompiledLayer>& layers) {
  Decider winner;
  for (std::size_t l = layers.size(); l-- > 0;)
    for (std::size_t f = layers[l].filters.size(); f-- > 0;) {
      const abi::Verdict verdict = program::interpret(layers[l].filters[f], call);
      if (abi::strictness(verdict) < abi::strictness(winner.verdict)) winner = {.layer = l, .filter = f, .verdict = verdict};
    }
  return winner;
}

struct Refusal {
  std::string who, verdict;
  std::vector<std::string> calls;
};

std::string sentence(const Refusal& refusal, abi::Runtime runtime, bool privileges_would_do) {
  std::string calls;
  for (const std::string& call : refusal.calls) calls += (calls.empty() ? "" : ", ") + call;
  std::string text = "the container could not start: " + std::string(abi::to_string(runtime)) + " still needs " + calls +
                     " after its filter is in force, and " + refusal.who + " answers " + refusal.verdict + "; ";
  if (privileges_would_do) text += "start it with `noNewPrivileges: true`, or ";
  return text + "use that layer without the group that has " + refusal.calls.front();
}

}  // namespace

std::string who_decides(const abi::SeccompData& call, const std::vector<CompiledLayer>& layers) {
  const Decider winner = decider(call, layers);
  if (winner.layer >= layers.size()) return "no layer";
  const CompiledLayer& layer = layers[winner.layer];
  if (layer.policy) return "layer " + layer.name + ", " + rule_text(*layer.policy, call, winner.verdict) + ",";
  std::string text = "layer " + layer.name + ", filter " + layer.filter_names[winner.filter] + ",";
  if (!layer.filter_policies.empty())
    text += " " + rule_text(layer.filter_policies[winner.filter], call, winner.verdict) + ",";
  return text;
}

std::vector<std::string> unmet_messages(abi::Runtime runtime, bool no_new_privs, InForce in_force,
                                        program::CodeView code, const std::vector<CompiledLayer>& layers) {
  const auto verdict_of = [&](const abi::SeccompData& call) { return program::interpret(code, call); };
  std::vector<Refusal> refusals;
  for (const abi::RuntimeNeed& need : abi::unmet_needs(runtime, no_new_privs, verdict_of)) {
    if (in_force == InForce::from_exec && need.call != "execve") continue;
    const abi::SeccompData call = abi::call_of(need);
    const std::string who = who_decides(call, layers), verdict = abi::to_string(verdict_of(call));
    const auto same = std::find_if(refusals.begin(), refusals.end(),
                                   [&](const Refusal& r) { return r.who == who && r.verdict == verdict; });
    if (same != refusals.end()) same->calls.emplace_back(need.call);
    else refusals.push_back({.who = who, .verdict = verdict, .calls = {std::string(need.call)}});
  }
  const bool privileges_would_do = !no_new_privs && abi::unmet_needs(runtime, true, verdict_of).empty();
  std::vector<std::string> messages;
  for (const Refusal& refusal : refusals) messages.push_back(sentence(refusal, runtime, privileges_would_do));
  return messages;
}

}  // namespace seccompress::hooks
