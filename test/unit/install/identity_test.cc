// SPDX-License-Identifier: Apache-2.0
#include "install/identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace seccompress::install {
namespace {

constexpr char kRest[] = " 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 116166 1040629760 2333\n";

TEST(ProcessStatText, HasItsFieldsBehindTheLastParenthesis) {
  const auto stat = parse_stat(std::string("7281 (a) b) S 7270)) S 7270") + kRest);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->comm, "a) b) S 7270)");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7270);
  EXPECT_EQ(stat->start_time, 116166U);
}

TEST(ProcessStatText, IsRefusedWhenAFieldIsMissing) {
  for (const char* text : {"", "7281", "7281 (x", ") 7281 (", "7281 (x)", "7281 (x) S", "7281 (x) SS 1 1",
                           "7281 (x) S one 1", "7281 (x) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1"})
    EXPECT_FALSE(parse_stat(text).has_value()) << text;
}

TEST(ProcessStatText, OfThisProcessNamesItsParent) {
  const auto stat = read_stat(::getpid());
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_GT(stat->start_time, 0U);
}

TEST(StatusField, IsFoundByItsWholeName) {
  const std::string text = "Name:\trunc\nSeccomp:\t2\nSeccomp_filters:\t34\nTracerPid:\t0\n";
  EXPECT_EQ(status_field(text, "Seccomp").value(), 2U);
  EXPECT_EQ(status_field(text, "Seccomp_filters").value(), 34U);
  EXPECT_EQ(status_field(text, "TracerPid").value(), 0U);
  EXPECT_FALSE(status_field(text, "Name").has_value());
  EXPECT_FALSE(status_field(text, "filters").has_value());
  EXPECT_FALSE(status_field("", "Seccomp").has_value());
}

TEST(RuntimeOfComm, KnowsRuncsAndCrunsInitOnly) {
  EXPECT_EQ(runtime_of_comm("runc:[2:INIT]").value(), abi::Runtime::runc);
  EXPECT_EQ(runtime_of_comm("crun").value(), abi::Runtime::crun);
  EXPECT_EQ(runtime_of_comm("memfd:crun_clon").value(), abi::Runtime::crun);
  for (const char* comm :
       {"", "memfd:runc_clon", "memfd:", "runc", "runc:[1:CHILD]", "runsc-sandbox", "kata-runtime", "bash", "CRUN"})
    EXPECT_FALSE(runtime_of_comm(comm).has_value()) << comm;
}

TEST(Identify, RefusesWhatCannotBeAContainer) {
  for (const pid_t pid : {-1, 0, 1, ::getpid(), 1 << 22}) EXPECT_FALSE(identify(pid).has_value()) << pid;
}

}  // namespace
}  // namespace seccompress::install
