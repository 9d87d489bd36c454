// SPDX-License-Identifier: Apache-2.0
// Method: the narrower relation is a strict partial order; the order of precedence is the first of its linear
// extensions in the order of writing (a rule waits until no narrower one of its strictness is left).
#include "policy/precedence.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>

namespace seccompress::policy {
namespace {

struct Interval {
  std::uint64_t first, last;  // inclusive
};

// The values a condition matches when they are one interval of the 64-bit argument; nullopt when they are not,
// or none.
std::optional<Interval> interval_of(const Condition& condition) {
  if (condition.low_word) return std::nullopt;
  const std::uint64_t v = condition.value;
  switch (condition.op) {
    case Operator::lt: return v == 0 ? std::nullopt : std::optional(Interval{0, v - 1});
    case Operator::le: return Interval{0, v};
    case Operator::eq: return Interval{v, v};
    case Operator::ge: return Interval{v, UINT64_MAX};
    case Operator::gt: return v == UINT64_MAX ? std::nullopt : std::optional(Interval{v + 1, UINT64_MAX});
    case Operator::ne:
    case Operator::masked_eq: return std::nullopt;
  }
  return std::nullopt;
}

bool same(const Condition& a, const Condition& b) {
  return a.op == b.op && a.value == b.value && a.low_word == b.low_word &&
         (a.op != Operator::masked_eq || (a.value_two & a.value) == (b.value_two & b.value));
}

// Every value that `a` matches, `b` matches.
bool implies(const Condition& a, const Condition& b) {
  if (a.index != b.index) return false;
  if (same(a, b)) return true;
  if (a.low_word || b.low_word) return false;
  const auto inside = interval_of(a);
  if (b.op == Operator::ne) return inside && (b.value < inside->first || b.value > inside->last);
  if (b.op == Operator::masked_eq) {
    if (a.op == Operator::eq) return (a.value & b.value) == (b.value_two & b.value);
    return a.op == Operator::masked_eq && (a.value & b.value) == b.value &&
           (a.value_two & b.value) == (b.value_two & b.value);
  }
  const auto outside = interval_of(b);
  return inside && outside && outside->first <= inside->first && inside->last <= outside->last;
}

bool all_imply(const Rule& a, const Rule& b) {
  return std::ranges::all_of(b.all_of, [&](const Condition& wanted) {
    return std::ranges::any_of(a.all_of, [&](const Condition& given) { return implies(given, wanted); });
  });
}

bool must_wait(const Rule& rule, const Rule& other) {
  return abi::strictness(rule.verdict) == abi::strictness(other.verdict) && rule.verdict != other.verdict &&
         is_narrower(other, rule);
}

// How many rules each one waits for.
std::vector<std::size_t> waits(std::span<const Rule* const> rules) {
  std::vector<std::size_t> count(rules.size(), 0);
  for (std::size_t i = 0; i < rules.size(); ++i)
    for (std::size_t j = 0; j < rules.size(); ++j) count[i] += must_wait(*rules[i], *rules[j]) ? 1U : 0U;
  return count;
}

bool have_one_verdict(std::span<const Rule* const> rules) {
  return std::ranges::all_of(rules, [&](const Rule* rule) { return rule->verdict == rules[0]->verdict; });
}

}  // namespace

bool is_narrower(const Rule& a, const Rule& b) { return all_imply(a, b) && !all_imply(b, a); }

std::vector<std::size_t> order_of_precedence(std::span<const Rule* const> rules) {
  std::vector<std::size_t> order;
  if (rules.size() > kMaxCompared || have_one_verdict(rules)) {
    for (std::size_t i = 0; i < rules.size(); ++i) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return abi::strictness(rules[i]->verdict); });
    return order;
  }
  std::vector<std::size_t> waiting = waits(rules);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (waiting[i] > 0 && must_wait(*rules[i], *rules[next]) && --waiting[i] == 0) ready.push(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return abi::strictness(rules[i]->verdict); });
  return order;
}

}  // namespace seccompress::policy
