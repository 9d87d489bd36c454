// SPDX-License-Identifier: Apache-2.0
// Input: a program's path and arguments. Output: what it printed and its exit code. Entry point: spawn.
// Method: Boost.Process forks and executes; its own waiting with a deadline forks a second process (1.74,
// detail/posix/wait_for_exit.hpp), so the deadline is ours: poll(2) on the pipe, then on a pidfd.
// Weakness: a grandchild that leaves the process group survives the deadline (but not the pipe's end).
#include "host/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/group.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>

#include "support/unique_fd.h"

namespace seccompress::host {
namespace {

namespace bp = boost::process;
using Clock = std::chrono::steady_clock;

// Waits until fd has something. false: the deadline has passed.
Result<bool> wait_readable(int fd, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, left > 0 ? static_cast<int>(left) : 0);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return errno_failure("poll");
    if (ready > 0 || left <= 0) return ready > 0;
  }
}

tl::unexpected<Error> too_slow(const Command& command) {
  return failure(Errc::budget, command.path + ": not done after " + std::to_string(command.deadline.count()) + " ms");
}

Result<std::string> take_output(int fd, const Command& command, Clock::time_point deadline) {
  std::string output;
  char buffer[16384];
  for (;;) {
    TRY_ASSIGN(const bool readable, wait_readable(fd, deadline));
    if (!readable) return too_slow(command);
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_failure(command.path + ": read");
    if (n == 0) return output;
    if (output.size() + static_cast<std::size_t>(n) > command.max_output)
      return failure(Errc::budget,
                     command.path + ": prints more than " + std::to_string(command.max_output) + " bytes");
    output.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<void> wait_end(pid_t pid, const Command& command, Clock::time_point deadline) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno_failure(command.path + ": pidfd_open");
  TRY_ASSIGN(const bool ended, wait_readable(process.get(), deadline));
  if (!ended) return too_slow(command);
  return {};
}

// Its output and its end, or its death.
Result<Finished> attend(bp::child& child, bp::group& group, int fd, const Command& command,
                        Clock::time_point deadline) {
  auto output = take_output(fd, command, deadline);
  Result<void> ended;
  if (output) ended = wait_end(child.id(), command, deadline);
  std::error_code ignored;
  if (!output || !ended) group.terminate(ignored);
  std::error_code status;
  child.wait(status);
  if (!output) return tl::unexpected(std::move(output).error());
  if (!ended) return tl::unexpected(std::move(ended).error());
  if (status) return failure(status, command.path + ": wait");
  if (!WIFEXITED(child.native_exit_code()))
    return failure(Errc::refused,
                   command.path + ": killed by signal " + std::to_string(WTERMSIG(child.native_exit_code())));
  return Finished{child.exit_code(), std::move(*output)};
}

// In the child: nothing but 0, 1 and 2 outlives the exec. (bp::limit_handles of Boost 1.74 closes descriptor 1 under a
// pipe, and the pipe that tells of a failed exec.)
constexpr auto keep_descriptors = [](auto& executor) {
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
    executor.set_error({errno, std::system_category()}, "close_range");
};

}  // namespace

Result<Finished> spawn(const Command& command) {
  if (!command.path.starts_with('/')) return failure(Errc::refused, command.path + ": not an absolute path");
  const auto deadline = Clock::now() + command.deadline;
  try {
    std::error_code status;
    bp::pipe output;
    bp::group group;
    bp::child child(bp::exe = command.path, bp::args = command.arguments, bp::environment(),
                    bp::std_in<bp::null, bp::std_out> output, bp::std_err > bp::null,
                    bp::extend::on_exec_setup = keep_descriptors, group, status);
    if (status) return failure(status, command.path);
    return attend(child, group, output.native_source(), command, deadline);
  } catch (const std::exception& error) {  // of pipe(2) or fork(2), before there is a child
    return failure(Errc::refused, command.path + ": " + error.what());
  }
}

}  // namespace seccompress::host
