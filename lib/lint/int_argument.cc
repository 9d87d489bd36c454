// SPDX-License-Identifier: Apache-2.0
// Input: a policy. Output: warnings about conditions that a caller evades by setting bits which the kernel ignores.
// Entry: int_argument.
//
// A filter sees 64 bits of every argument, the kernel makes an int of many of them. A rule that is looser than the
// default is evaded by a condition that large values meet (NE, GT, GE); one that is stricter by a condition that
// large values fail (EQ, LT, LE, MASKED_EQ with high mask bits).
#include <string>

#include "abi/int_arguments.h"
#include "lint/rules.h"

namespace seccompress::lint {
namespace {

using policy::Condition;
using policy::Operator;

bool met_by_large_values(const Condition& condition) {
  switch (condition.op) {
    case Operator::ne:
    case Operator::gt:
    case Operator::ge: return true;
    case Operator::lt:
    case Operator::le:
    case Operator::eq:
    case Operator::masked_eq: return false;
  }
  return false;
}

bool failed_by_large_values(const Condition& condition) {
  if (condition.op == Operator::masked_eq) return (condition.value >> 32U) != 0;
  return !met_by_large_values(condition);
}

bool is_evaded(const Condition& condition, bool looser_than_default) {
  if (condition.low_word) return false;
  return looser_than_default ? met_by_large_values(condition) : failed_by_large_values(condition);
}

}  // namespace

void int_argument(const policy::Policy& policy, Diagnostics& diagnostics) {
  for (const policy::Rule& rule : policy.rules) {
    if (rule.verdict == policy.default_verdict) continue;
    const bool looser = abi::strictness(rule.verdict) > abi::strictness(policy.default_verdict);
    for (const std::string& name : rule.names)
      for (const Condition& condition : rule.all_of)
        if (abi::is_int_argument(name, condition.index) && is_evaded(condition, looser))
          diagnostics.warning("lint-int-argument", condition.where,
                              "the kernel takes argument " + std::to_string(condition.index) + " of " + name +
                                  " as 32 bits, this compares 64: a value with a high bit set evades the rule",
                              "add a MASKED_EQ rule on 0xffffffff, or compare what must not pass on its low word");
  }
}

}  // namespace seccompress::lint
