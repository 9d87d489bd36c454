// SPDX-License-Identifier: Apache-2.0
// Input: the filters of a stack and one call. Output: every filter's opinion and the one that counts. Entry: explain.
// Method: a policy answers by its rules, a raw filter by running it; the kernel's loop over them is repeated.
#include "explain/explain.h"

namespace seccompress::explain {

Opinion opinion_of(const Filter& filter, const abi::SeccompData& data) {
  if (filter.policy != nullptr) {
    const policy::Decision decision = policy::decide(*filter.policy, data);
    return {decision.verdict, decision, 0};
  }
  const program::Run run = program::run(filter.code, data);
  return {run.verdict, std::nullopt, run.last};
}

Explanation explain(std::span<const Filter> oldest_first, const abi::SeccompData& data) {
  Explanation result;
  for (const Filter& filter : oldest_first) result.opinions.push_back(opinion_of(filter, data));
  for (std::size_t i = result.opinions.size(); i-- > 0;) {
    const abi::Verdict verdict = result.opinions[i].verdict;
    if (abi::strictness(verdict) >= abi::strictness(result.verdict)) continue;
    result.verdict = verdict;
    result.winner = i;
  }
  return result;
}

}  // namespace seccompress::explain
