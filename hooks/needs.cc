// SPDX-License-Identifier: Apache-2.0
// Input: the flat program and the layers it stands for. Output: messages. Entry point: unmet_messages.
#include "needs.h"

#include <algorithm>

#include "explain/explain.h"

namespace seccompress::hooks {
namespace {

// What explain looks at, and whose filter it is.
std::vector<explain::Filter> filters_of(const std::vector<CompiledLayer>& layers) {
  std::vector<explain::Filter> filters;
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t f = 0; f < layers[l].filters.size(); ++f) {
      const policy::Policy* policy = layers[l].policy ? &*layers[l].policy : nullptr;
      if (!layers[l].filter_policies.empty()) policy = &layers[l].filter_policies[f];
      filters.push_back(
          {.layer = l, .name = layers[l].filter_names[f], .code = layers[l].filters[f], .policy = policy});
    }
  return filters;
}

std::string reason(const explain::Opinion& opinion) {
  if (!opinion.decision) return {};
  const policy::Rule* rule = opinion.decision->rule;
  if (rule == nullptr) return " its default action,";
  const std::string pointer = rule->where.pointer.empty() ? "" : " (" + rule->where.pointer + ")";  // JSON has one
  return " the rule at line " + std::to_string(rule->where.line) + pointer + ",";
}

struct Refusal {
  std::string who, verdict;
  std::vector<std::string> calls;
};

std::string sentence(const Refusal& refusal, abi::Runtime runtime, bool privileges_would_do) {
  std::string calls;
  for (const std::string& call : refusal.calls) calls += (calls.empty() ? "" : ", ") + call;
  std::string text = "the container could not start: " + std::string(abi::to_string(runtime)) + " still needs " +
                     calls + " after its filter is in force, and " + refusal.who + " answers " + refusal.verdict + "; ";
  if (privileges_would_do) text += "start it with `noNewPrivileges: true`, or ";
  return text + "use that layer without the group that has " + refusal.calls.front();
}

}  // namespace

std::string who_decides(const abi::SeccompData& call, const std::vector<CompiledLayer>& layers) {
  const std::vector<explain::Filter> filters = filters_of(layers);
  const explain::Explanation explanation = explain::explain(filters, call);
  if (!explanation.winner) return "no layer";
  const explain::Filter& filter = filters[*explanation.winner];
  const CompiledLayer& layer = layers[filter.layer];
  const std::string name = layer.policy ? std::string() : " filter " + filter.name + ",";
  return "layer " + layer.name + "," + name + reason(explanation.opinions[*explanation.winner]);
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
    if (same != refusals.end())
      same->calls.emplace_back(need.call);
    else
      refusals.push_back({.who = who, .verdict = verdict, .calls = {std::string(need.call)}});
  }
  const bool privileges_would_do = !no_new_privs && abi::unmet_needs(runtime, true, verdict_of).empty();
  std::vector<std::string> messages;
  for (const Refusal& refusal : refusals) messages.push_back(sentence(refusal, runtime, privileges_would_do));
  return messages;
}

}  // namespace seccompress::hooks
