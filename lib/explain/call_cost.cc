// SPDX-License-Identifier: Apache-2.0
// Input: a stack's programs and weights. Output: costs of calls. Entries: typical_calls, cost_of, mean_cost.
// Weakness: a call's weight is all on one choice of arguments.
#include "explain/call_cost.h"

#include <algorithm>

#include "abi/syscalls.h"
#include "explain/argument.h"

namespace seccompress::explain {
namespace {

constexpr std::uint32_t kNumbers = 512;

bool first_allows(abi::Verdict verdict, abi::Verdict /*same*/) { return verdict == abi::kAllow; }

abi::SeccompData typical_data(const diagram::Store& store, diagram::Node root, std::uint32_t audit, std::uint32_t nr) {
  const diagram::Node node = node_of_call(store, root, audit, nr);
  abi::SeccompData data = store.witness(node, node, first_allows).value_or(abi::SeccompData{});
  data.arch = audit;
  data.nr = static_cast<int>(nr);
  return data;
}

}  // namespace

std::vector<TypicalCall> typical_calls(const diagram::Store& store, diagram::Node root, const emit::Weights& weights,
                                       abi::Arch arch) {
  const std::uint32_t audit = abi::facts(arch).audit;
  const emit::NumberWeights numbers = weights.numbers(audit);
  std::vector<TypicalCall> calls;
  for (std::uint32_t nr = 0; nr < kNumbers; ++nr) {
    const std::string_view name = abi::syscall_name(audit, nr);
    if (!name.empty())
      calls.push_back({typical_data(store, root, audit, nr), std::string(name), numbers.of_range(nr, nr)});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const TypicalCall& a, const TypicalCall& b) { return a.weight > b.weight; });
  return calls;
}

CallCost cost_of(std::span<const program::Code> oldest_first, const abi::SeccompData& call) {
  const auto constant = [&](const program::Code& code) {
    return program::is_constant_allow(code, call.arch, static_cast<std::uint32_t>(call.nr));
  };
  return {program::run_stack(oldest_first, call), std::all_of(oldest_first.begin(), oldest_first.end(), constant)};
}

MeanCost mean_cost(std::span<const program::Code> oldest_first, std::span<const TypicalCall> calls) {
  MeanCost mean;
  double sum = 0;
  for (const TypicalCall& call : calls) {
    const CallCost cost = cost_of(oldest_first, call.data);
    sum += call.weight;
    mean.with_cache += call.weight * cost.paid(true);
    mean.without_cache += call.weight * cost.paid(false);
    mean.running_share += cost.cached ? 0 : call.weight;
  }
  if (sum == 0) return {};
  return {mean.with_cache / sum, mean.without_cache / sum, mean.running_share / sum};
}

}  // namespace seccompress::explain
