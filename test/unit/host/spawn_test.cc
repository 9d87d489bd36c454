// SPDX-License-Identifier: Apache-2.0
#include "host/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/unique_fd.h"

namespace seccompress::host {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

Command shell(const std::string& script) { return {.path = "/bin/sh", .arguments = {"-c", script}}; }

std::string error_of(const Result<Finished>& result) { return result ? "no error" : to_string(result.error()); }

TEST(Spawn, TakesOutputAndExitCode) {
  const auto done = spawn(shell("printf 'a\\0b'; echo not this >&2; exit 7"));
  ASSERT_TRUE(done) << error_of(done);
  EXPECT_EQ(done->output, std::string("a\0b", 3));
  EXPECT_EQ(done->exit_code, 7);
}

TEST(Spawn, HandsOverArgumentsAsTheyAre) {
  const auto done = spawn({.path = "/usr/bin/printf", .arguments = {"%s|", "two words", "", "$HOME", "'\"*"}});
  ASSERT_TRUE(done) << error_of(done);
  EXPECT_EQ(done->output, "two words||$HOME|'\"*|");
}

TEST(Spawn, GivesAnEmptyEnvironment) {
  ASSERT_EQ(::setenv("SPAWN_TEST", "seen", 1), 0);
  const auto done = spawn({.path = "/usr/bin/env", .arguments = {}});
  ASSERT_TRUE(done) << error_of(done);
  EXPECT_EQ(done->output, "");
}

TEST(Spawn, HandsDownNoDescriptor) {
  const UniqueFd open(::open("/dev/zero", O_RDONLY));  // without O_CLOEXEC
  ASSERT_TRUE(open);
  const auto done = spawn(shell("for fd in /proc/$$/fd/*; do readlink $fd; done; cat"));
  ASSERT_TRUE(done) << error_of(done);
  // The shell's own three: an empty stdin, our pipe, nothing for stderr.
  EXPECT_THAT(done->output, testing::MatchesRegex("/dev/null\npipe:\\[[0-9]+\\]\n/dev/null\n"));
}

TEST(Spawn, KillsTheWholeGroupAtTheDeadline) {
  // The grandchild keeps the pipe open; its number comes back by a pipe of its own.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  Command command = shell("sleep 1000 & echo $! >/proc/" + std::to_string(::getpid()) + "/fd/" +
                          std::to_string(out.get()) + "; wait");
  command.deadline = 3000ms;  // long enough for the shell to come so far
  const auto started = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(spawn(command)), "/bin/sh: not done after 3000 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - started, 60s);
  out.reset();
  char text[32] = {};
  ASSERT_GT(::read(in.get(), text, sizeof text - 1), 0);
  const pid_t grandchild = std::atoi(text);
  ASSERT_GT(grandchild, 1);
  // It dies by the same signal; whoever inherited it may not have waited for it yet.
  for (int i = 0; i < 10'000 && ::kill(grandchild, 0) == 0; ++i) {
    std::string stat;
    const UniqueFd file(::open(("/proc/" + std::to_string(grandchild) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
    char line[256] = {};
    if (!file || ::read(file.get(), line, sizeof line - 1) <= 0 || std::string(line).find(") Z ") != std::string::npos)
      return;
    ::usleep(1000);
  }
  EXPECT_NE(::kill(grandchild, 0), 0);
}

TEST(Spawn, KillsWhatEndsItsOutputButStays) {
  Command command = shell("exec >&-; sleep 1000");
  command.deadline = 300ms;
  EXPECT_EQ(error_of(spawn(command)), "/bin/sh: not done after 300 ms");
}

TEST(Spawn, StopsAtItsOutputsLimit) {
  Command command = shell("yes");
  command.max_output = 1000;
  EXPECT_EQ(error_of(spawn(command)), "/bin/sh: prints more than 1000 bytes");
  command = shell("head -c 1000 /dev/zero");
  command.max_output = 1000;
  const auto done = spawn(command);
  ASSERT_TRUE(done) << error_of(done);
  EXPECT_EQ(done->output.size(), 1000U);
}

TEST(Spawn, RefusesWhatItCannotStart) {
  EXPECT_EQ(error_of(spawn({.path = "sh", .arguments = {}})), "sh: not an absolute path");
  const auto missing = spawn({.path = "/nonexistent/program", .arguments = {}});
  EXPECT_EQ(error_of(missing), "/nonexistent/program: No such file or directory");
  EXPECT_TRUE(missing.error().code == std::errc::no_such_file_or_directory);
  EXPECT_EQ(error_of(spawn({.path = "/etc/passwd", .arguments = {}})), "/etc/passwd: Permission denied");
}

TEST(Spawn, TellsADeathBySignal) { EXPECT_EQ(error_of(spawn(shell("kill -TERM $$"))), "/bin/sh: killed by signal 15"); }

}  // namespace
}  // namespace seccompress::host
