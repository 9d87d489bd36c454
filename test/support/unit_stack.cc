// SPDX-License-Identifier: Apache-2.0
#include "support/unit_stack.h"

#include "abi/call.h"
#include "merge/merge.h"
#include "pipeline.h"

namespace seccompress::test {
namespace {

// Adds the layer and returns it; nullptr with a message when that fails.
const CompiledLayer* add(Stack& stack, read::Layer layer, const PipelineOptions& options, std::string& message) {
  Diagnostics diagnostics;
  const auto added = add_layer(stack, std::move(layer), options, diagnostics);
  if (!added) message = to_string(added.error());
  return added ? &stack.layers.back() : nullptr;
}

std::string difference(const diagram::Store& store, diagram::Node read, diagram::Node installed, const std::string& name) {
  if (read == installed) return {};
  const auto call = store.difference(read, installed);
  return name + ": " + abi::call_text(*call) + ": read as " + abi::to_string(store.evaluate(read, *call)) + ", installed is " +
         abi::to_string(store.evaluate(installed, *call)) + '\n';
}

std::string names_of(const CompiledLayer& layer) {
  std::string text;
  for (const std::string& name : layer.filter_names) text += "  " + name + '\n';
  return text;
}

}  // namespace

std::string compare_unit(const std::string& unit, std::span<const program::Code> installed, const read::Options& options) {
  PipelineOptions pipeline;
  pipeline.read = options;
  Diagnostics diagnostics;
  auto layer = read::read({"systemd", unit}, options, diagnostics);
  if (!layer) {
    std::string text = to_string(layer.error()) + '\n';
    for (const Diagnostic& one : diagnostics.all()) text += to_string(one) + '\n';
    return text;
  }
  Stack stack = make_stack(pipeline);
  std::string message;
  if (add(stack, std::move(*layer), pipeline, message) == nullptr) return message;
  std::vector<read::NamedFilter> filters;
  for (std::size_t i = 0; i < installed.size(); ++i) filters.push_back({"filter " + std::to_string(i), installed[i]});
  if (add(stack, {{"dir", "installed"}, std::move(filters)}, pipeline, message) == nullptr) return message;

  const CompiledLayer &ours = stack.layers[0], &theirs = stack.layers[1];
  if (ours.filters.size() != theirs.filters.size())
    return std::to_string(ours.filters.size()) + " filters read, " + std::to_string(theirs.filters.size()) + " installed\n" + names_of(ours);
  for (std::size_t i = 0; i < ours.filter_nodes.size(); ++i)
    message += difference(*stack.store, ours.filter_nodes[i], theirs.filter_nodes[i], ours.filter_names[i]);
  message += difference(*stack.store, ours.node, theirs.node, "the whole");
  if (message.empty() && merge::compare(*stack.store, ours.node, theirs.node).order != merge::Order::equal) return "not equal\n";
  return message;
}

}  // namespace seccompress::test
