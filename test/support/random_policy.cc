// SPDX-License-Identifier: Apache-2.0
#include "support/random_policy.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace seccompress::test {
namespace {

using abi::Arch;
using policy::Condition;
using policy::Operator;

constexpr std::array kArches = {Arch::x86_64, Arch::x32, Arch::x86, Arch::aarch64, Arch::ppc64le, Arch::s390x};
// Plain, multiplexed, multiplexing, and unknown on some of the architectures.
constexpr std::array<std::string_view, 12> kNames = {"read",       "write",  "personality", "socket",
                                                     "socketcall", "send",   "shmat",       "ipc",
                                                     "open",       "accept", "recvmmsg",    "no_such_call"};
constexpr std::array<std::uint32_t, 5> kNumbers = {0, 102, 0x40000000, 0xffffff97, 0xfffffffe};
constexpr std::array<std::uint64_t, 16> kValues = {
    0,          1,           2,           3,           5,
    7,          8,           11,          0x7fffffff,  0x80000000,
    0xffffffff, 0x100000000, 0x100000001, 0x1fffffffe, 0xffffffff00000000,
    UINT64_MAX};
constexpr std::array<abi::Verdict, 10> kVerdicts = {
    abi::kAllow,       abi::kErrno | 1, abi::kErrno | 2, abi::kErrno | 38, abi::kKillThread,
    abi::kKillProcess, abi::kLog,       abi::kTrace | 7, abi::kTrap,       abi::kUserNotif};

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& choices) {
  return choices[random() % N];
}

Condition random_condition(Random& random, unsigned index, bool only_equality) {
  const auto op =
      only_equality ? (random() % 2 == 0 ? Operator::eq : Operator::masked_eq) : static_cast<Operator>(random() % 7);
  return {.index = static_cast<std::uint8_t>(index),
          .op = op,
          .value = pick(random, kValues),
          .value_two = op == Operator::masked_eq ? pick(random, kValues) : 0,
          .where = {},
          .low_word = random() % 4 == 0};
}

policy::Rule random_rule(Random& random, const PolicyShape& shape) {
  policy::Rule rule;
  rule.verdict = pick(random, kVerdicts);
  for (std::size_t i = 1 + random() % 2; i > 0; --i) rule.names.emplace_back(pick(random, kNames));
  if (random() % 4 == 0) rule.numbers = {pick(random, kNumbers)};
  std::array<unsigned, 6> indexes = {0, 1, 2, 3, 4, 5};
  if (random() % 2 == 0) std::shuffle(indexes.begin(), indexes.end(), random);
  const std::size_t count = random() % (shape.conditions + 1);
  for (std::size_t i = 0; i < count; ++i)
    rule.all_of.push_back(random_condition(random, indexes[i], shape.only_equality));
  return rule;
}

}  // namespace

policy::Policy random_policy(Random& random, const PolicyShape& shape) {
  policy::Policy policy;
  policy.source = "random";
  policy.default_verdict = pick(random, kVerdicts);
  policy.bad_arch_verdict = random() % 4 == 0 ? pick(random, kVerdicts) : abi::kKillThread;
  if (!shape.many_architectures)
    policy.architectures = {Arch::x86_64};
  else
    for (const Arch arch : kArches)
      if (random() % 3 != 0) policy.architectures.push_back(arch);
  for (std::size_t i = random() % (shape.rules + 1); i > 0; --i) policy.rules.push_back(random_rule(random, shape));
  if (shape.enosys && random() % 3 == 0)
    for (const Arch arch : policy.architectures)
      policy.enosys_above.push_back(
          {arch, static_cast<std::uint32_t>(random() % 460) | (arch == Arch::x32 ? abi::kX32Bit : 0)});
  return policy;
}

}  // namespace seccompress::test
