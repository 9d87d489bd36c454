// SPDX-License-Identifier: Apache-2.0
#include "inspection.h"

#include <algorithm>

namespace seccompress::cmd {
namespace {

using diagram::Node;

Result<std::vector<Share>> shares_of(Stack& stack, const std::vector<StackPart>& parts,
                                     const PipelineOptions& options) {
  diagram::Store& store = *stack.store;
  std::vector<Node> nodes;
  for (const StackPart& part : parts) nodes.push_back(part.node);
  TRY_ASSIGN(const merge::Contribution contribution, seccompress::contribution(stack, parts, options));
  TRY_ASSIGN(const Node whole, merge::merge(store, nodes));
  TRY_ASSIGN(const std::vector<Node> without, merge::without_each(store, nodes));
  std::vector<Share> shares(nodes.size());
  std::vector<Node> kept_nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    shares[i] = {contribution.implied[i],
                 contribution.redundant[i],
                 contribution.undecided[i],
                 contribution.duplicate_of[i],
                 explain::changes_between(store, whole, without[i]),
                 {}};
    if (!shares[i].redundant) kept_nodes.push_back(nodes[i]);
  }
  TRY_ASSIGN(const std::vector<Node> without_kept, merge::without_each(store, kept_nodes));
  std::size_t next = 0;
  for (Share& share : shares)
    if (!share.redundant) share.kept = explain::changes_between(store, whole, without_kept[next++]);
  TRY(store.status());
  return shares;
}

Result<void> add_costs(Inspection& found, Stack& stack, Node root, const PipelineOptions& options) {
  found.calls = explain::typical_calls(*stack.store, root, options.emit.weights, options.read.arch);
  const std::vector<program::Code> after{found.after};
  found.cost_before = explain::mean_cost(found.before, found.calls);
  found.cost_after = explain::mean_cost(after, found.calls);
  const program::CacheKernel kernel = program::cache_kernel(options.read.kernel.major, options.read.kernel.minor);
  if (options.read.arch != abi::Arch::x86_64 || kernel.numbers == 0) return {};
  found.cache_before = program::predict_cache(found.before, kernel);
  found.cache_after = program::predict_cache(after, kernel);
  return {};
}

}  // namespace

std::size_t Inspection::redundant_filters() const {
  return static_cast<std::size_t>(
      std::count_if(filter_shares.begin(), filter_shares.end(), [](const Share& s) { return s.redundant; }));
}

Result<Inspection> inspect_stack(Stack& stack, const PipelineOptions& options) {
  Inspection found;
  found.filters = filters_of(stack);
  for (const explain::Filter& filter : found.filters) {
    found.before.emplace_back(filter.code.begin(), filter.code.end());
    if (filter.policy == nullptr) continue;
    ++found.policies;
    TRY_ASSIGN(found.before.back(), emit::emit(*stack.store, filter.node, options.emit));
  }
  TRY_ASSIGN(const Flat flat, flatten(stack, options));
  found.after = flat.program.code();
  found.has_code = stack.store->has_code(flat.node);
  TRY_ASSIGN(found.layer_shares, shares_of(stack, parts_by_layer(stack), options));
  TRY_ASSIGN(found.filter_shares, shares_of(stack, parts_by_filter(stack), options));
  TRY(add_costs(found, stack, flat.node, options));
  return found;
}

}  // namespace seccompress::cmd
