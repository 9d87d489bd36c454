// SPDX-License-Identifier: Apache-2.0
// Input: operations on values. Output: values, and tests as diagrams. Entry: class Values.
// Method: value numbers; the bits of a computation (bits.h) are only made when something tests it.
#include "raise/values.h"

#include "opaque/machine.h"

namespace seccompress::raise {
namespace {

using diagram::Compare;
using diagram::Node;

// Does `A op= k` leave every A as it is?
bool is_identity(std::uint32_t operation, std::uint32_t k) {
  switch (operation) {
    case BPF_ADD:
    case BPF_SUB:
    case BPF_OR:
    case BPF_XOR: return k == 0;
    case BPF_LSH:
    case BPF_RSH: return (k & 31U) == 0;
    case BPF_MUL:
    case BPF_DIV: return k == 1;
    case BPF_AND: return k == 0xffffffffU;
    default: return false;
  }
}

bool commutes(std::uint32_t operation) {
  return operation == BPF_ADD || operation == BPF_MUL || operation == BPF_AND || operation == BPF_OR ||
         operation == BPF_XOR;
}

Value masked(Value value, std::uint32_t mask) {
  value.data &= mask;
  return value.data == 0 ? Value::constant(0) : value;
}

}  // namespace

std::size_t Values::Hash::operator()(const Computation& c) const {
  std::uint64_t hash = c.a.key() * 0x9e3779b97f4a7c15ULL ^ (std::uint64_t{c.operation} << 48U);
  hash = (hash ^ (hash >> 29U)) * 0xff51afd7ed558ccdULL ^ c.operand.key();
  hash *= 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 32U);
}

Value Values::calculate(std::uint32_t operation, Value a, Value operand) {
  if (operation == BPF_NEG) operand = Value::constant(0);
  if (a.is_constant() && operand.is_constant())
    return Value::constant(opaque::calculate(operation, a.data, operand.data));
  if (a.is_constant() && commutes(operation)) std::swap(a, operand);
  if (operand.is_constant()) {
    if (is_identity(operation, operand.data)) return a;
    if (operand.data == 0 && (operation == BPF_AND || operation == BPF_MUL)) return Value::constant(0);
    if (operation == BPF_AND && a.kind == Value::Kind::word) return masked(a, operand.data);
  }
  const auto next = static_cast<std::uint32_t>(computations_.size());
  const Computation wanted{operation, a, operand};
  const auto [entry, is_new] = index_.try_emplace(wanted, next);
  if (is_new) computations_.push_back(wanted);
  return {Value::Kind::computed, 0, entry->second};
}

std::optional<Node> Values::test_word(std::uint32_t operation, Value word, std::uint32_t constant) {
  Compare compare = Compare::set;
  if (operation == BPF_JEQ) compare = Compare::eq;
  if (operation == BPF_JGE) compare = Compare::ge;
  if (operation == BPF_JGT) compare = Compare::gt;
  return store_.test(word.word, word.data, compare, constant, store_.terminal(abi::kAllow),
                     store_.terminal(abi::kKillProcess));
}

std::optional<Node> Values::test(std::uint32_t operation, Value a, Value operand) {
  const auto truth = [&](bool holds) { return store_.terminal(holds ? abi::kAllow : abi::kKillProcess); };
  if (a.is_constant() && operand.is_constant()) return truth(opaque::holds(operation, a.data, operand.data));
  if (a == operand && operation != BPF_JSET) return truth(operation != BPF_JGT);
  if (a.kind == Value::Kind::word && operand.is_constant()) return test_word(operation, a, operand.data);
  if (!machine_) machine_.emplace();
  const Bits* left = bits_of(a);
  const Bits* right = left == nullptr ? nullptr : bits_of(operand);
  if (right == nullptr) return std::nullopt;
  const auto found = machine_->test(operation, *left, *right);
  if (!found) return std::nullopt;
  return machine_->copy(*found, store_);
}

const Bits* Values::bits_of(Value value) {
  // A loop and not a recursion: computations may be nested as deeply as a program is long.
  std::vector<Value> todo{value};
  while (!todo.empty()) {
    const Value at = todo.back();
    if (bits_.contains(at.key())) {
      todo.pop_back();
      continue;
    }
    std::optional<Bits> made;
    if (at.kind == Value::Kind::computed) {
      const Computation& computation = computations_[at.data];
      const bool ready = bits_.contains(computation.a.key()) && bits_.contains(computation.operand.key());
      if (!ready) {
        todo.push_back(computation.a);
        todo.push_back(computation.operand);
        continue;
      }
      made = compute_bits(computation);
    } else {
      made = at.is_constant() ? machine_->constant(at.data) : machine_->word(at.word, at.data);
    }
    bits_.emplace(at.key(), made);
    todo.pop_back();
  }
  const auto& found = bits_.at(value.key());
  return found ? &*found : nullptr;
}

std::optional<Bits> Values::compute_bits(const Computation& computation) {
  const auto& a = bits_.at(computation.a.key());
  const auto& operand = bits_.at(computation.operand.key());
  if (!a || !operand) return std::nullopt;
  return machine_->calculate(computation.operation, *a, *operand);
}

}  // namespace seccompress::raise
