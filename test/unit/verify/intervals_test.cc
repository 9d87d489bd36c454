// SPDX-License-Identifier: Apache-2.0
#include "verify/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/program_builder.h"
#include "verify/subject.h"

namespace seccompress::verify {
namespace {

// What all values of a range answer; nullopt: not the same.
std::optional<bool> by_trying(Relation relation, std::uint32_t first, std::uint32_t last, std::uint32_t mask,
                              std::uint32_t constant) {
  const bool answer = holds(relation, first & mask, constant);
  for (std::uint32_t value = first; value <= last; ++value)
    if (holds(relation, value & mask, constant) != answer) return std::nullopt;
  return answer;
}

TEST(Intervals, AnswerForARangeIsThatOfEachOfItsValues) {
  std::size_t decided = 0, decidable = 0;
  for (const Relation relation : {Relation::equal, Relation::greater, Relation::greater_equal, Relation::any_bit})
    for (std::uint32_t first = 0; first < 16; ++first)
      for (std::uint32_t last = first; last < 16; ++last)
        for (std::uint32_t mask = 0; mask < 16; ++mask)
          for (std::uint32_t constant = 0; constant < 16; ++constant) {
            const auto all = by_trying(relation, first, last, mask, constant);
            const auto said = holds_for_all(relation, first, last, mask, constant);
            decidable += all ? 1U : 0U;
            decided += said ? 1U : 0U;
            ASSERT_TRUE(!said || said == all) << first << '-' << last << " & " << mask << " ? " << constant;
          }
  EXPECT_GT(5 * decided, 2 * decidable);  // the rest is executed symbolically
}

TEST(Intervals, ABitThatARangeSharesMayBeTakenAway) {
  EXPECT_EQ(holds_for_all(Relation::greater_equal, 0x40000005, 0x40000009, 0xbfffffff, 5), true);
  EXPECT_EQ(holds_for_all(Relation::greater_equal, 0x40000005, 0x40000009, 0xbfffffff, 6), std::nullopt);
  EXPECT_EQ(holds_for_all(Relation::equal, 0x40000005, 0x40000009, 0xbfffffff, 10), false);
  EXPECT_EQ(holds_for_all(Relation::greater, 0x3fffffff, 0x40000000, 0xbfffffff, 5), std::nullopt);
}

// x32 numbers that are tested as native ones: the same cuts where the bit is set.
TEST(Cuts, OfANumberWithoutOneBitAreMadeTwice) {
  using namespace seccompress::test;
  const Code code = {ld(abi::kNr), jge(0x40000000, 0, 1), alu(BPF_AND, 0xbfffffff),
                     jge(7, 0, 1), ret(abi::kAllow),      ret(abi::kErrno | 1)};
  Cuts nr, arch;
  Subject(code).collect(nr, arch);
  for (const std::uint32_t cut : {7U, 0x40000000U, 0x40000007U})
    EXPECT_EQ(std::count(nr.ranges.begin(), nr.ranges.end(), cut), 1) << cut;
}

}  // namespace
}  // namespace seccompress::verify
