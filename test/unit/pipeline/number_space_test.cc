// SPDX-License-Identifier: Apache-2.0
// The whole pipeline on programs that treat the number space in their own ways: the flat program answers as they do,
// holes included; it mends nothing silently.
#include <gtest/gtest.h>

#include "pipeline.h"
#include "support/program_builder.h"

namespace seccompress::test {
namespace {

constexpr abi::Verdict kEperm = abi::kErrno | 1, kEnosys = abi::kErrno | 38;
constexpr std::uint32_t kX32Execve = 0x4000003b;

struct Expectation {
  std::uint32_t arch, nr;
  abi::Verdict verdict;
};

void expect(const Code& code, std::initializer_list<Expectation> expectations) {
  const PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  read::Layer layer{{"bpf", "case"}, std::vector<read::NamedFilter>{{"case", code}}};
  ASSERT_TRUE(add_layer(stack, std::move(layer), options, diagnostics));
  const auto flat = flatten(stack, options);
  ASSERT_TRUE(flat) << flat.error().what;
  for (const Expectation& expected : expectations)
    EXPECT_EQ(program::interpret(flat->program.view(), call(expected.arch, expected.nr)), expected.verdict)
        << std::hex << expected.arch << ' ' << expected.nr;
}

TEST(NumberSpace, AnAllowListWithoutAnX32GuardRefusesX32Numbers) {
  expect({ld(abi::kArch), jeq(kX8664, 0, 3), ld(abi::kNr), jge(60, 1, 0), ret(abi::kAllow), ret(kEperm)},
         {{kX8664, 59, abi::kAllow}, {kX8664, kX32Execve, kEperm}, {kI386, 11, kEperm}});
}

TEST(NumberSpace, ADenyListWithoutAnX32GuardKeepsItsHole) {
  expect({ld(abi::kNr), jeq(59, 0, 1), ret(kEperm), ret(abi::kAllow)},
         {{kX8664, 59, kEperm}, {kX8664, kX32Execve, abi::kAllow}, {kI386, 59, kEperm}});
}

TEST(NumberSpace, AnX32GuardByRangeTakesMinusOneWithIt) {
  expect({ld(abi::kNr), jge(0x40000000, 0, 1), ret(kEnosys), ret(abi::kAllow)},
         {{kX8664, 0x3fffffff, abi::kAllow}, {kX8664, 0x40000000, kEnosys}, {kX8664, 0xffffffff, kEnosys}});
}

TEST(NumberSpace, NumbersAreComparedUnsigned) {
  expect({ld(abi::kNr), jgt(0x7fffffff, 0, 1), ret(kEperm), ret(abi::kAllow)},
         {{kX8664, 0x7fffffff, abi::kAllow}, {kX8664, 0x80000000, kEperm}, {kX8664, 0xffffffff, kEperm}});
}

TEST(NumberSpace, AStubForUnknownNumbersStandsBeforeTheFilter) {
  // The shape runc puts in front: numbers above the last known one, x32's left to the filter behind.
  expect({ld(abi::kArch), jeq(kX8664, 0, 4), ld(abi::kNr), jset(0x40000000, 2, 0), jgt(450, 0, 1), ret(kEnosys),
          ld(abi::kNr), jeq(59, 0, 1), ret(abi::kAllow), ret(kEperm)},
         {{kX8664, 1000, kEnosys},
          {kX8664, 450, kEperm},
          {kX8664, 59, abi::kAllow},
          {kX8664, kX32Execve, kEperm},
          {kI386, 1000, kEperm}});
}

TEST(NumberSpace, AnotherArchitectureThatIsAllowedStaysAllowed) {
  expect({ld(abi::kArch), jeq(kX8664, 0, 3), ld(abi::kNr), jeq(59, 0, 1), ret(kEperm), ret(abi::kAllow)},
         {{kX8664, 59, kEperm}, {kI386, 11, abi::kAllow}, {0xc00000b7, 59, abi::kAllow}});
}

TEST(NumberSpace, EachArchitectureHasItsOwnNumbers) {
  expect({ld(abi::kArch), jeq(kI386, 0, 3), ld(abi::kNr), jeq(11, 0, 1), ret(kEperm), ret(abi::kAllow)},
         {{kI386, 11, kEperm}, {kX8664, 11, abi::kAllow}, {kI386, 59, abi::kAllow}});
}

}  // namespace
}  // namespace seccompress::test
