// SPDX-License-Identifier: Apache-2.0
// Law: any stack of programs that the kernel accepts, whatever opcodes they use, becomes one program that gives every
// input what the kernel's evaluation of the stack gives; and verify proves it.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "emit/emit.h"
#include "merge/merge.h"
#include "raise/raise.h"
#include "support/program_builder.h"
#include "support/tiny_code.h"
#include "support/wild_code.h"
#include "verify/verify.h"

namespace seccompress::test {
namespace {

using program::Code;

struct Tally {
  int proved = 0, as_code = 0, undecided = 0, carried = 0, too_long = 0;
};

std::string listing(const Code& flat, const std::vector<Code>& stack) {
  std::string text = "flat:\n" + program::disassemble(flat);
  for (const Code& code : stack) text += "program:\n" + program::disassemble(code);
  return text;
}

using Input = std::function<abi::SeccompData()>;

struct Made {
  Code flat;
  bool has_code = false;
};

// nullopt: too long.
std::optional<Made> make(const std::vector<Code>& stack, const Input& input, bool as_code) {
  diagram::Store store;
  std::vector<diagram::Node> nodes;
  for (const Code& code : stack) {
    const auto node = as_code ? raise::raise_as_code(code, store) : raise::raise(code, store);
    EXPECT_TRUE(node) << node.error().what << '\n' << program::disassemble(code);
    nodes.push_back(node ? *node : store.terminal(abi::kKillProcess));
  }
  const auto merged = merge::merge(store, nodes);
  EXPECT_TRUE(merged) << merged.error().what;
  const auto flat = emit::emit(store, *merged);
  if (!flat) {
    EXPECT_EQ(flat.error().code, make_error_code(Errc::budget)) << flat.error().what;
    return std::nullopt;
  }
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    const abi::SeccompData data = input();
    const abi::Verdict expected = abi::normalize(program::interpret_stack(stack, data));
    EXPECT_EQ(abi::normalize(program::interpret(*flat, data)), expected) << listing(*flat, stack);
    EXPECT_EQ(store.evaluate(*merged, data), expected) << listing(*flat, stack);
  }
  return Made{*flat, store.has_code(*merged)};
}

bool is_proved(const Code& flat, const std::vector<Code>& stack) {
  const verify::Outcome outcome = verify::prove(flat, stack);
  const bool proved = std::holds_alternative<program::VerifiedProgram>(outcome);
  EXPECT_TRUE(proved || std::holds_alternative<verify::Undecided>(outcome)) << verify::to_string(outcome) << '\n'
                                                                            << listing(flat, stack);
  return proved;
}

// As the pipeline does it: where the proof is undecided, once more with the code as it was.
void flatten_and_compare(const std::vector<Code>& stack, const Input& input, Tally& tally) {
  const auto made = make(stack, input, false);
  if (!made) {
    ++tally.too_long;
    return;
  }
  tally.carried += made->has_code ? 1 : 0;
  if (is_proved(made->flat, stack)) {
    ++tally.proved;
    return;
  }
  const auto again = make(stack, input, true);
  ++(again && is_proved(again->flat, stack) ? tally.as_code : tally.undecided);
}

void print(const Tally& tally) {
  std::printf("proved %d, as code %d, undecided %d, with carried code %d, too long %d\n", tally.proved, tally.as_code,
              tally.undecided, tally.carried, tally.too_long);
}

Tally wild(std::uint64_t fallback_seed, int rounds, std::size_t layers, const WildShape& shape) {
  Random random(seed_or(fallback_seed));
  Tally tally;
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
    std::vector<Code> stack;
    while (stack.size() < layers) stack.push_back(wild_code(random, shape));
    flatten_and_compare(
        stack, [&] { return wild_data(random, stack, shape); }, tally);
  }
  print(tally);
  return tally;
}

TEST(CarriedCode, OneProgramIsProved) {
  const Tally tally = wild(31, 60, 1, {.length = 8});
  EXPECT_GT(tally.carried, 30);
  EXPECT_EQ(tally.undecided, 0);
}

TEST(CarriedCode, StacksOfTwoAreProved) {
  const Tally tally = wild(32, 25, 2, {.length = 6});
  EXPECT_GT(tally.carried, 12);
  EXPECT_EQ(tally.undecided, 0);
}

TEST(CarriedCode, ComputedVerdictsAreProved) {
  const Tally tally = wild(34, 25, 2, {.length = 5, .computed_verdicts = true});
  EXPECT_GT(tally.carried, 12);
  EXPECT_LE(tally.undecided, 1);  // verdicts that are quotients, stacked: beyond verify's limits now and then
}

TEST(CarriedCode, ArithmeticOnFewBitsIsProved) {
  Random random(seed_or(35));
  Tally tally;
  const std::vector<abi::Word> words = {abi::kNr, abi::kArch, abi::arg_low(0), abi::arg_low(1), abi::arg_high(0)};
  for (int i = 0; i < 800 && !testing::Test::HasFailure(); ++i) {
    std::vector<Code> stack;
    while (stack.size() < 1U + static_cast<unsigned>(i) % 3)
      stack.push_back(tiny_code(
          random, {.words = words, .length = 4 + random() % 20, .arithmetic = true, .unknowable = i % 2 == 0}));
    flatten_and_compare(
        stack,
        [&] {
          abi::SeccompData data = random_data(random, stack);
          if (random() % 2 == 0) data.nr = static_cast<int>(random() % 10);
          for (auto& argument : data.args) argument = random() % 10 | (random() % 3) << 32U;
          return data;
        },
        tally);
  }
  print(tally);
  EXPECT_EQ(tally.undecided + tally.too_long, 0);
}

}  // namespace
}  // namespace seccompress::test
