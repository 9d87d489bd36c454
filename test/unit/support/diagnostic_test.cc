// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostic.h"

#include <gtest/gtest.h>

namespace seccompress {
namespace {

Location nowhere() { return {}; }

TEST(Diagnostics, AnErrorIsKeptHoweverManyWarningsCameFirst) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < 2 * Diagnostics::kLimit; ++i) diagnostics.warning("w", nowhere(), "warning");
  diagnostics.error("e", nowhere(), "the cause");
  EXPECT_EQ(diagnostics.error_count(), 1U);
  EXPECT_EQ(diagnostics.dropped(), Diagnostics::kLimit);
  ASSERT_EQ(diagnostics.all().size(), Diagnostics::kLimit + 1);
  EXPECT_EQ(diagnostics.all().back().what, "the cause");
}

TEST(Diagnostics, ErrorsAreBoundedToo) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < Diagnostics::kLimit + 5; ++i) diagnostics.error("e", nowhere(), "error");
  EXPECT_EQ(diagnostics.error_count(), Diagnostics::kLimit + 5);
  EXPECT_EQ(diagnostics.dropped(), 5U);
  EXPECT_EQ(diagnostics.all().size(), Diagnostics::kLimit);
}

}  // namespace
}  // namespace seccompress
