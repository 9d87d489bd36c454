// SPDX-License-Identifier: Apache-2.0
// What A, X and scratch memory hold while a program is raised, and which tests of it a diagram can make.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "diagram/store.h"
#include "raise/bits.h"

namespace seccompress::raise {

// A constant, (word & mask) with a non-zero mask, or the result of a computation. Equal values are equal functions.
struct Value {
  enum class Kind : std::uint8_t { constant, word, computed } kind = Kind::constant;
  abi::Word word = 0;
  std::uint32_t data = 0;  // the constant, the mask, or the computation's number
  bool operator==(const Value&) const = default;
  bool is_constant() const { return kind == Kind::constant; }
  static Value constant(std::uint32_t value) { return {Kind::constant, 0, value}; }
  static Value whole(abi::Word word) { return {Kind::word, word, 0xffffffffU}; }
  std::uint64_t key() const {
    return (std::uint64_t{static_cast<unsigned>(kind)} << 40U) | (std::uint64_t{word} << 32U) | data;
  }
};

class Values {
 public:
  explicit Values(diagram::Store& store) : store_(store) {}

  // operation: BPF_ADD to BPF_NEG (the operand is not looked at). A division by the constant 0 is the caller's.
  Value calculate(std::uint32_t operation, Value a, Value operand);
  // operation: BPF_JEQ to BPF_JSET. A diagram to ALLOW (holds) and KILL_PROCESS; nullopt: none of a size that pays.
  std::optional<diagram::Node> test(std::uint32_t operation, Value a, Value operand);

 private:
  struct Computation {
    std::uint32_t operation;
    Value a, operand;
    bool operator==(const Computation&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Computation& computation) const;
  };
  const Bits* bits_of(Value value);
  std::optional<Bits> compute_bits(const Computation& computation);
  std::optional<diagram::Node> test_word(std::uint32_t operation, Value word, std::uint32_t constant);

  diagram::Store& store_;
  std::vector<Computation> computations_;
  std::unordered_map<Computation, std::uint32_t, Hash> index_;
  std::optional<BitMachine> machine_;  // made when first needed: most programs compute nothing
  std::unordered_map<std::uint64_t, std::optional<Bits>> bits_;
};

}  // namespace seccompress::raise
