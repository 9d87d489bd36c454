// SPDX-License-Identifier: Apache-2.0
// Our lowering beside libseccomp's build of the same policy, where libseccomp's answer is the rules': simple sets of EQ
// and MASKED_EQ conditions with one verdict a call. On 32-bit architectures and x32 it compares low words only: calls
// have no high halves there, and neither have the random policies. Its numbers for calls that do not exist (-1xx and
// below) are left out.
#include <gtest/gtest.h>
#include <seccomp.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "abi/multiplex.h"
#include "abi/syscalls.h"
#include "policy/evaluate.h"
#include "policy/print.h"
#include "read/reader.h"
#include "support/file.h"
#include "support/libseccomp_build.h"
#include "support/paths.h"
#include "support/policy_inputs.h"
#include "support/policy_text.h"
#include "support/random_policy.h"

namespace seccompress::test {
namespace {

// To libseccomp x32 is a 32-bit architecture and it compares low words there; its registers have 64 bits.
bool is_x32(Number number) {
  return number.audit == abi::facts(abi::Arch::x86_64).audit && (number.nr & abi::kX32Bit) != 0;
}

bool is_pseudo(std::uint32_t nr) { return nr >= 0xffff0000U && nr != UINT32_MAX; }

void clear_high_halves(abi::SeccompData& call) {
  for (auto& argument : call.args) argument &= UINT32_MAX;
}

// Numbers whose rules libseccomp may not take as they are written: conditional rules of several verdicts, or several
// conditional rules one of which compares otherwise than by EQ and MASKED_EQ.
bool is_risky(const policy::Policy& policy, Number number) {
  std::size_t conditional = 0;
  bool ordered = false, multiplexed = false;
  std::vector<abi::Verdict> verdicts;
  for (const abi::Arch arch : policy.architectures) {
    if (abi::facts(arch).audit != number.audit) continue;
    for (const policy::Rule& rule : policy.rules) {
      if (rule.verdict == policy.default_verdict) continue;
      for (const std::string& name : rule.names) {
        const auto through = abi::multiplexed_call(arch, name);
        const bool by_mux = through && through->number == number.nr;
        if (!by_mux && abi::syscall_number(arch, name) != number.nr) continue;
        multiplexed = multiplexed || by_mux;
        if (by_mux || !rule.all_of.empty()) ++conditional;
        verdicts.push_back(rule.verdict);
        for (const policy::Condition& condition : rule.all_of)
          ordered = ordered || (condition.op != policy::Operator::eq && condition.op != policy::Operator::masked_eq);
      }
    }
  }
  std::sort(verdicts.begin(), verdicts.end());
  const bool mixed = std::unique(verdicts.begin(), verdicts.end()) - verdicts.begin() > 1;
  return conditional > 0 && (mixed || (conditional > 1 && ordered));
}

struct Comparison {
  std::size_t calls = 0, risky_calls = 0, risky_differences = 0;
  std::vector<std::string> differences;
};

Comparison compare(const policy::Policy& policy, const program::Code& theirs, const std::vector<Number>& numbers,
                   std::size_t limit, Random& random) {
  Comparison comparison;
  for (const Number& number : numbers) {
    if (is_pseudo(number.nr)) continue;
    const bool risky = is_risky(policy, number);
    for (abi::SeccompData call : calls_of(policy, number, limit, random)) {
      if (is_x32(number)) clear_high_halves(call);
      ++(risky ? comparison.risky_calls : comparison.calls);
      const abi::Verdict ours = policy::evaluate(policy, call), other = program::interpret(theirs, call);
      if (abi::normalize(ours) == abi::normalize(other)) continue;
      if (risky) {
        ++comparison.risky_differences;
        continue;
      }
      std::string text = abi::audit_name(number.audit) + ' ' + abi::syscall_label(number.audit, number.nr) + '(';
      for (const auto argument : call.args) text += std::to_string(argument) + ' ';
      comparison.differences.push_back(text + "): ours " + abi::to_string(ours) + ", libseccomp " +
                                       abi::to_string(other));
    }
  }
  return comparison;
}

// What 2.5.4 gets right at random: one verdict in all rules, one EQ or MASKED_EQ condition a rule, values of 32 bits
// (with more conditions it loses rules whose mask has an empty half, or forgets to load an argument again); calls that
// every architecture has (one that is absent can cost its neighbour the load of nr), and none that is multiplexed.
// Architectures are such as one filter can hold.
void simplify(policy::Rule& rule) {
  rule.numbers.clear();
  if (rule.all_of.size() > 1) rule.all_of.resize(1);
  for (policy::Condition& condition : rule.all_of) {
    if (condition.op == policy::Operator::masked_eq) condition.value |= 4;
    condition.low_word = false;
    condition.value &= UINT32_MAX;
    condition.value_two &= UINT32_MAX;
  }
  for (std::string& name : rule.names)
    if (name != "read" && name != "write") name = name.size() % 2 == 0 ? "personality" : "openat";
}

policy::Policy agreeable_policy(Random& random) {
  policy::Policy policy = random_policy(random, {.rules = 8, .conditions = 2, .only_equality = true, .enosys = false});
  std::erase_if(policy.architectures, [](abi::Arch arch) { return abi::is_big_endian(arch); });
  if (policy.architectures.empty() || random() % 2 == 0) policy.architectures = {abi::Arch::x86_64};
  const abi::Verdict verdict = policy.default_verdict == abi::kAllow ? abi::kErrno | 7 : abi::kAllow;
  for (policy::Rule& rule : policy.rules) {
    rule.verdict = verdict;
    simplify(rule);
  }
  if (policy.bad_arch_verdict == abi::kUserNotif) policy.bad_arch_verdict = abi::kKillThread;
  return policy;
}

TEST(Libseccomp, AgreesOnSetsOfEqualities) {
  Random random(seed_or(11));
  std::size_t calls = 0, refused = 0;
  for (int i = 0; i < 300; ++i) {
    const policy::Policy policy = agreeable_policy(random);
    const auto theirs = build_with_libseccomp(policy);
    if (!theirs) {
      ASSERT_EQ(theirs.error(), LibseccompFailure::refused) << policy::to_string(policy);
      ++refused;
      continue;
    }
    const Comparison comparison = compare(policy, *theirs, named_numbers(policy), 200, random);
    ASSERT_TRUE(comparison.differences.empty()) << comparison.differences[0] << '\n' << policy::to_string(policy);
    calls += comparison.calls;
  }
  std::printf("%zu calls, %zu policies refused\n", calls, refused);
  EXPECT_LT(refused, 60U);
  EXPECT_GT(calls, 10'000U);
}

TEST(Libseccomp, AgreesOnTheWholeNumberSpace) {
  Random random(seed_or(12));
  for (const char* text : {"default ERRNO(1); ALLOW read; ALLOW socket", "arch x32; default KILL_PROCESS; ALLOW read",
                           "arch x86 x32 aarch64; default ERRNO(38); ALLOW socket; ALLOW shmat; ALLOW openat a1==5"}) {
    const policy::Policy policy = parse_policy(text).value();
    const auto theirs = build_with_libseccomp(policy);
    ASSERT_TRUE(theirs) << text;
    const Comparison comparison = compare(policy, *theirs, numbers_of(policy), 50, random);
    EXPECT_TRUE(comparison.differences.empty()) << comparison.differences[0] << '\n' << text;
  }
}

// Debian 12's libseccomp does not return from these rules: the child's limit works, and ours answers.
TEST(Libseccomp, ACompilerThatNeverReturnsIsKilled) {
  const policy::Policy policy =
      parse_policy("ERRNO(1) personality a1<=5 && a2>1; ERRNO(1) personality a1<=5 && a2==0").value();
  const auto theirs = build_with_libseccomp(policy, 1);
  const scmp_version version = *seccomp_version();
  if (version.major != 2 || version.minor != 5) GTEST_SKIP() << "known of 2.5 only";
  ASSERT_FALSE(theirs);
  EXPECT_EQ(theirs.error(), LibseccompFailure::hung);
  Random random(1);
  const Agreement ours = compare_lowering(policy, named_numbers(policy), 1000, random);
  EXPECT_FALSE(ours.disagreement) << *ours.disagreement;
}

// A line of libseccomp_refused.tsv.
std::string no_filter(const std::string& path, LibseccompFailure failure, const Diagnostics& diagnostics) {
  if (failure == LibseccompFailure::hung) return path + "\thung\t";
  std::string why;
  for (const Diagnostic& one : diagnostics.all())
    if (one.what.starts_with("libseccomp refuses")) why = one.code;
  return path + "\trefused\t" + why;
}

// Those of libseccomp_refused.tsv of one kind.
std::set<std::string> expected_without_filter(const std::string& kind) {
  std::istringstream file(
      read_file(std::string(kTestData) + "/differential/libseccomp_refused.tsv", 1U << 20U).value());
  std::set<std::string> expected;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kind + '/')) expected.insert(line);
  return expected;
}

// Every readable profile of the corpus: equal outside of the risky numbers.
class CorpusBesideLibseccomp : public ::testing::TestWithParam<const char*> {};

TEST_P(CorpusBesideLibseccomp, IsTheSameWhereLibseccompIsRight) {
  const std::string folder = std::string(kCorpus) + '/' + GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus";
  Random random(seed_or(13));
  Comparison sum;
  std::size_t profiles = 0;
  std::set<std::string> without_filter;
  const read::Options options{.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    Diagnostics diagnostics;
    const auto layer = read::read({GetParam(), entry.path()}, options, diagnostics);
    if (!layer) continue;
    const auto& policy = std::get<policy::Policy>(layer->content);
    const auto theirs = build_with_libseccomp(policy);
    if (!theirs) {
      const std::string path = std::filesystem::relative(entry.path(), kCorpus);
      without_filter.insert(no_filter(path, theirs.error(), diagnostics));
      continue;
    }
    ++profiles;
    const Comparison one = compare(policy, *theirs, named_numbers(policy), 60, random);
    sum.calls += one.calls, sum.risky_calls += one.risky_calls, sum.risky_differences += one.risky_differences;
    EXPECT_TRUE(one.differences.empty()) << entry.path() << ": " << one.differences.size() << ", "
                                         << one.differences[0];
  }
  std::printf("%zu profiles, %zu calls; %zu calls of risky numbers, %zu of them differ; %zu without a filter\n",
              profiles, sum.calls, sum.risky_calls, sum.risky_differences, without_filter.size());
  EXPECT_EQ(without_filter, expected_without_filter(GetParam()));
  EXPECT_GT(profiles, 40U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CorpusBesideLibseccomp, ::testing::Values("oci", "docker"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace seccompress::test
