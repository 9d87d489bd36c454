// SPDX-License-Identifier: Apache-2.0
#include "support/unit_stack.h"

#include "abi/arch.h"
#include "abi/call.h"
#include "abi/syscalls.h"
#include "explain/changes.h"
#include "pipeline.h"

namespace seccompress::test {
namespace {

// The unit as read and the filters as two layers of one stack; nullopt with a message when that fails.
std::optional<Stack> compile(const std::string& unit, std::span<const program::Code> installed,
                             const read::Options& options, std::string& message) {
  PipelineOptions pipeline;
  pipeline.read = options;
  Diagnostics diagnostics;
  Stack stack = make_stack(pipeline);
  std::vector<read::NamedFilter> filters;
  for (std::size_t i = 0; i < installed.size(); ++i) filters.push_back({"filter " + std::to_string(i), installed[i]});
  auto added = add_layer(stack, read::LayerSpec{"systemd", unit}, pipeline, diagnostics);
  if (added) added = add_layer(stack, read::Layer{{"dir", "installed"}, std::move(filters)}, pipeline, diagnostics);
  if (added) return stack;
  message = to_string(added.error()) + '\n';
  for (const Diagnostic& one : diagnostics.all()) message += to_string(one) + '\n';
  return std::nullopt;
}

std::string difference(const diagram::Store& store, diagram::Node read, diagram::Node installed,
                       const std::string& name) {
  if (read == installed) return {};
  const auto call = store.difference(read, installed);
  return name + ": " + abi::call_text(*call) + ": read as " + abi::to_string(store.evaluate(read, *call)) +
         ", installed is " + abi::to_string(store.evaluate(installed, *call)) + '\n';
}

std::string names_of(const CompiledLayer& layer) {
  std::string text;
  for (const std::string& name : layer.filter_names) text += "  " + name + '\n';
  return text;
}

}  // namespace

std::string compare_unit(const std::string& unit, std::span<const program::Code> installed,
                         const read::Options& options) {
  std::string message;
  const auto both = compile(unit, installed, options, message);
  if (!both) return message;
  const CompiledLayer &ours = both->layers[0], &theirs = both->layers[1];
  if (ours.filters.size() != theirs.filters.size())
    return std::to_string(ours.filters.size()) + " filters read, " + std::to_string(theirs.filters.size()) +
           " installed\n" + names_of(ours);
  for (std::size_t i = 0; i < ours.filter_nodes.size(); ++i)
    message += difference(*both->store, ours.filter_nodes[i], theirs.filter_nodes[i], ours.filter_names[i]);
  message += difference(*both->store, ours.node, theirs.node, "the whole");
  if (message.empty() && merge::compare(*both->store, ours.node, theirs.node).order != merge::Order::equal)
    return "not equal\n";
  return message;
}

std::string stricter_calls(const std::string& unit, std::span<const program::Code> installed,
                           const read::Options& options) {
  std::string text;
  const auto both = compile(unit, installed, options, text);
  if (!both) return text;
  const diagram::Node ours = both->layers[0].node, theirs = both->layers[1].node;
  if (merge::compare(*both->store, ours, theirs).order != merge::Order::stricter) return "not stricter";
  const explain::Changes changes = explain::changes_between(*both->store, theirs, ours);
  const auto spaces = explain::number_spaces();
  for (std::size_t i = 0; i < spaces.size(); ++i)
    for (const explain::ChangedCall& call : changes.calls[i])
      text += (text.empty() ? "" : ", ") + abi::audit_name(spaces[i].audit) + ' ' +
              abi::syscall_label(spaces[i].audit, call.nr) + (call.for_some_arguments ? " (some)" : "");
  return text + (changes.elsewhere ? ", and others" : "");
}

}  // namespace seccompress::test
