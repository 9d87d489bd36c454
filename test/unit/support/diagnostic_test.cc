// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostic.h"

#include <gtest/gtest.h>

#include "support/result.h"

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

TEST(Messages, LeaveOutTheMiddleOfWhatIsTooLong) {
  EXPECT_EQ(without_middle(std::string(4000, 'x')), std::string(4000, 'x'));
  EXPECT_EQ(without_middle("a" + std::string(10'000, 'x') + "b"),
            "a" + std::string(2999, 'x') + " [6002 bytes left out] " + std::string(999, 'x') + "b");
  std::string umlauts;
  for (int i = 0; i < 5001; ++i) umlauts += "\u00fc";
  umlauts += 'b';
  const std::string cut = without_middle(umlauts);
  EXPECT_EQ(cut.find("[6004 bytes left out]"), 3001U) << cut;
  EXPECT_LT(to_string(Error{make_error_code(Errc::refused), std::string(1U << 20U, 'x')}).size(), 5000U);
  EXPECT_LT(to_string(Diagnostic{Severity::error, "code", {}, std::string(1U << 20U, 'x'), ""}).size(), 5000U);
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
