// SPDX-License-Identifier: Apache-2.0
// Input: compiled layers. Output: one proved program, or the fewest that are together equal. Entry point:
// flatten_to_stack.
//
// Method: groups of neighbouring filters with at most one that notifies; each group is one function. One that is too
// long is cut into two parts, then three, and so on (diagram/slice.h), until all parts fit. verify proves the result as
// a whole.
//
// Weakness: a filter counts as notifying when it can notify at all, also where another layer always overrides it.
#include "exact_stack.h"

#include <fmt/core.h>

#include "diagram/slice.h"
#include "support/clock.h"

namespace seccompress {
namespace {

struct Group {
  std::vector<diagram::Node> filters;
  std::string notifies;  // the filter that does
};

std::string label_of(const CompiledLayer& layer, std::size_t filter) {
  return layer.filters.size() == 1 ? layer.name : layer.name + '/' + layer.filter_names[filter];
}

std::vector<Group> groups_of(const Stack& stack) {
  std::vector<Group> groups(1);
  for (const CompiledLayer& layer : stack.layers)
    for (std::size_t i = 0; i < layer.filter_nodes.size(); ++i) {
      const diagram::Node node = layer.filter_nodes[i];
      const bool notifies = can_notify(stack, node);
      if (notifies && !groups.back().notifies.empty()) groups.emplace_back();
      if (notifies) groups.back().notifies = label_of(layer, i);
      groups.back().filters.push_back(node);
    }
  return groups;
}

Result<std::vector<program::Code>> emit_parts(diagram::Store& store, diagram::Node node, std::size_t parts,
                                              const emit::Options& options) {
  const std::vector<diagram::Place> places = diagram::places_between(store, node, parts);
  const diagram::Node allow = store.terminal(abi::kAllow);
  std::vector<program::Code> codes;
  for (std::size_t i = 0; i <= places.size(); ++i) {
    const auto from = i > 0 ? std::optional(places[i - 1]) : std::nullopt;
    const auto to = i < places.size() ? std::optional(places[i]) : std::nullopt;
    const diagram::Store::Mark mark = store.mark();
    const diagram::Node part = diagram::slice(store, node, from, to, allow);
    TRY(store.status());
    Result<program::Code> code = emit::emit(store, part, options);
    store.forget_since(mark);
    if (!code) return tl::unexpected(code.error());
    codes.push_back(std::move(*code));
  }
  return codes;
}

// As few programs as hold the function, not fewer than `parts`.
Result<std::vector<program::Code>> emit_function(diagram::Store& store, diagram::Node node, std::size_t parts,
                                                 const emit::Options& options) {
  for (;; ++parts) {
    auto codes = emit_parts(store, node, parts, options);
    if (codes || codes.error().code != make_error_code(Errc::budget) || parts == kMaxPrograms) return codes;
    TRY(store.status());
  }
}

Result<std::vector<program::Code>> emit_groups(Stack& stack, const std::vector<Group>& groups, std::size_t parts,
                                               const emit::Options& options) {
  const CpuTimer timer(stack.timings.emit);
  std::vector<program::Code> codes;
  for (const Group& group : groups) {
    TRY_ASSIGN(const diagram::Node node, merge::merge(*stack.store, group.filters));
    TRY_ASSIGN(std::vector<program::Code> more, emit_function(*stack.store, node, parts, options));
    for (program::Code& code : more) codes.push_back(std::move(code));
  }
  return codes;
}

std::string reason(const std::vector<Group>& groups, std::size_t programs) {
  std::string text;
  for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i)
    text += (i == 0 ? "" : i + 1 == groups.size() ? " and " : ", ") + groups[i].notifies;
  if (!text.empty()) text += " each notify a listener";
  if (programs > groups.size())
    text += fmt::format("{}one program has at most {} instructions", text.empty() ? "" : ", and ",
                        program::kMaxInstructions);
  return text;
}

}  // namespace

Result<std::vector<program::Code>> emit_programs(diagram::Store& store, diagram::Node node,
                                                 const emit::Options& options) {
  return emit_function(store, node, 1, options);
}

Result<ExactStack> flatten_to_stack(Stack& stack, const PipelineOptions& options) {
  const std::vector<Group> groups = groups_of(stack);
  std::size_t parts = 1;
  if (groups.size() == 1) {
    auto flat = flatten(stack, options);
    if (flat) return ExactStack{{std::move(flat->program)}, ""};
    if (flat.error().code != make_error_code(Errc::budget) || !stack.store->status())
      return tl::unexpected(flat.error());
    parts = 2;
  }
  const auto emitted = emit_groups(stack, groups, parts, options.emit);
  if (!emitted) return failure(emitted.error().code, emitted.error().what + "; " + longest_program(stack));
  const std::vector<program::Code>& codes = *emitted;
  if (codes.size() > kMaxPrograms) {
    const std::string which = codes.size() > groups.size() ? "; " + longest_program(stack) : "";
    return failure(Errc::budget,
                   fmt::format("needs {} programs: {}{}", codes.size(), reason(groups, codes.size()), which));
  }
  const CpuTimer timer(stack.timings.verify);
  verify::Outcome outcome = verify::prove_stack(codes, stack.programs(), options.verify);
  auto* proved = std::get_if<verify::VerifiedStack>(&outcome);
  if (proved == nullptr)
    return failure(Errc::inexact,
                   "the programs could not be proved equal to the layers: " + verify::to_string(outcome));
  return ExactStack{std::move(proved->programs), reason(groups, codes.size())};
}

}  // namespace seccompress
