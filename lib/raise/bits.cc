// SPDX-License-Identifier: Apache-2.0
// Input: values as 32 diagrams. Output: sums, masks, shifts and comparisons of them. Entry: class BitMachine.
//
// Method: the school's algorithms on diagrams. After each step the diagram's size is looked at: functions of one word
// may be as large as a mask test is, functions of several words only as large as (high | low) == 0 is, because there
// code says it better than a diagram. Nothing here is a failure: what is too large is carried as code.
//
// Weakness: no quotients by other constants than powers of 2.
#include "raise/bits.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

namespace seccompress::raise {
namespace {

using diagram::Node;
using diagram::Run;
using diagram::Store;

constexpr std::size_t kScratchEdges = std::size_t{1} << 20;
constexpr std::size_t kOneWord = 1024;      // runs; a test of the lowest bit takes 256
constexpr std::size_t kSeveralWords = 600;  // on the way to a test
constexpr std::size_t kTestOfSeveral = 40;  // of a test

constexpr std::size_t kMaxSteps = std::size_t{1} << 16;  // some 10 us each

// Runs below a node and the words they test.
struct Extent {
  std::size_t runs = 0;
  unsigned words = 0;
};

Extent extent_of(const Store& store, Node root, std::size_t limit) {
  Extent extent;
  std::vector<Node> todo{root}, seen{root};
  while (!todo.empty() && extent.runs <= limit) {
    const Node node = todo.back();
    todo.pop_back();
    if (store.is_terminal(node)) continue;
    extent.words |= 1U << (store.level(node) / 4U);
    for (const Run& run : store.runs(node)) {
      ++extent.runs;
      if (std::find(seen.begin(), seen.end(), run.node) != seen.end()) continue;
      seen.push_back(run.node);
      todo.push_back(run.node);
    }
  }
  return extent;
}

}  // namespace

BitMachine::BitMachine()
    : store_({.edges = kScratchEdges}), yes_(store_.terminal(abi::kAllow)), no_(store_.terminal(abi::kKillProcess)) {}

Bits BitMachine::constant(std::uint32_t value) const {
  Bits bits;
  for (unsigned i = 0; i < 32; ++i) bits[i] = (value >> i & 1U) != 0 ? yes_ : no_;
  return bits;
}

std::optional<Bits> BitMachine::word(abi::Word word, std::uint32_t mask) {
  overflow_ = false;
  Bits bits;
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint32_t bit = mask & 1U << i;
    bits[i] = bit == 0 ? no_ : store_.test(word, bit, diagram::Compare::set, bit, yes_, no_);
  }
  if (!store_.status()) overflow_ = true;
  return checked(bits);
}

std::optional<std::uint32_t> BitMachine::known(const Bits& bits) const {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 32; ++i) {
    if (bits[i] != yes_ && bits[i] != no_) return std::nullopt;
    if (bits[i] == yes_) value |= 1U << i;
  }
  return value;
}

bool BitMachine::is_small(Node node) {
  const Extent extent = extent_of(store_, node, kOneWord);
  return extent.runs <= (std::has_single_bit(extent.words) || extent.words == 0 ? kOneWord : kSeveralWords);
}

Node BitMachine::choose(Node condition, Node yes, Node no) {
  if (++spent_ > kMaxSteps) overflow_ = true;
  if (overflow_) return no_;
  const Node result = store_.choose(condition, yes, no);
  if (!store_.status() || !is_small(result)) overflow_ = true;
  return result;
}

Bits BitMachine::shifted(const Bits& a, std::uint32_t operation, std::uint32_t by) const {
  Bits result;
  result.fill(no_);
  for (unsigned i = 0; i < 32; ++i) {
    if (operation == BPF_LSH && i >= by) result[i] = a[i - by];
    if (operation == BPF_RSH && i + by < 32) result[i] = a[i + by];
  }
  return result;
}

Bits BitMachine::sum(const Bits& a, const Bits& b, Node carry) {
  Bits result;
  for (unsigned i = 0; i < 32; ++i) {
    const Node half = differ(a[i], b[i]);
    result[i] = differ(half, carry);
    carry = choose(half, carry, a[i]);
  }
  return result;
}

Bits BitMachine::product(const Bits& a, std::uint32_t factor) {
  Bits result = constant(0);
  for (unsigned i = 0; i < 32 && !overflow_; ++i)
    if ((factor >> i & 1U) != 0) result = sum(result, shifted(a, BPF_LSH, i), no_);
  return result;
}

std::optional<Bits> BitMachine::calculate(std::uint32_t operation, const Bits& a, const Bits& operand) {
  overflow_ = false;
  const auto number = known(operand);
  Bits result;
  result.fill(no_);
  switch (operation) {
    case BPF_AND:
      for (unsigned i = 0; i < 32; ++i) result[i] = both(a[i], operand[i]);
      return checked(result);
    case BPF_OR:
      for (unsigned i = 0; i < 32; ++i) result[i] = either(a[i], operand[i]);
      return checked(result);
    case BPF_XOR:
      for (unsigned i = 0; i < 32; ++i) result[i] = differ(a[i], operand[i]);
      return checked(result);
    case BPF_ADD: return checked(sum(a, operand, no_));
    case BPF_SUB:
    case BPF_NEG: {
      const Bits& minuend = operation == BPF_NEG ? operand : a;  // its operand is 0
      const Bits& subtrahend = operation == BPF_NEG ? a : operand;
      for (unsigned i = 0; i < 32; ++i) result[i] = invert(subtrahend[i]);
      return checked(sum(minuend, result, yes_));
    }
    default: break;
  }
  if (!number) return std::nullopt;
  if (operation == BPF_LSH || operation == BPF_RSH) return shifted(a, operation, *number & 31U);
  if (operation == BPF_MUL) return checked(product(a, *number));
  if (!std::has_single_bit(*number)) return std::nullopt;
  return shifted(a, BPF_RSH, static_cast<std::uint32_t>(std::countr_zero(*number)));
}

Node BitMachine::compare(std::uint32_t operation, const Bits& a, const Bits& operand) {
  if (operation == BPF_JSET) {
    Node any = no_;
    for (unsigned i = 0; i < 32; ++i) any = either(any, both(a[i], operand[i]));
    return any;
  }
  Node result = operation == BPF_JGT ? no_ : yes_;
  for (unsigned i = 0; i < 32; ++i) {  // the highest bit that differs decides
    const Node other = operation == BPF_JEQ ? no_ : a[i];
    result = choose(differ(a[i], operand[i]), other, result);
  }
  return result;
}

std::optional<Node> BitMachine::test(std::uint32_t operation, const Bits& a, const Bits& operand) {
  overflow_ = false;
  const Node result = compare(operation, a, operand);
  if (overflow_) return std::nullopt;
  const Extent extent = extent_of(store_, result, kOneWord);
  if (extent.words != 0 && !std::has_single_bit(extent.words) && extent.runs > kTestOfSeveral) return std::nullopt;
  return result;
}

Node BitMachine::copy(Node node, Store& to) {
  std::unordered_map<Node, Node> done;
  const auto copy_one = [&](auto&& self, Node from) -> Node {  // at most kLevels deep
    if (store_.is_terminal(from)) return to.terminal(store_.verdict(from));
    if (const auto known_node = done.find(from); known_node != done.end()) return known_node->second;
    std::vector<Run> runs(store_.runs(from).begin(), store_.runs(from).end());
    for (Run& run : runs) run.node = self(self, run.node);
    return done[from] = to.make(store_.level(from), runs);
  };
  return copy_one(copy_one, node);
}

}  // namespace seccompress::raise
