// SPDX-License-Identifier: Apache-2.0
#include "policy/print.h"

#include <fmt/core.h>

#include <iterator>

namespace seccompress::policy {
namespace {

std::string_view symbol(Operator op) {
  switch (op) {
    case Operator::ne: return "!=";
    case Operator::lt: return "<";
    case Operator::le: return "<=";
    case Operator::eq: return "==";
    case Operator::ge: return ">=";
    case Operator::gt: return ">";
    case Operator::masked_eq: return "&";
  }
  return "?";
}

std::string printable(const std::string& name) {
  std::string text;
  for (const char c : name) text += c > ' ' && c < 0x7f ? c : '?';
  return text;
}

void append_rule(std::string& text, const Rule& rule) {
  text += "rule";
  for (const std::string& name : rule.names) text += ' ' + printable(name);
  for (const std::uint32_t number : rule.numbers) text += fmt::format(" {:#x}", number);
  const char* separator = rule.or_turned ? " when (or) " : " when ";
  for (const Condition& condition : rule.all_of) {
    text += separator + to_string(condition);
    separator = " and ";
  }
  text += ": " + abi::to_string(rule.verdict) + '\n';
}

}  // namespace

std::string_view operator_name(Operator op) {
  switch (op) {
    case Operator::ne: return "ne";
    case Operator::lt: return "lt";
    case Operator::le: return "le";
    case Operator::eq: return "eq";
    case Operator::ge: return "ge";
    case Operator::gt: return "gt";
    case Operator::masked_eq: return "masked-eq";
  }
  return "?";
}

std::string to_string(const Condition& condition) {
  const char* word = condition.low_word ? ".lo" : "";
  if (condition.op == Operator::masked_eq)
    return fmt::format("a{}{} & {:#x} == {:#x}", condition.index, word, condition.value, condition.value_two);
  return fmt::format("a{}{} {} {:#x}", condition.index, word, symbol(condition.op), condition.value);
}

std::string to_string(const Policy& policy) {
  std::string text = "default: " + abi::to_string(policy.default_verdict) + '\n';
  text += "bad-arch: " + abi::to_string(policy.bad_arch_verdict) + '\n';
  text += "architectures:";
  for (const abi::Arch arch : policy.architectures) text += ' ' + std::string(abi::arch_name(arch));
  text += '\n';
  if (policy.flags_present) {
    text += "flags:";
    for (const std::string& flag : policy.flags) text += ' ' + printable(flag);
    text += '\n';
  }
  if (!policy.listener_path.empty()) text += "listener: " + printable(policy.listener_path) + '\n';
  for (const Policy::EnosysAbove& limit : policy.enosys_above)
    text += fmt::format("enosys-above: {} {}\n", abi::arch_name(limit.arch), limit.last);
  for (const Rule& rule : policy.rules) append_rule(text, rule);
  return text;
}

}  // namespace seccompress::policy
