// SPDX-License-Identifier: Apache-2.0
// Law: for every policy and call, policy::evaluate == the diagram == the naive reference program.
#include <gtest/gtest.h>

#include "lower/lower.h"
#include "program/program.h"
#include "support/policy_inputs.h"
#include "support/random_policy.h"

namespace seccompress::test {
namespace {

void expect_agreement(const PolicyShape& shape, std::size_t policies, std::uint64_t fallback_seed) {
  Random random(seed_or(fallback_seed));
  std::size_t calls = 0;
  for (std::size_t i = 0; i < policies; ++i) {
    const policy::Policy policy = random_policy(random, shape);
    const Agreement agreement = compare_lowering(policy, named_numbers(policy), 300, random);
    ASSERT_FALSE(agreement.disagreement) << *agreement.disagreement;
    calls += agreement.calls;
  }
  std::printf("%zu policies, %zu calls\n", policies, calls);
  EXPECT_GT(calls, policies * 10);
}

TEST(LowerAgreesWithReference, OnManyArchitectures) { expect_agreement({}, 800, 1); }
TEST(LowerAgreesWithReference, WithManyConditionsOnOneCall) {
  expect_agreement({.rules = 12, .conditions = 6, .many_architectures = false, .enosys = false}, 800, 2);
}
TEST(LowerAgreesWithReference, WithEqualityAlone) {
  expect_agreement({.rules = 20, .conditions = 2, .many_architectures = false, .only_equality = true}, 500, 3);
}

TEST(LowerAgreesWithReference, OnTheWholeNumberSpace) {
  Random random(seed_or(4));
  for (int i = 0; i < 40; ++i) {
    const policy::Policy policy = random_policy(random, {});
    const Agreement agreement = compare_lowering(policy, numbers_of(policy), 16, random);
    ASSERT_FALSE(agreement.disagreement) << *agreement.disagreement;
  }
}

TEST(LowerAgreesWithReference, TheReferenceIsAlwaysACheckedProgramOrTooLong) {
  Random random(seed_or(5));
  for (int i = 0; i < 300; ++i) {
    const program::Code code = lower::reference_program(random_policy(random, {}));
    if (code.size() > program::kMaxInstructions) continue;
    ASSERT_TRUE(program::check(code)) << program::disassemble(code);
  }
}

}  // namespace
}  // namespace seccompress::test
