// SPDX-License-Identifier: Apache-2.0
// systemd's own unit tests: what each service's exit says about single calls has to be what its unit is read as. Every
// row of the expectations is here or in the list of those that are about something else.
#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "abi/syscalls.h"
#include "pipeline.h"
#include "support/paths.h"

namespace seccompress::test {
namespace {

namespace fs = std::filesystem;

struct Call {
  std::string name;
  std::uint64_t argument;
  abi::Verdict verdict;
};
using Calls = std::vector<Call>;

Calls uname_is(abi::Verdict verdict) { return {{"uname", 0, verdict}}; }
// What /bin/sh needs to print a line and exit.
Calls shell_runs() {
  Calls calls;
  for (const char* name : {"execve", "openat", "read", "write", "mmap", "close", "exit_group"})
    calls.push_back({name, 0, abi::kAllow});
  return calls;
}
Calls unshares(std::vector<std::uint64_t> allowed, std::vector<std::uint64_t> refused) {
  Calls calls;
  for (const auto flags : allowed) calls.push_back({"unshare", flags, abi::kAllow});
  for (const auto flags : refused) calls.push_back({"unshare", flags, abi::kErrno | EPERM});
  return calls;
}

const std::map<std::string, Calls>& expectations() {
  static const Calls deny_list_runs = [] {
    Calls calls = shell_runs();
    calls.push_back({"ioperm", 0, abi::kKillProcess});
    calls.push_back({"ioctl", 0, abi::kAllow});
    return calls;
  }();
  static const std::map<std::string, Calls> all = {
      {"exec-restrictnamespaces-merge-all",
       unshares({CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID}, {})},
      {"exec-restrictnamespaces-merge-and",
       unshares({CLONE_NEWPID}, {CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET})},
      {"exec-restrictnamespaces-merge-or",
       unshares({CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID}, {CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET})},
      {"exec-restrictnamespaces-mnt-deny-list", unshares({}, {CLONE_NEWNS})},
      {"exec-restrictnamespaces-mnt", unshares({CLONE_NEWNS}, {})},
      {"exec-restrictnamespaces-no",
       unshares({CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID}, {})},
      {"exec-restrictnamespaces-yes", unshares({}, {CLONE_NEWNS})},
      {"exec-systemcallerrornumber-name", uname_is(abi::kErrno | EACCES)},
      {"exec-systemcallerrornumber-number", uname_is(abi::kErrno | 255)},
      {"exec-systemcallfilter-failing",
       {{"execve", 0, abi::kAllow}, {"openat", 0, abi::kKillProcess}, {"ioperm", 0, abi::kAllow}}},
      {"exec-systemcallfilter-failing2", {{"write", 0, abi::kKillProcess}, {"exit_group", 0, abi::kKillProcess}}},
      {"exec-systemcallfilter-failing3", {{"write", 0, abi::kKillProcess}, {"exit_group", 0, abi::kKillProcess}}},
      {"exec-systemcallfilter-not-failing", deny_list_runs},
      {"exec-systemcallfilter-not-failing2", shell_runs()},
      {"exec-systemcallfilter-not-failing3", shell_runs()},
      {"exec-systemcallfilter-override-error-action", uname_is(abi::kKillProcess)},
      {"exec-systemcallfilter-override-error-action2", uname_is(abi::kErrno | EILSEQ)},
      {"exec-systemcallfilter-system-user", deny_list_runs},
      {"exec-systemcallfilter-with-errno-in-allow-list", uname_is(abi::kErrno | EILSEQ)},
      {"exec-systemcallfilter-with-errno-multi", uname_is(abi::kErrno | EILSEQ)},
      {"exec-systemcallfilter-with-errno-name", uname_is(abi::kErrno | EILSEQ)},
      {"exec-systemcallfilter-with-errno-number", uname_is(abi::kErrno | 255)},
      // Their exits tell about NoNewPrivs and capabilities; that they run at all tells this.
      {"exec-systemcallfilter-nonewprivileges", shell_runs()},
      {"exec-systemcallfilter-nonewprivileges-bounding1", shell_runs()},
      {"exec-systemcallfilter-nonewprivileges-bounding2", shell_runs()},
      {"exec-systemcallfilter-nonewprivileges-protectclock", shell_runs()},
  };
  return all;
}

// What `uname -m` prints under Personality=; no filter takes part.
const std::set<std::string>& not_about_verdicts() {
  static const std::set<std::string> names = {
      "exec-personality-aarch64", "exec-personality-loongarch64", "exec-personality-ppc64", "exec-personality-ppc64le",
      "exec-personality-s390",    "exec-personality-x86-64",      "exec-personality-x86"};
  return names;
}

std::vector<std::string> rows() {
  std::ifstream file(fs::path(kCorpus) / "systemd/tests/EXPECTED.tsv");
  std::vector<std::string> names;
  std::string line;
  std::getline(file, line);  // the headings
  while (std::getline(file, line)) names.push_back(line.substr(0, line.find(".service")));
  return names;
}

void check(const std::string& name, const Calls& calls) {
  PipelineOptions options;
  options.read = {.arch = abi::Arch::x86_64, .caps = {}, .kernel = {6, 1}};
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  const std::string unit = fs::path(kCorpus) / "systemd/tests" / (name + ".service");
  const auto added = add_layer(stack, read::LayerSpec{"systemd", unit}, options, diagnostics);
  ASSERT_TRUE(added) << unit << ": " << to_string(added.error());
  for (const Call& call : calls) {
    abi::SeccompData data{};
    data.arch = abi::facts(abi::Arch::x86_64).audit;
    data.nr = static_cast<int>(abi::syscall_number(abi::Arch::x86_64, call.name).value());
    data.args[0] = call.argument;
    EXPECT_EQ(abi::to_string(stack.store->evaluate(stack.layers[0].node, data)), abi::to_string(call.verdict))
        << name << ' ' << call.name;
  }
}

TEST(SystemdExpected, EveryRowThatIsAboutVerdictsHolds) {
  if (!fs::exists(kCorpus)) GTEST_SKIP() << "no corpus beside the checkout";
  std::size_t checked = 0;
  for (const std::string& name : rows()) {
    if (not_about_verdicts().count(name) > 0) continue;
    const auto found = expectations().find(name);
    ASSERT_NE(found, expectations().end()) << name << " has no expectation here";
    check(name, found->second);
    ++checked;
  }
  EXPECT_EQ(checked, 26U);
}

}  // namespace
}  // namespace seccompress::test
