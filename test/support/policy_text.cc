// SPDX-License-Identifier: Apache-2.0
#include "support/policy_text.h"

#include <array>
#include <charconv>
#include <sstream>
#include <vector>

namespace seccompress::test {
namespace {

using policy::Condition;
using policy::Operator;

struct Symbol {
  std::string_view text;
  Operator op;
};
constexpr std::array kSymbols = {Symbol{"==", Operator::eq}, Symbol{"!=", Operator::ne}, Symbol{"<=", Operator::le},
                                 Symbol{">=", Operator::ge}, Symbol{"<", Operator::lt},  Symbol{">", Operator::gt}};

std::optional<Condition> parse_condition(std::string_view text) {
  if (text.size() < 4 || text[0] != 'a' || text[1] < '0' || text[1] > '5') return std::nullopt;
  Condition condition;
  condition.index = static_cast<std::uint8_t>(text[1] - '0');
  text.remove_prefix(2);
  if (text[0] == '&') {
    const auto equals = text.find("==");
    if (equals == std::string_view::npos) return std::nullopt;
    const auto mask = parse_number(text.substr(1, equals - 1)), datum = parse_number(text.substr(equals + 2));
    if (!mask || !datum) return std::nullopt;
    condition.op = Operator::masked_eq;
    condition.value = *mask;
    condition.value_two = *datum;
    return condition;
  }
  for (const Symbol& symbol : kSymbols) {
    if (!text.starts_with(symbol.text)) continue;
    const auto value = parse_number(text.substr(symbol.text.size()));
    if (!value) return std::nullopt;
    condition.op = symbol.op;
    condition.value = *value;
    return condition;
  }
  return std::nullopt;
}

bool parse_part(const std::vector<std::string>& words, policy::Policy& policy) {
  if (words.size() == 2 && words[0] == "default") {
    const auto verdict = parse_verdict(words[1]);
    policy.default_verdict = verdict.value_or(0);
    return verdict.has_value();
  }
  if (words[0] == "arch") {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto arch = abi::arch_from_name(words[i]);
      if (!arch) return false;
      policy.architectures.push_back(*arch);
    }
    return true;
  }
  const auto verdict = parse_verdict(words[0]);
  if (!verdict || words.size() < 2) return false;
  policy::Rule rule;
  rule.verdict = *verdict;
  rule.names = {words[1]};
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "&&") continue;
    const auto condition = parse_condition(words[i]);
    if (!condition) return false;
    rule.all_of.push_back(*condition);
  }
  policy.rules.push_back(std::move(rule));
  return true;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text == "~0") return UINT64_MAX;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<abi::Verdict> parse_verdict(std::string_view text) {
  const auto open = text.find('(');
  const std::string name(text.substr(0, open));
  const auto action = abi::action_from_oci("SCMP_ACT_" + (name == "USER_NOTIF" ? "NOTIFY" : name));
  if (!action) return std::nullopt;
  if (open == std::string_view::npos) return abi::word_of(*action);
  if (text.back() != ')') return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (const auto number = parse_number(inside)) return abi::word_of(*action) | static_cast<std::uint16_t>(*number);
  const auto symbol = abi::errno_from_name(inside);
  if (!symbol) return std::nullopt;
  return abi::word_of(*action) | static_cast<std::uint16_t>(*symbol);
}

Result<policy::Policy> parse_policy(std::string_view text) {
  policy::Policy policy;
  policy.source = text;
  policy.architectures = {abi::Arch::x86_64};
  policy.default_verdict = abi::kAllow;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ';');) {
    std::istringstream split(part);
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    if (!words.empty() && !parse_part(words, policy)) return failure(Errc::malformed, "not a rule: " + part);
  }
  return policy;
}

}  // namespace seccompress::test
