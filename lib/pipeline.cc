// SPDX-License-Identifier: Apache-2.0
// Input: layer specs or layers as read. Output: one proved program. Entry points: add_layer, flatten.
// Each stage is one line; the stages know nothing of each other.
#include "pipeline.h"

#include <algorithm>
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
  const std::string folder = filters.size() > 1 ? layer.name + ", " : "";
  for (read::NamedFilter& filter : filters) {
    if (auto accepted = program::check(filter.code); !accepted)
      return failure(accepted.error().code, folder + filter.name + ": " + accepted.error().what);
    auto node = raise::raise(filter.code, store);
    if (!node) return failure(node.error().code, folder + filter.name + ": " + node.error().what);
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

// A limit that all layers together reached.
std::string limit_text(const Error& error, const Stack& stack) {
  const bool limit = error.code == make_error_code(Errc::budget) && !stack.layers.empty();
  return error.what + (limit ? "; " + longest_program(stack) : "");
}

std::string difference_text(const verify::Outcome& outcome, const Stack& stack) {
  const bool limit = std::holds_alternative<verify::Undecided>(outcome) && !stack.layers.empty();
  return "the flattened program could not be proved equal to its layers: " + verify::to_string(outcome) +
         (limit ? "; " + longest_program(stack) : "");
}

// A flat program, not yet known to be proved.
struct Candidate {
  diagram::Node node;
  verify::Outcome outcome;
};

Result<Candidate> make_candidate(Stack& stack, std::span<const diagram::Node> nodes, const PipelineOptions& options) {
  diagram::Node merged = 0;
  program::Code code;
  {
    const CpuTimer timer(stack.timings.merge);
    TRY_ASSIGN(merged, merge::merge(*stack.store, nodes));
  }
  {
    const CpuTimer timer(stack.timings.emit);
    const diagram::Store::Mark mark = stack.store->mark();
    auto emitted = emit::emit(*stack.store, merged, options.emit);
    stack.store->forget_since(mark);
    TRY_ASSIGN(code, std::move(emitted));
  }
  const CpuTimer timer(stack.timings.verify);
  return Candidate{merged, verify::prove(code, stack.programs(), options.verify)};
}

bool is_raw(const CompiledLayer& layer) { return !layer.policy && layer.filter_policies.empty(); }

// Does some filter do more than test words?
bool computes(const Stack& stack) {
  return std::any_of(stack.layers.begin(), stack.layers.end(), [](const CompiledLayer& layer) {
    return is_raw(layer) && !std::all_of(layer.filters.begin(), layer.filters.end(),
                                         [](const program::Code& code) { return raise::is_plain(code); });
  });
}

// The layers with such filters in their own order of instructions: arithmetic that became tests may be beyond verify,
// or too long, where the same arithmetic as code is not.
Result<std::vector<diagram::Node>> nodes_as_code(Stack& stack) {
  const CpuTimer timer(stack.timings.lower);
  std::vector<diagram::Node> nodes;
  for (const CompiledLayer& layer : stack.layers) {
    std::vector<diagram::Node> filters = layer.filter_nodes;
    for (std::size_t i = 0; i < filters.size(); ++i) {
      if (!is_raw(layer) || raise::is_plain(layer.filters[i])) continue;
      TRY_ASSIGN(filters[i], raise::raise_as_code(layer.filters[i], *stack.store));
    }
    TRY_ASSIGN(const diagram::Node node, merge::merge(*stack.store, filters));
    nodes.push_back(node);
  }
  return nodes;
}

// "; code is carried for bpf:a.bpf, bpf:b.bpf": whose arithmetic it was.
std::string carriers_text(const Stack& stack) {
  std::string text;
  for (const CompiledLayer& layer : stack.layers)
    if (stack.store->has_code(layer.node)) text += (text.empty() ? "; code is carried for " : ", ") + layer.name;
  return text;
}

// Are the parts that are there equal to the whole?
Result<bool> is_whole(diagram::Store& store, diagram::Node all, std::span<const StackPart> parts,
                      const std::vector<bool>& there, const PipelineOptions& options) {
  std::vector<diagram::Node> nodes;
  std::vector<program::Code> programs, whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    whole.insert(whole.end(), parts[i].programs.begin(), parts[i].programs.end());
    if (!there[i]) continue;
    nodes.push_back(parts[i].node);
    programs.insert(programs.end(), parts[i].programs.begin(), parts[i].programs.end());
  }
  TRY_ASSIGN(const diagram::Node node, merge::merge(store, nodes));
  if (node == all) return true;
  if ((!store.has_code(node) && !store.has_code(all)) || store.difference(node, all)) return false;
  const auto differ = [](abi::Verdict stack, abi::Verdict flat) { return stack != flat; };
  const verify::Finding found = verify::find(whole, programs, differ, options.verify);
  if (const auto* open = std::get_if<verify::Undecided>(&found))
    return failure(Errc::inexact, "not decided: " + open->reason);
  return std::holds_alternative<verify::NoSuchInput>(found);
}

// The left program against the right ones, turned round: verify speaks of (stack, flat).
template <bool (*holds)(abi::Verdict, abi::Verdict)>
bool turned(abi::Verdict right, abi::Verdict left) {
  return holds(left, right);
}

// Fills in a witness that the diagrams did not show.
Result<void> decide(std::optional<abi::SeccompData>& witness, std::span<const program::Code> left,
                    std::span<const program::Code> right, verify::VerdictRelation right_and_left,
                    const PipelineOptions& options) {
  if (witness) return {};
  const verify::Finding found = verify::find(left, right, right_and_left, options.verify);
  if (const auto* open = std::get_if<verify::Undecided>(&found))
    return failure(Errc::inexact, "how the two compare is not decided: " + open->reason);
  if (const auto* difference = std::get_if<verify::Difference>(&found)) witness = difference->witness;
  return {};
}

}  // namespace

