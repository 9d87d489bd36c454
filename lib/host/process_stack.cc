// SPDX-License-Identifier: Apache-2.0
// Input: a pid. Output: the filters that all its threads have. Entries: read_process_stack, read_thread_stack.
//
// Method: /proc/PID/task is listed until a listing has no thread that was not read yet; a thread that ended meanwhile
// is left out. A new thread has its creator's filters, so this ends unless the process does nothing but start
// threads; kMaxThreads bounds it.
#include "host/process_stack.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "support/file.h"

namespace seccompress::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxThreads = 32768;
constexpr std::size_t kMaxStatusBytes = 65536;

Result<std::set<pid_t>> threads_of(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  std::error_code status;
  std::set<pid_t> threads;
  fs::directory_iterator entry(folder, status);
  for (; !status && entry != fs::directory_iterator(); entry.increment(status)) {
    const std::string name = entry->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.insert(thread);
  }
  if (status || threads.empty()) return failure({ESRCH, std::generic_category()}, "process " + std::to_string(pid));
  return threads;
}

// /proc/TID/task lists the threads of TID's process, whichever thread TID is.
bool leads_its_threads(pid_t pid) {
  const auto status = read_file("/proc/" + std::to_string(pid) + "/status", kMaxStatusBytes);
  return status && status->find("\nTgid:\t" + std::to_string(pid) + '\n') != std::string::npos;
}

bool same_filters(const std::vector<LiveFilter>& a, const std::vector<LiveFilter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const LiveFilter& x, const LiveFilter& y) {
    return x.log == y.log && program::same_code(x.code, y.code);
  });
}

std::string filters_text(const std::vector<LiveFilter>& filters) {
  return std::to_string(filters.size()) + (filters.size() == 1 ? " filter" : " filters");
}

tl::unexpected<Error> threads_differ(pid_t pid, pid_t first, const std::vector<LiveFilter>& a, pid_t second,
                                     const std::vector<LiveFilter>& b) {
  const std::string process = std::to_string(pid);
  return failure(Errc::refused, "process " + process + ": its threads have different filters: thread " +
                                    std::to_string(first) + " has " + filters_text(a) + ", thread " +
                                    std::to_string(second) + " has " + filters_text(b) +
                                    (a.size() == b.size() ? ", others" : "") + "; name one thread: pid:" + process +
                                    "/" + std::to_string(first) + " or pid:" + process + "/" + std::to_string(second));
}

}  // namespace

Result<std::vector<LiveFilter>> read_process_stack(pid_t pid) {
  TRY_ASSIGN(std::set<pid_t> threads, threads_of(pid));
  if (!leads_its_threads(pid))
    return failure(Errc::refused,
                   "process " + std::to_string(pid) + ": is a thread of another process; name it as pid:PID/TID");
  TRY_ASSIGN(std::vector<LiveFilter> filters, read_live_stack(pid));
  std::set<pid_t> seen{pid};
  for (bool more = true; more;) {
    more = false;
    for (const pid_t thread : threads) {
      if (!seen.insert(thread).second) continue;
      more = true;
      if (seen.size() > kMaxThreads)
        return failure(Errc::budget,
                       "process " + std::to_string(pid) + ": more than " + std::to_string(kMaxThreads) + " threads");
      auto other = read_live_stack(thread);
      if (!other && other.error().code == std::errc::no_such_process) continue;
      if (!other) return tl::unexpected(std::move(other).error());
      if (!same_filters(filters, *other)) return threads_differ(pid, pid, filters, thread, *other);
    }
    TRY_ASSIGN(threads, threads_of(pid));
  }
  return filters;
}

Result<std::vector<LiveFilter>> read_thread_stack(pid_t pid, pid_t thread) {
  TRY_ASSIGN(const std::set<pid_t> threads, threads_of(pid));
  if (!threads.contains(thread))
    return failure({ESRCH, std::generic_category()},
                   "process " + std::to_string(pid) + ": has no thread " + std::to_string(thread));
  return read_live_stack(thread);
}

}  // namespace seccompress::host
