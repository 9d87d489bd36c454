// SPDX-License-Identifier: Apache-2.0
#include "opaque/specialise.h"

#include <gtest/gtest.h>

#include "opaque/cells.h"
#include "support/program_builder.h"
#include "support/wild_code.h"

namespace seccompress::opaque {
namespace {

using namespace seccompress::test;
using abi::kAllow;
using abi::kErrno;

constexpr Cell kExecve{{kX8664, kX8664}, {59, 59}};

TEST(Specialise, WhatTheNumberDecidesFoldsAway) {
  Graph graph;
  const program::Code code = {ld(abi::kNr),   tax(),           ldx_imm(2), alu_x(BPF_MUL),
                              jeq(118, 0, 1), ret(kErrno | 1), ret(kAllow)};
  const OpId root = specialise(graph, code, kExecve);
  ASSERT_TRUE(graph.is_verdict(root));
  EXPECT_EQ(graph[root].k, kErrno | 1);
  EXPECT_FALSE(graph.is_verdict(specialise(graph, code, {})));
}

TEST(Specialise, RangesDecideTests) {
  Graph graph;
  const program::Code code = {ld(abi::kNr), jge(100, 0, 1), ret(kErrno | 1), alu(BPF_AND, 0x40000000),
                              jeq(0, 0, 1), ret(kAllow),    ret(kErrno | 2)};
  EXPECT_EQ(graph[specialise(graph, code, {{}, {5, 99}})].k, kAllow);
  EXPECT_EQ(graph[specialise(graph, code, {{}, {100, 0xffffffff}})].k, kErrno | 1);
}

TEST(Specialise, WhatNothingReadsIsGone) {
  Graph graph;
  const program::Code code = {ld(4),           st(0),      ld(6), st(1), tax(), ld_mem(0), jump_x(BPF_JEQ, 0, 1),
                              ret(kErrno | 1), ret(kAllow)};
  const program::Code less = {ld(4),           st(0),      ld(6), tax(), ld_mem(0), jump_x(BPF_JEQ, 0, 1),
                              ret(kErrno | 1), ret(kAllow)};
  EXPECT_EQ(specialise(graph, code, {}), specialise(graph, less, {}));
}

TEST(Specialise, AnEntryOfZerosIsMadeSo) {
  Graph graph;
  const program::Code code = {ld(4), jump_x(BPF_JEQ, 0, 1), ret(kErrno | 1), ret(kAllow)};
  const OpId root = specialise(graph, code, {});
  EXPECT_EQ(graph.reads(root), 0U);
  EXPECT_EQ(graph.run(root, call(kX8664, 1, 0)), kErrno | 1);
}

TEST(PlaneOf, CutsWhereTestsChange) {
  const Plane plane = plane_of(
      program::Code{ld(abi::kArch), jeq(kX8664, 0, 3), ld(abi::kNr), jgt(10, 0, 1), ret(kErrno | 1), ret(kAllow)});
  ASSERT_EQ(plane.arch.size(), 3U);
  EXPECT_EQ(plane.arch[1].first, kX8664);
  ASSERT_EQ(plane.nr.size(), 2U);
  EXPECT_EQ(plane.nr[1].first, 11U);
}

TEST(Specialise, GivesWhatTheProgramGivesInItsCell) {
  Random random(seed_or(41));
  const WildShape shape{.length = 16, .computed_verdicts = true};
  for (int i = 0; i < 300; ++i) {
    const program::Code code = wild_code(random, shape);
    Graph graph;
    for (int k = 0; k < 20; ++k) {
      const abi::SeccompData data = wild_data(random, std::vector<program::Code>{code}, shape);
      const auto nr = static_cast<std::uint32_t>(data.nr);
      const Cell cell{{data.arch, data.arch},
                      {nr, nr > 0xfffffff0U ? nr : nr + static_cast<std::uint32_t>(random() % 3)}};
      const OpId root = specialise(graph, code, cell);
      ASSERT_EQ(graph.reads(root), 0U);
      ASSERT_EQ(abi::normalize(graph.run(root, data)), abi::normalize(program::interpret(code, data)))
          << program::disassemble(code);
    }
  }
}

}  // namespace
}  // namespace seccompress::opaque
