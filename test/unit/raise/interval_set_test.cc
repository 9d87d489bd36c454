// SPDX-License-Identifier: Apache-2.0
#include "raise/interval_set.h"

#include <gtest/gtest.h>

namespace seccompress::raise {
namespace {

std::string text(const IntervalSet& set) {
  std::string result;
  for (const Interval& interval : set.intervals())
    result += std::to_string(interval.first) + '-' + std::to_string(interval.last) + ' ';
  return result;
}

TEST(IntervalSet, TakesSingleValuesFromAnywhere) {
  IntervalSet set = IntervalSet::all();
  EXPECT_TRUE(set.take(0));
  EXPECT_TRUE(set.take(5));
  EXPECT_TRUE(set.take(0xffffffff));
  EXPECT_FALSE(set.take(5));
  EXPECT_EQ(text(set), "1-4 6-4294967294 ");
}

TEST(IntervalSet, SplitsAtABound) {
  IntervalSet set = IntervalSet::all();
  ASSERT_TRUE(set.take(10));
  const IntervalSet upper = set.take_at_least(7);
  EXPECT_EQ(text(set), "0-6 ");
  EXPECT_EQ(text(upper), "7-9 11-4294967295 ");
  EXPECT_TRUE(set.take_at_least(7).empty());
}

TEST(IntervalSet, AddsWhatItDoesNotHold) {
  IntervalSet set = IntervalSet::all();
  IntervalSet upper = set.take_at_least(100);
  ASSERT_TRUE(set.take(50));
  upper.add(50);
  upper.add(std::move(set));
  EXPECT_EQ(text(upper), "0-49 50-50 51-99 100-4294967295 ");
}

}  // namespace
}  // namespace seccompress::raise
