// SPDX-License-Identifier: Apache-2.0
// Input: the layers' diagrams, oldest first. Output: the stack's diagram; what each layer contributes; how
// two functions compare. Entries: merge(), contribution(), without_each(), compare().
//
// Method: abi::stack is associative, so the layers are combined as a balanced tree: small layers meet small
// layers, and the large result is walked log n times, not n times. "Without layer i" comes from prefix and
// suffix products.
#include "merge/merge.h"

#include <unordered_map>

namespace seccompress::merge {
namespace {

using diagram::Node;
using diagram::Store;

Node combine(Store& store, std::span<const Node> layers) {
  if (layers.empty()) return store.terminal(abi::kAllow);
  if (layers.size() == 1) return layers.front();
  const std::size_t half = layers.size() / 2;
  const Node older = combine(store, layers.first(half));
  return store.stack(combine(store, layers.subspan(half)), older);
}

// newer[i] = the layers i.. as one function.
std::vector<Node> suffixes(Store& store, std::span<const Node> layers) {
  std::vector<Node> newer(layers.size() + 1, store.terminal(abi::kAllow));
  for (std::size_t i = layers.size(); i-- > 0;) newer[i] = store.stack(newer[i + 1], layers[i]);
  return newer;
}

}  // namespace

Result<Node> merge(Store& store, std::span<const Node> oldest_first) {
  const Node merged = combine(store, oldest_first);
  TRY(store.status());
  return merged;
}

Result<Contribution> contribution(Store& store, std::span<const Node> layers) {
  Contribution result;
  const std::vector<Node> newer = suffixes(store, layers);
  const Node whole = newer.front();
  Node older = store.terminal(abi::kAllow);       // all layers before i
  Node older_kept = store.terminal(abi::kAllow);  // those that greedy removal kept
  std::unordered_map<Node, std::size_t> first_of;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    result.implied.push_back(store.stack(newer[i + 1], older) == whole);
    result.redundant.push_back(store.stack(newer[i + 1], older_kept) == whole);
    result.undecided.push_back(false);
    const auto [entry, is_new] = first_of.try_emplace(layers[i], i);
    result.duplicate_of.push_back(is_new ? std::nullopt : std::optional(entry->second));
    older = store.stack(layers[i], older);
    if (!result.redundant.back()) older_kept = store.stack(layers[i], older_kept);
  }
  TRY(store.status());
  return result;
}

Result<std::vector<Node>> without_each(Store& store, std::span<const Node> layers) {
  std::vector<Node> result;
  const std::vector<Node> newer = suffixes(store, layers);
  Node older = store.terminal(abi::kAllow);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    result.push_back(store.stack(newer[i + 1], older));
    older = store.stack(layers[i], older);
  }
  TRY(store.status());
  return result;
}

std::string_view to_string(Order order) {
  switch (order) {
    case Order::equal: return "equal";
    case Order::equal_actions: return "equal-actions";
    case Order::stricter: return "stricter";
    case Order::looser: return "looser";
    case Order::incomparable: return "incomparable";
  }
  return "?";
}

bool looser(abi::Verdict left, abi::Verdict right) { return abi::strictness(left) > abi::strictness(right); }
bool stricter(abi::Verdict left, abi::Verdict right) { return abi::strictness(left) < abi::strictness(right); }
bool other_data(abi::Verdict left, abi::Verdict right) {
  return left != right && !looser(left, right) && !stricter(left, right);
}

Order order_of(const Comparison& comparison) {
  if (comparison.left_looser && comparison.left_stricter) return Order::incomparable;
  if (comparison.left_looser) return Order::looser;
  if (comparison.left_stricter) return Order::stricter;
  return comparison.data ? Order::equal_actions : Order::equal;
}

Comparison compare(Store& store, Node left, Node right) {
  Comparison comparison{Order::equal, {}, {}, {}, false};
  if (left == right) return comparison;
  comparison.left_looser = store.witness(left, right, looser);
  comparison.left_stricter = store.witness(left, right, stricter);
  comparison.data = store.witness(left, right, other_data);
  comparison.order = order_of(comparison);
  const auto open = [&](const std::optional<abi::SeccompData>& found, Store::Relation holds) {
    return !found && store.may_hold(left, right, holds);
  };
  comparison.undecided = (store.has_code(left) || store.has_code(right)) &&
                         (open(comparison.left_looser, looser) || open(comparison.left_stricter, stricter) ||
                          open(comparison.data, other_data));
  if (comparison.undecided) comparison.order = Order::incomparable;
  return comparison;
}

}  // namespace seccompress::merge
