// SPDX-License-Identifier: Apache-2.0
#include "program/cache_report.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::test {
namespace {

TEST(CacheReport, HasNativeLinesThenCompatOnesAndNumbersExemptFromSeccomp) {
  // read (x86_64 0) is refused; i386 calls are not told apart.
  const std::vector<Code> stack = {{ld(abi::kArch), jeq(kX8664, 1, 0), ret(abi::kAllow), ld(abi::kNr), jeq(0, 0, 1),
                                    ret(abi::kErrno | 1), ret(abi::kAllow)},
                                   {ld(abi::kNr), jeq(1, 0, 1), ret(abi::kErrno | 1), ret(abi::kAllow)}};
  const auto arches = program::predict_cache(stack, {3, {1}});
  EXPECT_EQ(program::cache_report(arches),
            "x86_64 0 FILTER\nx86_64 1 ALLOW\nx86_64 2 ALLOW\nia32 0 ALLOW\nia32 1 FILTER\nia32 2 ALLOW\n");
  EXPECT_EQ(arches[0].count(), 2U);
}

TEST(CacheReport, KnowsNumbersAndExemptionsByVersion) {
  EXPECT_EQ(program::cache_kernel(5, 10).numbers, 0U);
  EXPECT_EQ(program::cache_kernel(6, 1).numbers, 451U);
  EXPECT_TRUE(program::cache_kernel(6, 1).exempt.empty());
  EXPECT_EQ(program::cache_kernel(6, 12).numbers, 463U);
  EXPECT_EQ(program::cache_kernel(6, 12).exempt, (std::vector<std::uint32_t>{335}));
  EXPECT_EQ(program::cache_kernel(6, 18).exempt, (std::vector<std::uint32_t>{335, 336}));
}

}  // namespace
}  // namespace seccompress::test
