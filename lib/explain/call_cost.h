// SPDX-License-Identifier: Apache-2.0
// What calls cost under a stack of filters, call by call and on average. Unit: executed converted (eBPF)
// instructions; counted for the machine's own calls, with arguments that are allowed where there are such.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "diagram/store.h"
#include "emit/weights.h"
#include "program/program.h"

namespace seccompress::explain {

// A call that a person might make: of the numbers below 512 that have a name.
struct TypicalCall {
  abi::SeccompData data{};
  std::string name;
  double weight = 0;
};
// Heaviest first. Arguments: the smallest that `root` allows, 0 where it allows none.
std::vector<TypicalCall> typical_calls(const diagram::Store& store, diagram::Node root, const emit::Weights& weights,
                                       abi::Arch arch);

struct CallCost {
  program::Run run;
  bool cached = false;  // every filter is constant ALLOW for it: since Linux 5.11 none of them runs
  std::uint32_t paid(bool cache_model) const { return cached && cache_model ? 0 : run.executed_converted; }
};
CallCost cost_of(std::span<const program::Code> oldest_first, const abi::SeccompData& call);

// Weighted means over the calls.
struct MeanCost {
  double with_cache = 0, without_cache = 0;
  double running_share = 0;  // weight of the calls that run the filters although there is a cache
};
MeanCost mean_cost(std::span<const program::Code> oldest_first, std::span<const TypicalCall> calls);

}  // namespace seccompress::explain
