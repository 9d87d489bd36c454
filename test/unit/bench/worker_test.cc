// SPDX-License-Identifier: Apache-2.0
// Children under real filters.
#include "bench/worker.h"

#include <gtest/gtest.h>

#include <linux/audit.h>
#include <sys/syscall.h>

#include "bench/trials.h"

namespace seccompress::bench {
namespace {

program::Instruction insn(unsigned code, std::uint32_t k, unsigned jt = 0, unsigned jf = 0) {
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(jt), static_cast<std::uint8_t>(jf), k};
}

// Everything allowed but one call, which is answered with `verdict`.
program::VerifiedProgram all_but(std::uint32_t nr, abi::Verdict verdict) {
  return as_verified(program::Code{insn(BPF_LD | BPF_W | BPF_ABS, 0), insn(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
                                   insn(BPF_RET | BPF_K, verdict), insn(BPF_RET | BPF_K, abi::kAllow)})
      .value();
}

TEST(Worker, RunsItsLoopsUnfilteredAndUnderAStack) {
  const std::vector<Variant> variants{
      {"none", {}}, {"two", {all_but(SYS_acct, abi::kErrno | 1), all_but(SYS_reboot, abi::kErrno | 1)}}};
  for (const Loop loop : {Loop::five_calls, Loop::getpid}) {
    int asked = 0;
    const auto rows = measure_rates(variants, loop, {3, 0.001}, [&](double) { ++asked; });
    ASSERT_TRUE(rows) << to_string(rows.error());
    EXPECT_EQ(asked, 6);
    ASSERT_EQ(rows->size(), 2U);
    for (const Row& row : *rows) {
      ASSERT_EQ(row.trials.size(), 3U);
      for (const double rate : row.trials) EXPECT_GT(rate, 0);
    }
  }
}

TEST(Worker, ThatItsFiltersKillSaysSo) {
  const auto worker = Worker::start(std::vector{all_but(SYS_dup, abi::kKillProcess)});
  ASSERT_TRUE(worker);
  const auto rounds = (*worker)->run(Loop::five_calls, 0.001);
  ASSERT_FALSE(rounds);
  EXPECT_NE(rounds.error().what.find("killed by its filters"), std::string::npos) << rounds.error().what;
}

TEST(Worker, ThatMayNotInstallItsSecondFilterNamesIt) {
  const auto worker =
      Worker::start(std::vector{all_but(SYS_prctl, abi::kErrno | 1), all_but(SYS_acct, abi::kErrno | 1)});
  ASSERT_FALSE(worker);
  EXPECT_NE(worker.error().what.find("filter 1 of 2"), std::string::npos) << worker.error().what;
}

TEST(Installing, TakesTimeInAChildOfItsOwn) {
  const auto time = install_microseconds(std::vector{all_but(SYS_acct, abi::kErrno | 1)});
  ASSERT_TRUE(time) << to_string(time.error());
  EXPECT_GT(*time, 0);
}

}  // namespace
}  // namespace seccompress::bench