std::string longest_program(const Stack& stack) {
  std::string name;
  std::size_t most = 0;
  for (const CompiledLayer& layer : stack.layers)
    for (std::size_t i = 0; i < layer.filters.size(); ++i)
      if (layer.filters[i].size() > most) {
        most = layer.filters[i].size();
        name = layer.filters.size() == 1 ? layer.name : layer.name + ", " + layer.filter_names[i];
      }
  return "the longest program is that of " + name + ", " + std::to_string(most) + " instructions";
}

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
  const auto verdicts = stack.store->verdicts(node);
  return !verdicts || std::any_of(verdicts->begin(), verdicts->end(),
                                  [](abi::Verdict verdict) { return abi::action_word(verdict) == abi::kUserNotif; });
}

std::vector<StackPart> parts_by_layer(const Stack& stack) {
  std::vector<StackPart> parts;
  for (const CompiledLayer& layer : stack.layers) parts.push_back({layer.name, layer.node, layer.filters});
  return parts;
}

std::vector<StackPart> parts_by_filter(const Stack& stack) {
  std::vector<StackPart> parts;
  for (const CompiledLayer& layer : stack.layers)
    for (std::size_t i = 0; i < layer.filters.size(); ++i)
      parts.push_back({layer.filters.size() == 1 ? layer.name : layer.name + '/' + layer.filter_names[i],
                       layer.filter_nodes[i], std::span(layer.filters).subspan(i, 1)});
  return parts;
}

namespace {

// What a report may cost beside the proof: a tenth of it, for all questions together. An open one is said to be open.
verify::Limits limits_of_one(verify::Limits limits, std::size_t questions) {
  constexpr unsigned kShare = 10;
  limits.steps = limits.steps / kShare / std::max<std::size_t>(1, questions);
  limits.bdd_nodes /= kShare;
  return limits;
}

}  // namespace

Result<merge::Contribution> contribution(Stack& stack, std::span<const StackPart> parts,
                                         const PipelineOptions& options) {
  diagram::Store& store = *stack.store;
  std::vector<diagram::Node> nodes;
  for (const StackPart& part : parts) nodes.push_back(part.node);
  TRY_ASSIGN(merge::Contribution result, merge::contribution(store, nodes));
  if (std::none_of(nodes.begin(), nodes.end(), [&](diagram::Node node) { return store.has_code(node); })) return result;
  TRY_ASSIGN(const diagram::Node all, merge::merge(store, nodes));
  std::vector<bool> there(parts.size(), true);
  PipelineOptions bounded = options;
  bounded.verify.limits = limits_of_one(options.verify.limits, 2 * parts.size());
  const auto adds_nothing = [&](std::size_t i) {
    there[i] = false;
    const Result<bool> equal = is_whole(store, all, parts, there, bounded);
    there[i] = true;
    if (!equal) result.undecided[i] = true;
    return equal.value_or(false);
  };
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!result.implied[i]) result.implied[i] = adds_nothing(i);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.redundant[i] = adds_nothing(i);
    if (result.redundant[i]) there[i] = false;
  }
  TRY(store.status());
  return result;
}

Result<merge::Comparison> compare(Stack& stack, std::size_t left_layers, const PipelineOptions& options) {
  std::vector<diagram::Node> left, right;
  std::vector<program::Code> left_programs, right_programs;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    const CompiledLayer& layer = stack.layers[i];
    (i < left_layers ? left : right).push_back(layer.node);
    auto& programs = i < left_layers ? left_programs : right_programs;
    programs.insert(programs.end(), layer.filters.begin(), layer.filters.end());
  }
  TRY_ASSIGN(const diagram::Node left_node, merge::merge(*stack.store, left));
  TRY_ASSIGN(const diagram::Node right_node, merge::merge(*stack.store, right));
  merge::Comparison found = merge::compare(*stack.store, left_node, right_node);
  TRY(stack.store->status());
  if (!found.undecided) return found;
  TRY(decide(found.left_looser, left_programs, right_programs, turned<merge::looser>, options));
  TRY(decide(found.left_stricter, left_programs, right_programs, turned<merge::stricter>, options));
  TRY(decide(found.data, left_programs, right_programs, turned<merge::other_data>, options));
  found.undecided = false;
  found.order = merge::order_of(found);
  return found;
}

Result<Flat> flatten(Stack& stack, const PipelineOptions& options) {
  std::vector<diagram::Node> nodes;
  for (const CompiledLayer& layer : stack.layers) nodes.push_back(layer.node);
  Result<Candidate> candidate = make_candidate(stack, nodes, options);
  const bool open = candidate ? std::holds_alternative<verify::Undecided>(candidate->outcome)
                              : candidate.error().code == make_error_code(Errc::budget);
  if (open && computes(stack)) {
    TRY_ASSIGN(nodes, nodes_as_code(stack));
    Result<Candidate> as_code = make_candidate(stack, nodes, options);
    if (as_code) candidate = std::move(as_code);
  }
  if (!candidate) return failure(candidate.error().code, limit_text(candidate.error(), stack) + carriers_text(stack));
  auto* proved = std::get_if<program::VerifiedProgram>(&candidate->outcome);
  if (proved == nullptr)
    return failure(Errc::inexact, difference_text(candidate->outcome, stack) + carriers_text(stack));
  return Flat{std::move(*proved), candidate->node};
}

}  // namespace seccompress
