// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "policy/evaluate.h"
#include "policy/print.h"
#include "policy/runtime.h"
#include "support/policy_text.h"

namespace seccompress::test {
namespace {

using policy::Condition;
using policy::Operator;
using policy::Runtime;

policy::Policy policy_of(const char* text) { return parse_policy(text).value(); }

abi::Verdict answer(const policy::Policy& policy, std::uint32_t nr, abi::Arch arch = abi::Arch::x86_64) {
  abi::SeccompData data{};
  data.arch = abi::facts(arch).audit;
  data.nr = static_cast<int>(nr);
  return policy::evaluate(policy, data);
}

TEST(InterestingValues, ReachBothSidesOfEveryCondition) {
  for (const Operator op :
       {Operator::ne, Operator::lt, Operator::le, Operator::eq, Operator::ge, Operator::gt, Operator::masked_eq})
    for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{0xffffffff}, std::uint64_t{0x100000001}}) {
      const Condition condition{0, op, value, 1, {}};
      const auto values = policy::interesting_values(condition);
      const auto holding =
          std::count_if(values.begin(), values.end(), [&](std::uint64_t v) { return policy::holds(condition, v); });
      EXPECT_GT(holding, 0) << policy::to_string(condition);
      EXPECT_LT(holding, static_cast<std::ptrdiff_t>(values.size())) << policy::to_string(condition);
    }
}

TEST(Runtime, RuncAddsItsStubAboveTheLastNumberOfEachArchitecture) {
  const policy::Policy policy = policy_of("arch x32; default ERRNO(1); ALLOW read; ERRNO(1) statx");
  const auto runc = policy::apply_runtime(policy, Runtime::runc);
  ASSERT_TRUE(runc);
  EXPECT_EQ(answer(*runc, 332), abi::kErrno | 1);  // statx: the last one, whatever its action
  EXPECT_EQ(answer(*runc, 333), abi::kErrno | 38);
  EXPECT_EQ(answer(*runc, 0x8000014d), abi::kErrno | 38);  // bit 31 without bit 30
  EXPECT_EQ(answer(*runc, 0x4000014c), abi::kErrno | 1);
  EXPECT_EQ(answer(*runc, 0x4000014d), abi::kErrno | 38);
  EXPECT_EQ(answer(*runc, 0xffffffff), abi::kErrno | 38);  // x32's half of the stub sees bit 30
}

TEST(Runtime, WithoutX32TheStubLeavesItsNumbersAlone) {
  const auto runc = policy::apply_runtime(policy_of("default ERRNO(1); ALLOW write"), Runtime::runc);
  EXPECT_EQ(answer(*runc, 2), abi::kErrno | 38);
  EXPECT_EQ(answer(*runc, 0x40000001), abi::kKillThread);
  EXPECT_EQ(answer(*runc, 0xffffffff), abi::kErrno | 1);
}

TEST(Runtime, ThereIsNoStubWhereUnknownCallsRunOrATracerAnswers) {
  for (const char* text :
       {"default ALLOW; ERRNO(1) read", "default LOG; ERRNO(1) read", "default TRACE(1); ERRNO(1) read"})
    EXPECT_TRUE(policy::apply_runtime(policy_of(text), Runtime::runc)->enosys_above.empty()) << text;
  for (const char* text : {"default KILL_PROCESS; ALLOW write", "default TRAP; ALLOW write"})
    EXPECT_EQ(policy::apply_runtime(policy_of(text), Runtime::runc)->enosys_above.size(), 1U) << text;
}

TEST(Runtime, AnArchitectureThatTheProfileDoesNotListGetsNoStubBefore1_1_13) {
  policy::Policy policy = policy_of("arch x86; default ERRNO(1); ALLOW write");
  policy.native_added = true;
  EXPECT_EQ(policy::apply_runtime(policy, Runtime::runc, {1, 1, 5})->enosys_above.size(), 1U);
  EXPECT_EQ(policy::apply_runtime(policy, Runtime::runc, {1, 1, 13})->enosys_above.size(), 2U);
}

// patchbpf takes a largest number of 0 (x86_64's read) for an architecture without calls.
TEST(Runtime, AProfileOfReadAloneGetsNoStub) {
  EXPECT_TRUE(policy::apply_runtime(policy_of("default ERRNO(1); ALLOW read"), Runtime::runc)->enosys_above.empty());
}

TEST(Runtime, CallsThatLibseccompMultiplexesDoNotRaiseTheLastNumber) {
  const auto runc =
      policy::apply_runtime(policy_of("arch x86; default ERRNO(1); ALLOW read; ALLOW shutdown"), Runtime::runc);
  EXPECT_EQ(answer(*runc, 373, abi::Arch::x86), abi::kErrno | 38);  // shutdown is 373, read 3
}

TEST(Runtime, CrunAndYoukiAddNothing) {
  const policy::Policy policy = policy_of("default ERRNO(1); ALLOW read");
  for (const Runtime runtime : {Runtime::none, Runtime::crun, Runtime::youki})
    EXPECT_EQ(policy::to_string(*policy::apply_runtime(policy, runtime)), policy::to_string(policy));
}

TEST(Runtime, RuncRefusesNotificationsThatCouldNeverBeHandedOver) {
  EXPECT_FALSE(policy::apply_runtime(policy_of("default USER_NOTIF"), Runtime::runc));
  EXPECT_FALSE(policy::apply_runtime(policy_of("USER_NOTIF write"), Runtime::runc));
  EXPECT_FALSE(policy::apply_runtime(policy_of("USER_NOTIF mount"), Runtime::runc));
  policy::Policy with_listener = policy_of("USER_NOTIF mount");
  with_listener.listener_path = "/run/x.sock";
  EXPECT_TRUE(policy::apply_runtime(with_listener, Runtime::runc));
}

}  // namespace
}  // namespace seccompress::test
