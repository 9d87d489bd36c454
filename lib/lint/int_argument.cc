// SPDX-License-Identifier: Apache-2.0
// Input: a policy. Output: warnings about conditions that a caller evades by setting bits which the kernel ignores.
// Entry: int_argument.
//
// A filter sees 64 bits of every argument, the kernel makes an int of many of them. A rule that is looser than the
// default is evaded by a condition that large values meet (NE, GT, GE); one that is stricter by a condition that
// large values fail (EQ, LT, LE, MASKED_EQ with high mask bits).
#include <string>
#include <vector>

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

struct Finding {
  std::string name;
  unsigned argument;
  Location where;  // of the first one
  std::size_t more = 0;
};

// One finding an argument: a list of values would say the same thousands of times.
void note(std::vector<Finding>& findings, const std::string& name, const Condition& condition) {
  for (Finding& known : findings)
    if (known.argument == condition.index && known.name == name) {
      ++known.more;
      return;
    }
  findings.push_back({name, condition.index, condition.where});
}

std::string text(const Finding& finding) {
  std::string what = "the kernel takes argument " + std::to_string(finding.argument) + " of " + finding.name +
                     " as 32 bits, this compares 64: a value with a high bit set evades the rule";
  if (finding.more > 0) what += " (and " + std::to_string(finding.more) + " more like it)";
  return what;
}

}  // namespace

void int_argument(const policy::Policy& policy, Diagnostics& diagnostics) {
  std::vector<Finding> findings;
  for (const policy::Rule& rule : policy.rules) {
    if (rule.verdict == policy.default_verdict) continue;
    const bool looser = abi::strictness(rule.verdict) > abi::strictness(policy.default_verdict);
    for (const std::string& name : rule.names)
      for (const Condition& condition : rule.all_of)
        if (abi::is_int_argument(name, condition.index) && is_evaded(condition, looser))
          note(findings, name, condition);
  }
  for (const Finding& finding : findings)
    diagnostics.warning("lint-int-argument", finding.where, text(finding),
                        "add a MASKED_EQ rule on 0xffffffff, or compare what must not pass on its low word");
}

}  // namespace seccompress::lint
