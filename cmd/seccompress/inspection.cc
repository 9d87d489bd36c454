// SPDX-License-Identifier: Apache-2.0
#include "inspection.h"

#include <algorithm>

#include "exact_stack.h"

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
  found.cost_before = explain::mean_cost(found.before, found.calls);
  found.cost_after = explain::mean_cost(found.after, found.calls);
  const program::CacheKernel kernel = program::cache_kernel(options.read.kernel.major, options.read.kernel.minor);
  if (options.read.arch != abi::Arch::x86_64 || kernel.numbers == 0) return {};
  found.cache_before = program::predict_cache(found.before, kernel);
  found.cache_after = program::predict_cache(found.after, kernel);
  return {};
}

Result<void> add_programs(Inspection& found, Stack& stack, const PipelineOptions& options) {
  for (const explain::Filter& filter : found.filters) {
    std::vector<program::Code> programs{program::Code(filter.code.begin(), filter.code.end())};
    if (filter.policy != nullptr) {
      ++found.policies;
      auto alone = emit_programs(*stack.store, filter.node, options.emit);
      if (!alone) return failure(alone.error().code, filter.name + ": " + alone.error().what);
      programs = std::move(*alone);
    }
    found.instructions.push_back(0);
    for (program::Code& code : programs) {
      found.instructions.back() += code.size();
      found.before.push_back(std::move(code));
    }
  }
  TRY_ASSIGN(const ExactStack flat, flatten_to_stack(stack, options));
  for (const program::VerifiedProgram& program : flat.programs) found.after.push_back(program.code());
  found.why_several = flat.why;
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
  TRY(add_programs(found, stack, options));
  std::vector<Node> nodes;
  for (const CompiledLayer& layer : stack.layers) nodes.push_back(layer.node);
  TRY_ASSIGN(const Node whole, merge::merge(*stack.store, nodes));
  found.has_code = stack.store->has_code(whole);
  TRY_ASSIGN(found.layer_shares, shares_of(stack, parts_by_layer(stack), options));
  TRY_ASSIGN(found.filter_shares, shares_of(stack, parts_by_filter(stack), options));
  TRY(add_costs(found, stack, whole, options));
  return found;
}

}  // namespace seccompress::cmd
