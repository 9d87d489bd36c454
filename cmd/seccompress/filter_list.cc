// SPDX-License-Identifier: Apache-2.0
#include "filter_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "abi/call.h"
#include "abi/syscalls.h"
#include "output.h"
#include "policy/print.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

const policy::Policy* policy_of(const CompiledLayer& layer, std::size_t filter) {
  if (layer.policy) return &*layer.policy;
  return filter < layer.filter_policies.size() ? &layer.filter_policies[filter] : nullptr;
}

// "rule for mount and 3 others, when a0 == 1 and a1 != 2"
std::string rule_text(const policy::Rule& rule, const std::string& name) {
  const bool listed = std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
  std::string text = "rule for " + (listed || rule.names.empty() ? name : rule.names.front());
  if (rule.names.size() > 1) text += " and " + counted(rule.names.size() - 1, "other call");
  for (std::size_t i = 0; i < rule.all_of.size(); ++i)
    text += (i == 0 ? ", when " : " and ") + policy::to_string(rule.all_of[i]);
  return text;
}

// "profile.json:12:5: "; short: "line 12: "
std::string place(const Location& where, bool in_full) {
  if (where.line == 0) return where.file.empty() || !in_full ? "" : where.file + ": ";
  return in_full ? fmt::format("{}:{}:{}: ", where.file, where.line, where.column)
                 : fmt::format("line {}: ", where.line);
}

std::string default_text(const policy::Decision& decision, const std::string& name) {
  if (decision.naming == 0) return "no rule that counts here names " + name + ", so the default holds";
  if (decision.naming == 1) return "the rule for " + name + " is about other arguments, so the default holds";
  return fmt::format("the {} rules for {} are about other arguments, so the default holds", decision.naming, name);
}

// Where the policy says it; the file where it says so nowhere in particular.
std::string place_or_file(const Location& where, const policy::Policy& policy, bool in_full) {
  if (where.line > 0) return place(where, in_full);
  return policy.source.empty() || !in_full ? "" : policy.source + ": ";
}

std::string_view ground_name(policy::Ground ground) {
  switch (ground) {
    case policy::Ground::rule: return "rule";
    case policy::Ground::default_verdict: return "default";
    case policy::Ground::bad_arch: return "architecture not listed";
    case policy::Ground::enosys: return "unknown to the runtime";
  }
  return "";
}

}  // namespace

std::vector<explain::Filter> filters_of(const Stack& stack) {
  std::vector<explain::Filter> filters;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const CompiledLayer& layer = stack.layers[i];
    for (std::size_t k = 0; k < layer.filters.size(); ++k)
      filters.push_back({i, layer.filter_names[k], layer.filters[k], policy_of(layer, k), layer.filter_nodes[k]});
  }
  return filters;
}

std::string filter_label(const Stack& stack, const explain::Filter& filter) {
  const CompiledLayer& layer = stack.layers[filter.layer];
  return layer.filters.size() == 1 ? layer.name : layer.name + ", " + filter.name;
}

std::string reason(const explain::Opinion& opinion, const explain::Filter& filter, const abi::SeccompData& call,
                   bool in_full) {
  if (!opinion.decision) return fmt::format("instruction {} of {}", opinion.instruction, filter.code.size());
  const policy::Decision& decision = *opinion.decision;
  const std::string name = abi::syscall_label(call.arch, static_cast<std::uint32_t>(call.nr));
  const policy::Policy& policy = *filter.policy;
  switch (decision.ground) {
    case policy::Ground::rule: return place(decision.rule->where, in_full) + rule_text(*decision.rule, name);
    case policy::Ground::default_verdict:
      if (decision.rule != nullptr)
        return place(decision.rule->where, in_full) + rule_text(*decision.rule, name) +
               ", which says what the default says";
      return place_or_file(policy.default_where, policy, in_full) + default_text(decision, name);
    case policy::Ground::bad_arch:
      return place_or_file(policy.architectures_where, policy, in_full) + abi::audit_name(call.arch) +
             " is not among the architectures";
    case policy::Ground::enosys:
      return place_or_file({}, policy, in_full) + "the runtime's answer to numbers that it does not know";
  }
  return "";
}

Json reason_json(const explain::Opinion& opinion, const abi::SeccompData& call) {
  if (!opinion.decision) return {{"instruction", opinion.instruction}};
  const policy::Decision& decision = *opinion.decision;
  Json json{{"ground", std::string(ground_name(decision.ground))}};
  if (decision.rule == nullptr) return json;
  const Location& where = decision.rule->where;
  const std::string name = abi::syscall_label(call.arch, static_cast<std::uint32_t>(call.nr));
  json["rule"] = {{"text", rule_text(*decision.rule, name)},
                  {"file", where.file},
                  {"line", where.line},
                  {"column", where.column},
                  {"pointer", where.pointer}};
  return json;
}

std::string consequence(abi::Verdict verdict) {
  const auto action = abi::action_of(verdict);
  if (!action) return "the process is killed";
  switch (*action) {
    case abi::Action::allow: return "the call runs";
    case abi::Action::log: return "the call runs and is logged";
    case abi::Action::errno_: break;
    case abi::Action::trap: return "the process gets SIGSYS and the call does not run";
    case abi::Action::trace: return "a tracer decides; without one the call fails with ENOSYS";
    case abi::Action::user_notif: return "the listener decides; without one the call fails with ENOSYS";
    case abi::Action::kill_thread: return "the thread is killed";
    case abi::Action::kill_process: return "the process is killed";
  }
  const int number = std::min<int>(abi::data(verdict), 4095);
  const std::string_view name = abi::errno_name(number);
  if (number == 0) return "the call does not run and returns 0, as if it had succeeded";
  return "the call fails with " + (name.empty() ? "errno " + std::to_string(number) : std::string(name));
}

Json to_json(const abi::SeccompData& call) {
  return {{"text", abi::call_text(call)},
          {"arch", call.arch},
          {"nr", static_cast<std::uint32_t>(call.nr)},
          {"args", call.args},
          {"instruction_pointer", call.instruction_pointer}};
}

}  // namespace seccompress::cmd
