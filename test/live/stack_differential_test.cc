// SPDX-License-Identifier: Apache-2.0
// The stack in one child, the flat program in another: the same answers from the kernel, its own precedence
// and ties included, for thousands of chosen calls; and both as the simulator says.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "pipeline.h"
#include "support/paths.h"
#include "support/random_code.h"
#include "support/traced_stack.h"
#include "support/wild_code.h"

namespace seccompress::test {
namespace {

// Numbers that some kernels exempt from seccomp (uretprobe, uprobe), and the child's own escape.
bool is_exempt(const abi::SeccompData& call) { return call.nr == 335 || call.nr == 336 || call.args[5] == 0x5ec0de11; }

std::vector<abi::SeccompData> chosen_calls(Random& random, std::span<const program::Code> stack, std::size_t count) {
  std::vector<abi::SeccompData> calls;
  while (calls.size() < count) {
    abi::SeccompData call = random_data(random, stack);
    call.arch = 0xc000003eU;
    call.instruction_pointer = 0;
    if (random() % 2 == 0) call.nr = static_cast<int>(random() % 480);
    if (random() % 8 == 0) call.nr |= 0x40000000;
    if (!is_exempt(call)) calls.push_back(call);
  }
  return calls;
}

void expect_same_answers(std::span<const program::Code> stack, const program::Code& flat,
                         std::span<const abi::SeccompData> calls) {
  const auto of_stack = ask_kernel_stack(stack, calls);
  ASSERT_TRUE(of_stack) << to_string(of_stack.error());
  const auto of_flat = ask_kernel_stack(std::span(&flat, 1), calls);
  ASSERT_TRUE(of_flat) << to_string(of_flat.error());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ((*of_flat)[i], (*of_stack)[i]) << "nr " << calls[i].nr << " a0 " << calls[i].args[0];
    ASSERT_EQ((*of_stack)[i], abi::normalize(program::interpret_stack(stack, calls[i]))) << "nr " << calls[i].nr;
  }
}

// The instruction pointer is the child's own: argument 0 instead.
program::Code without_ip(program::Code code) {
  for (program::Instruction& instruction : code)
    if (instruction.code == (BPF_LD | BPF_W | BPF_ABS) && (instruction.k == 8 || instruction.k == 12))
      instruction.k = 16;
  return code;
}

// Its 0 for a division by 0 cannot be told from a verdict by the test's mapping.
program::Code without_division(program::Code code) {
  for (program::Instruction& instruction : code)
    if (instruction.code == (BPF_ALU | BPF_DIV | BPF_X)) instruction.code = BPF_ALU | BPF_SUB | BPF_X;
  return code;
}

program::Code flatten_programs(std::span<const program::Code> stack) {
  const PipelineOptions options;
  Stack compiled = make_stack(options);
  Diagnostics diagnostics;
  for (const program::Code& code : stack) {
    read::Layer layer{{"bpf", "random"}, std::vector<read::NamedFilter>{{"random", code}}};
    EXPECT_TRUE(add_layer(compiled, std::move(layer), options, diagnostics));
  }
  const auto flat = flatten(compiled, options);
  EXPECT_TRUE(flat) << (flat ? "" : flat.error().what);
  return flat ? flat->program.code() : program::Code{};
}

class StackDifferential : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = traced_stack_missing()) GTEST_SKIP() << *missing;
  }
};

TEST_F(StackDifferential, StacksThatRelateArgumentsAnswerAsTheirFlatPrograms) {
  Random random(seed_or(13));
  const WildShape shape{.length = 8};
  for (std::size_t i = 0; i < 12; ++i) {
    std::vector<program::Code> stack;
    for (std::size_t layer = 0; layer < 1 + i % 3; ++layer)
      stack.push_back(without_division(without_ip(wild_code(random, shape))));
    std::vector<abi::SeccompData> calls;
    while (calls.size() < 300) {
      calls.push_back(wild_data(random, stack, shape));
      calls.back().arch = 0xc000003eU;
      calls.back().instruction_pointer = 0;
      if (is_exempt(calls.back())) calls.pop_back();
    }
    expect_same_answers(stack, flatten_programs(stack), calls);
    if (HasFatalFailure()) return;
  }
}

TEST_F(StackDifferential, RandomStacksAnswerAsTheirFlatPrograms) {
  Random random(seed_or(11));
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<program::Code> stack;
    for (std::size_t layer = 0; layer < 2 + i % 7; ++layer)
      stack.push_back(without_ip(random_code(random, {.length = 10 + i % 20, .constants = 12})));
    expect_same_answers(stack, flatten_programs(stack), chosen_calls(random, stack, 400));
    if (HasFatalFailure()) return;
  }
}

TEST_F(StackDifferential, StacksOfRealServicesAnswerAsTheirFlatPrograms) {
  const std::filesystem::path corpus = std::filesystem::path(kCorpus) / "systemd-live";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no corpus";
  Random random(seed_or(12));
  std::size_t stacks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    if (!entry.is_directory()) continue;
    const PipelineOptions options;
    Stack compiled = make_stack(options);
    Diagnostics diagnostics;
    ASSERT_TRUE(add_layer(compiled, read::LayerSpec{"dir", entry.path()}, options, diagnostics)) << entry.path();
    const auto flat = flatten(compiled, options);
    ASSERT_TRUE(flat) << entry.path() << flat.error().what;
    const std::vector<program::Code> stack = compiled.programs();
    expect_same_answers(stack, flat->program.code(), chosen_calls(random, stack, 3000));
    if (HasFatalFailure()) return;
    ++stacks;
  }
  EXPECT_GE(stacks, 12U);
}

}  // namespace
}  // namespace seccompress::test
