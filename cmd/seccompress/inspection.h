// SPDX-License-Identifier: Apache-2.0
// What `inspect` finds out about a stack, before anything is printed.
#pragma once

#include <string>
#include <vector>

#include "explain/call_cost.h"
#include "explain/changes.h"
#include "filter_list.h"
#include "pipeline.h"
#include "program/cache_report.h"

namespace seccompress::cmd {

// What one part of the stack, a filter or a whole layer, is good for.
struct Share {
  bool implied = false, redundant = false;
  bool undecided = false;  // neither is known
  std::optional<std::size_t> duplicate_of;
  explain::Changes alone;  // the calls whose verdict changes when it is dropped
  explain::Changes kept;   // the same when the redundant ones are gone too; empty for those
};

struct Inspection {
  std::vector<explain::Filter> filters;
  std::vector<program::Code> before;      // what runs without flattening; a policy as our own program for it alone
  std::vector<std::size_t> instructions;  // of each filter; a policy that no program holds is several of `before`
  std::size_t policies = 0;               // filters that are policies
  bool has_code = false;                  // carries code that no diagram holds
  std::vector<program::Code> after;       // one program, or as few as can be
  std::string why_several;
  std::vector<Share> filter_shares, layer_shares;
  std::vector<explain::TypicalCall> calls;
  explain::MeanCost cost_before, cost_after;
  std::vector<program::CachedArch> cache_before, cache_after;
  std::size_t redundant_filters() const;
};
Result<Inspection> inspect_stack(Stack& stack, const PipelineOptions& options);

}  // namespace seccompress::cmd
