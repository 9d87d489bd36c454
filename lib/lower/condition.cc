// SPDX-License-Identifier: Apache-2.0
#include "lower/condition.h"

namespace seccompress::lower {
namespace {

using diagram::Compare;
using diagram::Node;
using diagram::Piece;

constexpr std::uint32_t kFull = 0xffffffffU;
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

// word < value: below; word == value: at; word > value: above. As a select, which is cheaper to build than tests.
Node split(diagram::Store& store, abi::Word word, std::uint32_t value, Node below, Node at, Node above) {
  Piece pieces[3];
  std::size_t count = 0;
  if (value > 0) pieces[count++] = {value - 1, below};
  pieces[count++] = {value, at};
  if (value < kFull) pieces[count++] = {kFull, above};
  return store.select(word, {pieces, count});
}

Node equal(diagram::Store& store, unsigned index, std::uint64_t value, Node yes, Node no) {
  const Node low_equal = split(store, abi::arg_low(index), low(value), no, yes, no);
  return split(store, abi::arg_high(index), high(value), no, low_equal, no);
}

Node masked_equal(diagram::Store& store, unsigned index, std::uint64_t mask, std::uint64_t value, Node yes, Node no) {
  const Node low_equal = store.test(abi::arg_low(index), low(mask), Compare::eq, low(value), yes, no);
  return store.test(abi::arg_high(index), high(mask), Compare::eq, high(value), low_equal, no);
}

// argument < value ? below : argument == value ? at : above. The high words decide unless they are equal.
Node compare(diagram::Store& store, unsigned index, std::uint64_t value, Node below, Node at, Node above) {
  const Node high_equal = split(store, abi::arg_low(index), low(value), below, at, above);
  return split(store, abi::arg_high(index), high(value), below, high_equal, above);
}

Node lower_low_word(diagram::Store& store, const policy::Condition& condition, Node yes, Node no) {
  using policy::Operator;
  const abi::Word word = abi::arg_low(condition.index);
  const std::uint32_t value = low(condition.value);
  switch (condition.op) {
    case Operator::eq: return split(store, word, value, no, yes, no);
    case Operator::ne: return split(store, word, value, yes, no, yes);
    case Operator::gt: return split(store, word, value, no, no, yes);
    case Operator::ge: return split(store, word, value, no, yes, yes);
    case Operator::lt: return split(store, word, value, yes, no, no);
    case Operator::le: return split(store, word, value, yes, yes, no);
    case Operator::masked_eq: return store.test(word, value, Compare::eq, low(condition.value_two) & value, yes, no);
  }
  return no;
}

}  // namespace

Node lower_condition(diagram::Store& store, const policy::Condition& condition, Node yes, Node no) {
  using policy::Operator;
  if (condition.low_word) return lower_low_word(store, condition, yes, no);
  const unsigned index = condition.index;
  const std::uint64_t value = condition.value;
  switch (condition.op) {
    case Operator::eq: return equal(store, index, value, yes, no);
    case Operator::ne: return equal(store, index, value, no, yes);
    case Operator::gt: return compare(store, index, value, no, no, yes);
    case Operator::ge: return compare(store, index, value, no, yes, yes);
    case Operator::lt: return compare(store, index, value, yes, no, no);
    case Operator::le: return compare(store, index, value, yes, yes, no);
    case Operator::masked_eq: return masked_equal(store, index, value, condition.value_two & value, yes, no);
  }
  return no;
}

}  // namespace seccompress::lower
