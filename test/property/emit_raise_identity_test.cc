// SPDX-License-Identifier: Apache-2.0
// Law: raise(emit(d)) is d, for diagrams of random programs and random stacks of them; and every input
// gets from the emitted program what the kernel's evaluation of the stack gives.
#include <gtest/gtest.h>

#include "emit/emit.h"
#include "merge/merge.h"
#include "raise/raise.h"
#include "support/random_code.h"

namespace seccompress::test {
namespace {

// Flattens one random stack; `store` is fresh for each.
void expect_identity(Random& random, const CodeShape& shape, std::size_t layers) {
  diagram::Store store;
  std::vector<program::Code> stack;
  std::vector<diagram::Node> nodes;
  for (std::size_t i = 0; i < layers; ++i) {
    stack.push_back(random_code(random, shape));
    ASSERT_TRUE(program::check(stack.back()));
    const auto node = raise::raise(stack.back(), store);
    ASSERT_TRUE(node) << node.error().what;
    nodes.push_back(*node);
  }
  const diagram::Node merged = *merge::merge(store, nodes);
  const auto flat = emit::emit(store, merged);
  ASSERT_TRUE(flat) << flat.error().what;
  ASSERT_TRUE(program::check(*flat));
  EXPECT_EQ(*raise::raise(*flat, store), merged) << program::disassemble(*flat);
  for (int i = 0; i < 50; ++i) {
    const abi::SeccompData data = random_data(random, stack);
    const abi::Verdict expected = abi::normalize(program::interpret_stack(stack, data));
    ASSERT_EQ(abi::normalize(program::interpret(*flat, data)), expected) << program::disassemble(*flat);
    ASSERT_EQ(store.evaluate(merged, data), expected);
  }
}

TEST(EmitRaiseIdentity, HoldsForRandomPrograms) {
  Random random(seed_or(1));
  for (std::size_t i = 0; i < 1500; ++i)
    expect_identity(random, {.length = 8 + i % 40, .constants = static_cast<std::uint32_t>(4 + i % 13)}, 1);
}

TEST(EmitRaiseIdentity, HoldsForRandomStacks) {
  Random random(seed_or(2));
  for (std::size_t i = 0; i < 300; ++i)
    expect_identity(random, {.length = 12, .masks = i % 2 == 0, .many_words = i % 3 == 0, .constants = 10}, 2 + i % 5);
}

TEST(EmitRaiseIdentity, HoldsOnFewWordsWithManyConstants) {
  Random random(seed_or(3));
  for (int i = 0; i < 500; ++i)
    expect_identity(random, {.length = 60, .masks = true, .many_words = false, .constants = 16}, 1);
}

TEST(MergeLaws, StackIsAssociativeAndIdempotentAndAllowIsItsUnit) {
  Random random(seed_or(4));
  for (int i = 0; i < 300; ++i) {
    diagram::Store store;
    diagram::Node n[3];
    for (diagram::Node& node : n) node = *raise::raise(random_code(random, {.length = 14}), store);
    EXPECT_EQ(store.stack(n[0], store.stack(n[1], n[2])), store.stack(store.stack(n[0], n[1]), n[2]));
    EXPECT_EQ(store.stack(n[0], n[0]), n[0]);
    EXPECT_EQ(store.stack(n[0], store.terminal(abi::kAllow)), n[0]);
    EXPECT_EQ(store.stack(store.terminal(abi::kAllow), n[0]), n[0]);
  }
}

TEST(MergeLaws, AStackIsAtLeastAsStrictAsEachLayer) {
  Random random(seed_or(5));
  for (int i = 0; i < 200; ++i) {
    diagram::Store store;
    const diagram::Node a = *raise::raise(random_code(random, {.length = 14}), store);
    const diagram::Node b = *raise::raise(random_code(random, {.length = 14}), store);
    const diagram::Node both = store.stack(a, b);
    for (const diagram::Node layer : {a, b}) EXPECT_FALSE(merge::compare(store, both, layer).left_looser);
  }
}

}  // namespace
}  // namespace seccompress::test
