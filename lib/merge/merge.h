// SPDX-License-Identifier: Apache-2.0
// VERB: Diagrams -> Diagram, with the kernel's precedence; and what each layer contributes.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "diagram/store.h"

namespace seccompress::merge {

// The stack's function; layers oldest first. Empty: ALLOW.
Result<diagram::Node> merge(diagram::Store& store, std::span<const diagram::Node> oldest_first);

// For each layer (carried code is compared by its nodes: with it, true is right and false may not be): would the stack
// without it be the same? And the redundant set: greedy from the oldest to the newest on the remaining stack (of two
// copies each is implied, one is redundant).
struct Contribution {
  std::vector<bool> implied;
  std::vector<bool> redundant;
  std::vector<bool> undecided;                           // neither is known, and both are false: carried code
  std::vector<std::optional<std::size_t>> duplicate_of;  // the first layer with the same function
};
Result<Contribution> contribution(diagram::Store& store, std::span<const diagram::Node> oldest_first);

// For each layer the stack without it.
Result<std::vector<diagram::Node>> without_each(diagram::Store& store, std::span<const diagram::Node> oldest_first);

enum class Order { equal, equal_actions, stricter, looser, incomparable };
std::string_view to_string(Order order);

// left compared with right. `stricter`: left's signed action is <= right's everywhere and < somewhere; data
// is no part of the order. Witnesses: left_looser = an input where left's action is larger; left_stricter =
// where it is smaller; data = where only data differs.
// Where carried code leaves it open, `undecided` says so and the order is `incomparable`.
struct Comparison {
  Order order;
  std::optional<abi::SeccompData> left_looser, left_stricter, data;
  bool undecided = false;
};
bool looser(abi::Verdict left, abi::Verdict right);
bool stricter(abi::Verdict left, abi::Verdict right);
bool other_data(abi::Verdict left, abi::Verdict right);  // normalized ones of the same action
Order order_of(const Comparison& comparison);            // from its witnesses
Comparison compare(diagram::Store& store, diagram::Node left, diagram::Node right);

}  // namespace seccompress::merge
