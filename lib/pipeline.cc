// SPDX-License-Identifier: Apache-2.0
// Input: layer specs or layers as read. Output: one proved program. Entry points: add_layer, flatten.
// Each stage is one line; the stages know nothing of each other.
#include "pipeline.h"

#include <utility>

#include "lower/lower.h"
#include "raise/raise.h"
#include "support/clock.h"

namespace seccompress {
namespace {

Result<void> compile_policy(CompiledLayer& layer, diagram::Store& store) {
  TRY_ASSIGN(const diagram::Node node, lower::lower(*layer.policy, store));
  layer.filters.push_back(lower::reference_program(*layer.policy));
  layer.filter_names.push_back(layer.name);
  layer.filter_nodes.push_back(node);
  return {};
}

Result<void> compile_filters(CompiledLayer& layer, std::vector<read::NamedFilter> filters, diagram::Store& store) {
  for (read::NamedFilter& filter : filters) {
    if (auto accepted = program::check(filter.code); !accepted)
      return failure(accepted.error().code, filter.name + ": " + accepted.error().what);
    auto node = raise::raise(filter.code, store);
    if (!node) return failure(node.error().code, filter.name + ": " + node.error().what);
    layer.filter_nodes.push_back(*node);
    layer.filters.push_back(std::move(filter.code));
    layer.filter_names.push_back(std::move(filter.name));
  }
  return {};
}

Result<void> compile_policies(CompiledLayer& layer, std::vector<read::NamedPolicy> policies, diagram::Store& store) {
  for (read::NamedPolicy& one : policies) {
    auto node = lower::lower(one.policy, store);
    if (!node) return failure(node.error().code, one.name + ": " + node.error().what);
    layer.filter_nodes.push_back(*node);
    layer.filters.push_back(lower::reference_program(one.policy));
    layer.filter_names.push_back(std::move(one.name));
    layer.filter_policies.push_back(std::move(one.policy));
  }
  return {};
}

std::string difference_text(const verify::Outcome& outcome) {
  return "the flattened program could not be proved equal to its layers: " + verify::to_string(outcome);
}

}  // namespace

std::vector<program::Code> Stack::programs() const {
  std::vector<program::Code> all;
  for (const CompiledLayer& layer : layers) all.insert(all.end(), layer.filters.begin(), layer.filters.end());
  return all;
}

Stack make_stack(const PipelineOptions& options) {
  Stack stack;
  stack.store = std::make_unique<diagram::Store>(options.diagram);
  return stack;
}

Result<void> add_layer(Stack& stack, const read::LayerSpec& spec, const PipelineOptions& options,
                       Diagnostics& diagnostics) {
  const double start = cpu_microseconds();
  TRY_ASSIGN(read::Layer layer, read::read(spec, options.read, diagnostics));
  stack.timings.read += cpu_microseconds() - start;
  return add_layer(stack, std::move(layer), options, diagnostics);
}

Result<void> add_layer(Stack& stack, read::Layer layer, const PipelineOptions& /*options*/,
                       Diagnostics& /*diagnostics*/) {
  const CpuTimer timer(stack.timings.lower);
  CompiledLayer compiled;
  compiled.name = read::to_string(layer.spec);
  compiled.kind = layer.spec.kind;
  if (auto* policy = std::get_if<policy::Policy>(&layer.content)) {
    compiled.policy = std::move(*policy);
    TRY(compile_policy(compiled, *stack.store));
  } else if (auto* policies = std::get_if<std::vector<read::NamedPolicy>>(&layer.content)) {
    TRY(compile_policies(compiled, std::move(*policies), *stack.store));
  } else {
    TRY(compile_filters(compiled, std::move(std::get<std::vector<read::NamedFilter>>(layer.content)), *stack.store));
  }
  TRY_ASSIGN(compiled.node, merge::merge(*stack.store, compiled.filter_nodes));
  TRY(stack.store->status());
  stack.layers.push_back(std::move(compiled));
  return {};
}

bool can_notify(const Stack& stack, diagram::Node node) {
  for (const abi::Verdict verdict : stack.store->verdicts(node))
    if (abi::action_word(verdict) == abi::kUserNotif) return true;
  return false;
}

Result<Flat> flatten(Stack& stack, const PipelineOptions& options) {
  std::vector<diagram::Node> nodes;
  for (const CompiledLayer& layer : stack.layers) nodes.push_back(layer.node);

  diagram::Node merged = 0;
  program::Code code;
  {
    const CpuTimer timer(stack.timings.merge);
    TRY_ASSIGN(merged, merge::merge(*stack.store, nodes));
  }
  {
    const CpuTimer timer(stack.timings.emit);
    TRY_ASSIGN(code, emit::emit(*stack.store, merged, options.emit));
  }
  const CpuTimer timer(stack.timings.verify);
  verify::Outcome outcome = verify::prove(code, stack.programs(), options.verify);
  auto* proved = std::get_if<program::VerifiedProgram>(&outcome);
  if (proved == nullptr) return failure(Errc::inexact, difference_text(outcome));
  return Flat{std::move(*proved), merged};
}

}  // namespace seccompress
