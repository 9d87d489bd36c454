// SPDX-License-Identifier: Apache-2.0
// Where one program cannot hold the layers: as few as can, and together they answer as the layers do.
#include "exact_stack.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::test {
namespace {

constexpr abi::Verdict kEperm = abi::kErrno | 1;

Code answer(std::uint32_t nr, abi::Verdict verdict) {
  return {ld(abi::kNr), jeq(nr, 0, 1), ret(verdict), ret(abi::kAllow)};
}

Stack stack_of(std::vector<read::NamedFilter> filters, const PipelineOptions& options) {
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  EXPECT_TRUE(add_layer(stack, read::Layer{{"dir", "case"}, std::move(filters)}, options, diagnostics));
  return stack;
}

// ioctl's argument 1 against `count` scattered values.
policy::Policy with_values(std::size_t count) {
  policy::Policy policy;
  policy.default_verdict = abi::kAllow;
  policy.architectures = {abi::Arch::x86_64};
  for (std::size_t i = 0; i < count; ++i) {
    policy::Rule rule;
    rule.names = {"ioctl"};
    rule.verdict = abi::kErrno | 25;
    rule.all_of.push_back(
        {.index = 1, .op = policy::Operator::eq, .value = i * 2'654'435'761U % 0xffff'ffffU, .where = {}});
    policy.rules.push_back(std::move(rule));
  }
  return policy;
}

std::vector<Code> codes_of(const ExactStack& flat) {
  std::vector<Code> codes;
  for (const program::VerifiedProgram& program : flat.programs) codes.push_back(program.code());
  return codes;
}

TEST(ExactStack, IsOneProgramWhereOneHoldsTheLayers) {
  const PipelineOptions options;
  Stack stack = stack_of({{"a", answer(59, kEperm)}, {"b", answer(63, abi::kUserNotif)}}, options);
  const auto flat = flatten_to_stack(stack, options);
  ASSERT_TRUE(flat) << flat.error().what;
  EXPECT_EQ(flat->programs.size(), 1U);
  EXPECT_EQ(flat->why, "");
}

TEST(ExactStack, KeepsFiltersThatNotifyApart) {
  const PipelineOptions options;
  Stack stack = stack_of({{"a", answer(59, kEperm)},
                          {"b", answer(63, abi::kUserNotif)},
                          {"c", answer(60, kEperm)},
                          {"d", answer(95, abi::kUserNotif)},
                          {"e", answer(63, kEperm)}},
                         options);
  const auto flat = flatten_to_stack(stack, options);
  ASSERT_TRUE(flat) << flat.error().what;
  EXPECT_EQ(flat->why, "dir:case/b and dir:case/d each notify a listener");
  const std::vector<Code> codes = codes_of(*flat);
  ASSERT_EQ(codes.size(), 2U);
  EXPECT_EQ(program::interpret(codes[0], call(kX8664, 63)), abi::kUserNotif);
  EXPECT_EQ(program::interpret(codes[0], call(kX8664, 60)), kEperm);
  EXPECT_EQ(program::interpret(codes[0], call(kX8664, 95)), abi::kAllow);
  EXPECT_EQ(program::interpret(codes[1], call(kX8664, 95)), abi::kUserNotif);
  EXPECT_EQ(program::interpret_stack(codes, call(kX8664, 63)), kEperm);
}

TEST(ExactStack, CutsAFunctionThatIsTooLong) {
  const PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  const policy::Policy policy = with_values(4500);
  ASSERT_TRUE(add_layer(stack, read::Layer{{"oci", "case"}, policy}, options, diagnostics));
  const auto flat = flatten_to_stack(stack, options);
  ASSERT_TRUE(flat) << flat.error().what;
  EXPECT_EQ(flat->why, "one program has at most 4096 instructions");
  const std::vector<Code> codes = codes_of(*flat);
  ASSERT_EQ(codes.size(), 2U);
  for (const policy::Rule& rule : policy.rules) {
    abi::SeccompData data = call(kX8664, 16);
    data.args[1] = rule.all_of[0].value;
    ASSERT_EQ(program::interpret_stack(codes, data), abi::kErrno | 25) << data.args[1];
  }
}

TEST(ExactStack, ThreeThousandScatteredValuesFitInOne) {
  const PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  ASSERT_TRUE(add_layer(stack, read::Layer{{"oci", "case"}, with_values(3000)}, options, diagnostics));
  const auto flat = flatten(stack, options);
  ASSERT_TRUE(flat) << flat.error().what;
  EXPECT_LE(flat->program.view().size(), 3500U);
}

TEST(ExactStack, SaysWhichLayerIsTooMuch) {
  PipelineOptions options;
  options.diagram.edges = 60'000;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  ASSERT_TRUE(add_layer(stack, read::Layer{{"oci", "small"}, with_values(2)}, options, diagnostics));
  ASSERT_TRUE(add_layer(stack, read::Layer{{"oci", "large"}, with_values(4500)}, options, diagnostics));
  const auto flat = flatten_to_stack(stack, options);
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code, make_error_code(Errc::budget));
  EXPECT_NE(flat.error().what.find("more than 60000 diagram edges"), std::string::npos) << flat.error().what;
  EXPECT_NE(flat.error().what.find("that of oci:large, "), std::string::npos) << flat.error().what;
}

TEST(ExactStack, EmitsAFunctionInAsManyProgramsAsItTakes) {
  const PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  ASSERT_TRUE(add_layer(stack, read::Layer{{"oci", "case"}, with_values(10)}, options, diagnostics));
  const auto codes = emit_programs(*stack.store, stack.layers[0].node, options.emit);
  ASSERT_TRUE(codes) << codes.error().what;
  EXPECT_EQ(codes->size(), 1U);
}

}  // namespace
}  // namespace seccompress::test
