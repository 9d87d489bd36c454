// SPDX-License-Identifier: Apache-2.0
// Input: stacks. Output: nanoseconds of openat and mprotect under each. One child per stack installs its filters
// once; the parent asks the children for trials in turn, so that drift of the machine hits all of them alike.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "report.h"
#include "support/unique_fd.h"

namespace seccompress::quickstart {
namespace {

constexpr int kTrials = 25;
constexpr int kRounds = 5000;

bool install(const program::Code& code) {
  sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ||
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;  // a stack may refuse one of the two
}

template <class Body>
double nanoseconds_per_round(Body body) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i) body(i);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / kRounds;
}

Nanoseconds trial(void* page) {
  Nanoseconds result;
  result.openat = nanoseconds_per_round([](int) { ::close(::open("/dev/null", O_RDONLY | O_CLOEXEC)); });
  result.mprotect =
      nanoseconds_per_round([page](int i) { ::mprotect(page, 4096, i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE); });
  return result;
}

// Answers each byte on `requests` with one trial; ends with its parent's end of the pipe.
[[noreturn]] void serve(const Filters& filters, int requests, int answers) {
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool ready = page != MAP_FAILED && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  for (const program::Code& code : filters) ready = ready && install(code);
  char request = 0;
  while (ready && ::read(requests, &request, 1) == 1) {
    const Nanoseconds answer = trial(page);
    if (::write(answers, &answer, sizeof answer) != sizeof answer) break;
  }
  ::_exit(ready ? 0 : 1);
}

class Worker {
 public:
  static Result<std::unique_ptr<Worker>> start(const Filters& filters) {
    int requests[2], answers[2];
    if (::pipe2(requests, O_CLOEXEC) != 0) return errno_failure("pipe");
    if (::pipe2(answers, O_CLOEXEC) != 0) return errno_failure("pipe");
    const pid_t pid = ::fork();
    if (pid < 0) return errno_failure("fork");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(requests[1]);
      ::close(answers[0]);
      serve(filters, requests[0], answers[1]);
    }
    ::close(requests[0]);
    ::close(answers[1]);
    return std::unique_ptr<Worker>(new Worker(pid, UniqueFd(requests[1]), UniqueFd(answers[0])));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    ::kill(pid_, SIGKILL);  // an unfiltered sibling may hold a copy of the pipe's end
    ::waitpid(pid_, nullptr, 0);
  }

  Result<Nanoseconds> ask() {
    Nanoseconds answer;
    if (::write(requests_.get(), "t", 1) != 1 || ::read(answers_.get(), &answer, sizeof answer) != sizeof answer)
      return failure({EPIPE, std::generic_category()},
                     "the measuring process ended: its filters could not be installed");
    return answer;
  }

 private:
  Worker(pid_t pid, UniqueFd requests, UniqueFd answers)
      : pid_(pid), requests_(std::move(requests)), answers_(std::move(answers)) {}
  pid_t pid_;
  UniqueFd requests_, answers_;
};

void stay_on_one_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(std::max(0, ::sched_getcpu())), &cpus);
  ::sched_setaffinity(0, sizeof cpus, &cpus);  // the children inherit it; without it the figures are just noisier
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

Nanoseconds medians(const std::vector<Nanoseconds>& trials) {
  std::vector<double> openat, mprotect;
  for (const Nanoseconds& one : trials) {
    openat.push_back(one.openat);
    mprotect.push_back(one.mprotect);
  }
  return {median(openat), median(mprotect)};
}

}  // namespace

Result<std::vector<Nanoseconds>> measure(const std::vector<Filters>& stacks) {
  ::signal(SIGPIPE, SIG_IGN);
  stay_on_one_cpu();
  std::vector<std::unique_ptr<Worker>> workers;
  for (const Filters& filters : stacks) {
    TRY_ASSIGN(auto worker, Worker::start(filters));
    workers.push_back(std::move(worker));
  }
  std::vector<std::vector<Nanoseconds>> trials(stacks.size());
  for (int i = 0; i < kTrials; ++i)
    for (std::size_t w = 0; w < workers.size(); ++w) {
      TRY_ASSIGN(const Nanoseconds one, workers[w]->ask());
      trials[w].push_back(one);
    }
  std::vector<Nanoseconds> result;
  for (const auto& of_one_stack : trials) result.push_back(medians(of_one_stack));
  return result;
}

}  // namespace seccompress::quickstart
