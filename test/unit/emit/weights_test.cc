// SPDX-License-Identifier: Apache-2.0
#include "emit/weights.h"

#include <gtest/gtest.h>

namespace seccompress::emit {
namespace {

constexpr std::uint32_t kX8664 = 0xc000003eU, kI386 = 0x40000003U;

TEST(Weights, ReadsTwoColumnsForEveryArchitecture) {
  Diagnostics diagnostics;
  const auto weights = Weights::parse("# comment\nopenat\t30\nread 12.5\n", "w.tsv", diagnostics);
  ASSERT_TRUE(weights);
  const NumberWeights native = weights->numbers(kX8664);
  EXPECT_NEAR(native.of_range(257, 257), 30, 0.01);
  EXPECT_NEAR(native.of_range(0, 300), 42.5, 0.5);
  EXPECT_NEAR(weights->numbers(kI386).of_range(295, 295), 30, 0.01);
  EXPECT_LT(native.of_range(1, 1), 1) << "calls that are not named keep a floor";
  EXPECT_GT(native.of_range(1, 1), 0);
  EXPECT_GT(native.of_range(0x40000000, 0x40000000), 0);
}

TEST(Weights, ReadsStraceCounts) {
  Diagnostics diagnostics;
  const auto weights = Weights::parse(
      "% time     seconds  usecs/call     calls    errors syscall\n"
      "------ ----------- ----------- --------- --------- ----------------\n"
      " 50.00    0.000010           1       120        10 openat\n"
      " 50.00    0.000010           1        80           read\n"
      "100.00    0.000020           1       200        10 total\n",
      "strace", diagnostics);
  ASSERT_TRUE(weights);
  EXPECT_NEAR(weights->numbers(kX8664).of_range(257, 257), 120, 0.1);
  EXPECT_NEAR(weights->numbers(kX8664).of_range(0, 0), 80, 0.1);
}

TEST(Weights, TheDefaultTableIsCompiledIn) {
  EXPECT_GT(Weights::built_in().numbers(kX8664).of_range(257, 257), 1000);
  EXPECT_DOUBLE_EQ(Weights::uniform().numbers(kX8664).of_range(0, 9), 10);
}

TEST(Weights, NamesTheLineThatIsWrong) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Weights::parse("read 1\nopenat many\n", "w.tsv", diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "weights-row");
  EXPECT_EQ(diagnostics.all()[0].where.line, 2);
}

TEST(Weights, WarnsOfUnknownNames) {
  Diagnostics diagnostics;
  EXPECT_TRUE(Weights::parse("frobnicate 1\n", "w.tsv", diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "unknown-syscall");
}

}  // namespace
}  // namespace seccompress::emit
