// SPDX-License-Identifier: Apache-2.0
// Arithmetic on words as 32 diagrams, one a bit, within a size that a decision diagram is good for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "diagram/store.h"

namespace seccompress::raise {

// By bit number; each a diagram to ALLOW (1) and KILL_PROCESS (0) in the machine's own store.
using Bits = std::array<diagram::Node, 32>;

class BitMachine {
 public:
  BitMachine();

  Bits constant(std::uint32_t value) const;
  std::optional<Bits> word(abi::Word word, std::uint32_t mask);
  // nullopt: a product, a quotient or a shift by something that is no constant, or bits that depend on too much.
  std::optional<Bits> calculate(std::uint32_t operation, const Bits& a, const Bits& operand);
  std::optional<diagram::Node> test(std::uint32_t operation, const Bits& a, const Bits& operand);
  // The same function in another store.
  diagram::Node copy(diagram::Node node, diagram::Store& to);

 private:
  using Node = diagram::Node;
  std::optional<std::uint32_t> known(const Bits& bits) const;
  Node choose(Node condition, Node yes, Node no);
  Node both(Node a, Node b) { return choose(a, b, no_); }
  Node either(Node a, Node b) { return choose(a, yes_, b); }
  Node differ(Node a, Node b) { return choose(a, invert(b), b); }
  Node invert(Node a) { return choose(a, no_, yes_); }
  bool is_small(Node node);
  std::optional<Bits> checked(const Bits& bits) { return overflow_ ? std::nullopt : std::optional(bits); }

  Bits shifted(const Bits& a, std::uint32_t operation, std::uint32_t by) const;
  Bits sum(const Bits& a, const Bits& b, Node carry);
  Bits product(const Bits& a, std::uint32_t factor);
  Node compare(std::uint32_t operation, const Bits& a, const Bits& operand);

  diagram::Store store_;
  Node yes_, no_;
  bool overflow_ = false;
  std::size_t spent_ = 0;
};

}  // namespace seccompress::raise
