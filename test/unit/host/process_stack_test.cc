// SPDX-License-Identifier: Apache-2.0
// Children with threads that share their filters, or do not. Needs root and an unfiltered test process.
#include "host/process_stack.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "support/program_builder.h"

namespace seccompress::host {
namespace {

using test::Code;

bool install(Code code) {
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

const Code kAllowing = {test::ret(abi::kAllow)};

// A child with one filter and a second thread; with a filter of its own if `other` says so.
class ThreadedChild {
 public:
  explicit ThreadedChild(bool other) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const bool installed = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install(kAllowing);
      std::thread second([&] {
        const pid_t thread =
            installed && (!other || install(kAllowing)) ? static_cast<pid_t>(::syscall(SYS_gettid)) : 0;
        if (::write(ready[1], &thread, sizeof thread) != sizeof thread) ::_exit(1);
        for (;;) ::pause();
      });
      for (;;) ::pause();
    }
    ::close(ready[1]);
    EXPECT_EQ(::read(ready[0], &thread_, sizeof thread_), static_cast<ssize_t>(sizeof thread_));
    EXPECT_GT(thread_, 0);
    ::close(ready[0]);
  }
  ThreadedChild(const ThreadedChild&) = delete;
  ThreadedChild& operator=(const ThreadedChild&) = delete;
  ~ThreadedChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  pid_t thread() const { return thread_; }

 private:
  pid_t pid_;
  pid_t thread_ = 0;
};

class ProcessStack : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (::prctl(PR_GET_SECCOMP) != 0) GTEST_SKIP() << "this process is filtered itself";
  }
};

TEST_F(ProcessStack, OfEqualThreadsIsOne) {
  const ThreadedChild child(false);
  const auto filters = read_process_stack(child.pid());
  ASSERT_TRUE(filters) << to_string(filters.error());
  EXPECT_EQ(filters->size(), 1U);
}

TEST_F(ProcessStack, OfDifferentThreadsIsAnErrorThatNamesThem) {
  const ThreadedChild child(true);
  const auto filters = read_process_stack(child.pid());
  ASSERT_FALSE(filters);
  EXPECT_EQ(filters.error().code, make_error_code(Errc::refused));
  EXPECT_NE(filters.error().what.find("pid:" + std::to_string(child.pid()) + "/" + std::to_string(child.thread())),
            std::string::npos)
      << filters.error().what;
  EXPECT_EQ(read_thread_stack(child.pid(), child.pid())->size(), 1U);
  EXPECT_EQ(read_thread_stack(child.pid(), child.thread())->size(), 2U);
}

TEST_F(ProcessStack, OfAThreadOfAnotherProcessIsAnError) {
  const ThreadedChild child(false);
  const auto as_process = read_process_stack(child.thread());
  ASSERT_FALSE(as_process);
  EXPECT_EQ(as_process.error().code, make_error_code(Errc::refused));
  const auto of_this = read_thread_stack(::getpid(), child.thread());
  ASSERT_FALSE(of_this);
  EXPECT_EQ(of_this.error().code, std::errc::no_such_process);
}

}  // namespace
}  // namespace seccompress::host
