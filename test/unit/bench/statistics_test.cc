// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace seccompress::bench {
namespace {

TEST(Spread, OfNothingIsZero) {
  const Spread none = spread({});
  EXPECT_EQ(none.median, 0);
  EXPECT_EQ(none.max, 0);
}

TEST(Spread, OfOneValueIsThatValue) {
  const Spread one = spread({7});
  EXPECT_EQ(one.median, 7);
  EXPECT_EQ(one.min, 7);
  EXPECT_EQ(one.max, 7);
  EXPECT_EQ(one.lower_quartile, 7);
  EXPECT_EQ(one.upper_quartile, 7);
}

TEST(Spread, OfAnOddNumberHasTheMiddleValueAsMedianInAnyOrder) {
  const Spread seven = spread({9, 1, 3, 7, 5, 11, 13});
  EXPECT_EQ(seven.median, 7);
  EXPECT_EQ(seven.min, 1);
  EXPECT_EQ(seven.max, 13);
  EXPECT_EQ(seven.lower_quartile, 4);
  EXPECT_EQ(seven.upper_quartile, 10);
}

TEST(Spread, OfAnEvenNumberHasTheMeanOfTheMiddleTwo) { EXPECT_EQ(spread({4, 1, 3, 100}).median, 3.5); }

TEST(Ratios, PairTheTrialsThatRanNextToEachOther) {
  const std::vector<double> values{10, 30, 50}, reference{5, 10, 100};
  EXPECT_EQ(ratios(values, reference), (std::vector<double>{2, 3, 0.5}));
}

TEST(Ratios, LeaveOutTrialsWithoutAPartnerAndReferencesOfZero) {
  const std::vector<double> values{10, 30, 50}, reference{0, 10};
  EXPECT_EQ(ratios(values, reference), (std::vector<double>{3}));
}

}  // namespace
}  // namespace seccompress::bench
