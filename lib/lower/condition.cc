// SPDX-License-Identifier: Apache-2.0
#include "lower/condition.h"

namespace seccompress::lower {
namespace {

using diagram::Compare;
using diagram::Node;

constexpr std::uint32_t kFull = 0xffffffffU;
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

Node equal(diagram::Store& store, unsigned index, std::uint64_t mask, std::uint64_t value, Node yes, Node no) {
  const Node low_equal = store.test(abi::arg_low(index), low(mask), Compare::eq, low(value), yes, no);
  return store.test(abi::arg_high(index), high(mask), Compare::eq, high(value), low_equal, no);
}

// The high words decide unless they are equal; then the low words do, with the comparison asked for.
Node above(diagram::Store& store, unsigned index, Compare compare, std::uint64_t value, Node yes, Node no) {
  const Node low_above = store.test(abi::arg_low(index), kFull, compare, low(value), yes, no);
  const Node not_greater = store.test(abi::arg_high(index), kFull, Compare::eq, high(value), low_above, no);
  return store.test(abi::arg_high(index), kFull, Compare::gt, high(value), yes, not_greater);
}

}  // namespace

Node lower_condition(diagram::Store& store, const policy::Condition& condition, Node yes, Node no) {
  using policy::Operator;
  const unsigned index = condition.index;
  const std::uint64_t value = condition.value;
  switch (condition.op) {
    case Operator::eq: return equal(store, index, UINT64_MAX, value, yes, no);
    case Operator::ne: return equal(store, index, UINT64_MAX, value, no, yes);
    case Operator::gt: return above(store, index, Compare::gt, value, yes, no);
    case Operator::ge: return above(store, index, Compare::ge, value, yes, no);
    case Operator::lt: return above(store, index, Compare::ge, value, no, yes);
    case Operator::le: return above(store, index, Compare::gt, value, no, yes);
    case Operator::masked_eq: return equal(store, index, value, condition.value_two & value, yes, no);
  }
  return no;
}

}  // namespace seccompress::lower
