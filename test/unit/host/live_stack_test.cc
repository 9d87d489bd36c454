// SPDX-License-Identifier: Apache-2.0
// A child installs filters and waits; we read them back. Needs root and an unfiltered test process, as the
// function itself does.
#include "host/live_stack.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "support/unique_fd.h"

namespace seccompress::host {
namespace {

using program::Code;

// uname -> ERRNO(number), everything else allowed.
Code refusing_uname(std::uint16_t number) {
  return {{0x20, 0, 0, 0}, {0x15, 0, 1, SYS_uname}, {0x06, 0, 0, 0x00050000U | number}, {0x06, 0, 0, 0x7fff0000U}};
}

struct Filter {
  Code code;
  unsigned flags = 0;
};

bool install(const Filter& filter) {
  sock_fprog program{static_cast<unsigned short>(filter.code.size()), const_cast<sock_filter*>(filter.code.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, filter.flags, &program) == 0;
}

// A child under these filters, installed in this order; alive until the object goes.
class FilteredChild {
 public:
  explicit FilteredChild(const std::vector<Filter>& filters) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      bool installed = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
      for (const Filter& filter : filters) installed = installed && install(filter);
      const char answer = installed ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char answer = 0;
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(ready[0]);
  }
  FilteredChild(const FilteredChild&) = delete;
  FilteredChild& operator=(const FilteredChild&) = delete;
  ~FilteredChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class LiveStack : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (::prctl(PR_GET_SECCOMP) != 0) GTEST_SKIP() << "this process is filtered itself";
  }
};

TEST_F(LiveStack, IsReadOldestFirstByteForByte) {
  const Code oldest = refusing_uname(99), newest = {{0x06, 0, 0, 0x7fff0000U}};
  const FilteredChild child({{oldest}, {newest}});
  const auto stack = read_live_stack(child.pid());
  ASSERT_TRUE(stack) << to_string(stack.error());
  ASSERT_EQ(stack->size(), 2U);
  EXPECT_TRUE(program::same_code((*stack)[0].code, oldest));
  EXPECT_TRUE(program::same_code((*stack)[1].code, newest));
}

TEST_F(LiveStack, TellsTheLogFlag) {
  const FilteredChild child({{refusing_uname(1), SECCOMP_FILTER_FLAG_LOG}, {refusing_uname(2)}});
  const auto stack = read_live_stack(child.pid());
  ASSERT_TRUE(stack) << to_string(stack.error());
  EXPECT_TRUE(stack->at(0).log);
  EXPECT_FALSE(stack->at(1).log);
}

TEST_F(LiveStack, OfAnUnfilteredProcessIsEmpty) {
  const FilteredChild child({});
  const auto stack = read_live_stack(child.pid());
  ASSERT_TRUE(stack) << to_string(stack.error());
  EXPECT_TRUE(stack->empty());
}

TEST_F(LiveStack, LeavesTheProcessRunningAndUntraced) {
  const FilteredChild child({{refusing_uname(99)}});
  ASSERT_TRUE(read_live_stack(child.pid()));
  ASSERT_TRUE(read_live_stack(child.pid()));   // a tracer left behind would make the second SEIZE fail
  EXPECT_EQ(::kill(child.pid(), SIGUSR1), 0);  // its default action ends a running process
  int status = 0;
  EXPECT_EQ(::waitpid(child.pid(), &status, 0), child.pid());
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
}

TEST_F(LiveStack, OfAStoppedProcessIsReadAndItStaysStopped) {
  const FilteredChild child({{refusing_uname(99)}});
  ASSERT_EQ(::kill(child.pid(), SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, WUNTRACED), child.pid());
  const auto stack = read_live_stack(child.pid());
  ASSERT_TRUE(stack) << to_string(stack.error());
  EXPECT_EQ(stack->size(), 1U);
  siginfo_t info{};
  ASSERT_EQ(::kill(child.pid(), SIGCONT), 0);
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WCONTINUED), 0);
}

TEST_F(LiveStack, OfAPidThatDoesNotExistIsAnError) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  const auto stack = read_live_stack(pid);
  ASSERT_FALSE(stack);
  EXPECT_EQ(stack.error().code, std::errc::no_such_process);
}

TEST_F(LiveStack, OfItsOwnProcessIsAnError) {
  const auto stack = read_live_stack(::getpid());
  ASSERT_FALSE(stack);
  EXPECT_EQ(stack.error().code, std::errc::operation_not_permitted);
}

// The reader runs in a child that has a filter of its own: the kernel refuses, and the message says why.
TEST_F(LiveStack, ReadFromAFilteredProcessSaysThatItIsFilteredItself) {
  const FilteredChild target({{refusing_uname(99)}});
  int answer[2];
  ASSERT_EQ(::pipe2(answer, O_CLOEXEC), 0);
  const pid_t reader = ::fork();
  if (reader == 0) {
    if (!install({refusing_uname(98)})) ::_exit(1);
    const auto stack = read_live_stack(target.pid());
    const std::string what = stack ? "it was read" : to_string(stack.error());
    ::_exit(::write(answer[1], what.data(), what.size()) > 0 ? 0 : 1);
  }
  ::close(answer[1]);
  ASSERT_EQ(::waitpid(reader, nullptr, 0), reader);
  char text[512] = {};
  EXPECT_GT(::read(answer[0], text, sizeof text - 1), 0);
  ::close(answer[0]);
  EXPECT_NE(std::string(text).find("this one is filtered itself"), std::string::npos) << text;
}

}  // namespace
}  // namespace seccompress::host
