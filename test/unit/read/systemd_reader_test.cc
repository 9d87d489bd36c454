// SPDX-License-Identifier: Apache-2.0
// What golden/read/systemd cannot show: versions, architectures, drop-ins, places, limits.
#include "read/systemd_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>

#include "abi/syscalls.h"
#include "abi/systemd_groups.h"
#include "policy/evaluate.h"
#include "read/systemd_settings.h"
#include "support/file.h"

namespace seccompress::read {
namespace {

namespace fs = std::filesystem;
using Policies = std::vector<NamedPolicy>;

struct Reading {
  Policies policies;
  Diagnostics diagnostics;
  bool good = false;

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const NamedPolicy& one : policies) all.push_back(one.name);
    return all;
  }
};

Options options_for(unsigned version, abi::Arch arch = abi::Arch::x86_64, KernelVersion kernel = {6, 1}) {
  return {.arch = arch, .caps = {}, .kernel = kernel, .systemd_version = version};
}

Reading reading(std::string_view body, const Options& options = options_for(252),
                const std::string& path = "x.service") {
  Reading result;
  auto policies = read_systemd("[Service]\n" + std::string(body), path, {}, options, result.diagnostics);
  result.good = policies.has_value();
  if (policies) result.policies = std::move(*policies);
  return result;
}

// Of the newest filter.
std::string verdict(const Reading& reading, std::string_view name, abi::Arch arch = abi::Arch::x86_64) {
  abi::SeccompData data{};
  data.arch = abi::facts(arch).audit;
  data.nr = static_cast<int>(abi::syscall_number(arch, name).value());
  return abi::to_string(policy::evaluate(reading.policies.back().policy, data));
}

using Names = std::vector<std::string>;

TEST(SystemdReader, FiltersComeInTheOrderOfTheirInstallation) {
  const Reading all = reading(
      "SystemCallFilter=~uname\nSystemCallErrorNumber=1\nSystemCallLog=read\nLockPersonality="
      "1\nSystemCallArchitectures=native\n"
      "PrivateDevices=1\nProtectClock=1\nProtectKernelLogs=1\nProtectKernelModules=1\nProtectKernelTunables=1\n"
      "RestrictNamespaces=1\nRestrictSUIDSGID=1\nRestrictRealtime=1\nMemoryDenyWriteExecute=1\nRestrictAddressFamilies="
      "none\n"
      "ProtectHostname=1\n");
  Names expected;
  for (const char* name : {"ProtectHostname", "RestrictAddressFamilies", "MemoryDenyWriteExecute", "RestrictRealtime",
                           "RestrictSUIDSGID", "RestrictNamespaces", "ProtectKernelTunables", "ProtectKernelModules",
                           "ProtectKernelLogs", "ProtectClock", "PrivateDevices"})
    for (const char* arch : {"x86", "x32", "x86_64"}) {
      if (name == std::string("RestrictAddressFamilies") && arch == std::string("x86")) continue;
      if (name == std::string("ProtectKernelTunables") && arch == std::string("x32")) continue;
      expected.push_back(std::string(name) + "= (" + arch + ')');
    }
  for (const char* name : {"SystemCallArchitectures=", "LockPersonality= (x86_64)", "SystemCallLog= (x86_64)",
                           "SystemCallFilter= (x86_64)"})
    expected.emplace_back(name);
  EXPECT_EQ(all.names(), expected);
}

TEST(SystemdReader, OtherMachinesHaveOtherLocalArchitectures) {
  EXPECT_EQ(reading("LockPersonality=1", options_for(252, abi::Arch::aarch64)).names(),
            (Names{"LockPersonality= (arm)", "LockPersonality= (aarch64)"}));
  EXPECT_EQ(reading("ProtectKernelTunables=1", options_for(252, abi::Arch::aarch64)).names(),
            (Names{"ProtectKernelTunables= (arm)"}));
  EXPECT_EQ(reading("RestrictAddressFamilies=none", options_for(252, abi::Arch::s390x)).names(), Names{});
  EXPECT_EQ(reading("SystemCallArchitectures=native\nLockPersonality=1", options_for(252, abi::Arch::riscv64)).names(),
            (Names{"LockPersonality= (riscv64)"}));
}

TEST(SystemdReader, EveryMachineIsReadFor) {
  for (const abi::ArchFacts& one : abi::all_arches()) {
    const Reading all = reading(
        "SystemCallFilter=@system-service\nSystemCallErrorNumber=EPERM\nSystemCallLog=~@ipc\nLockPersonality="
        "1\nPrivateDevices=1\n"
        "ProtectClock=1\nProtectKernelLogs=1\nProtectKernelModules=1\nProtectKernelTunables=1\nRestrictNamespaces=~"
        "net\n"
        "RestrictSUIDSGID=1\nRestrictRealtime=1\nMemoryDenyWriteExecute=1\nRestrictAddressFamilies=AF_"
        "UNIX\nProtectHostname=1\n",
        options_for(252, one.arch));
    EXPECT_TRUE(all.good) << one.oci;
    ASSERT_FALSE(all.policies.empty()) << one.oci;
    EXPECT_EQ(all.policies.back().policy.architectures, std::vector<abi::Arch>{one.arch});  // the machine's own is last
  }
}

TEST(SystemdReader, TheKernelDeniesWriteExecuteItselfFrom254On) {
  EXPECT_EQ(reading("MemoryDenyWriteExecute=1", options_for(254, abi::Arch::x86_64, {6, 3})).policies.size(), 0U);
  EXPECT_EQ(reading("MemoryDenyWriteExecute=1", options_for(254, abi::Arch::x86_64, {6, 2})).policies.size(), 3U);
  EXPECT_EQ(reading("MemoryDenyWriteExecute=1", options_for(253, abi::Arch::x86_64, {6, 3})).policies.size(), 3U);
}

TEST(SystemdReader, From255OnUnknownCallsGetENOSYS) {
  const char* unit = "SystemCallFilter=@basic-io\nSystemCallErrorNumber=EPERM";
  for (const unsigned version : {252U, 254U}) {
    EXPECT_EQ(verdict(reading(unit, options_for(version)), "mount"), "ERRNO(1 EPERM)");
    EXPECT_EQ(reading(unit, options_for(version)).policies.back().policy.default_verdict, abi::kErrno | 1);
  }
  const Reading newer = reading(unit, options_for(255));
  EXPECT_EQ(newer.policies.back().policy.default_verdict, abi::kErrno | 38);
  EXPECT_EQ(verdict(newer, "mount"), "ERRNO(1 EPERM)");
  EXPECT_EQ(verdict(newer, "read"), "ALLOW");
  // An obsolete call is no member of @known itself, and a name that x86_64 lacks is not looked up.
  EXPECT_EQ(verdict(newer, "_sysctl"), "ERRNO(38 ENOSYS)");
  EXPECT_EQ(abi::to_string(policy::evaluate(newer.policies.front().policy,
                                            {.nr = 197, .arch = 0x40000003, .instruction_pointer = 0, .args = {}})),
            "ERRNO(38 ENOSYS)");  // fstat64
}

TEST(SystemdReader, OnlyVersionsWithFactsAreReadFor) {
  EXPECT_FALSE(reading("LockPersonality=1", options_for(251)).good);
  const Reading unknown = reading("LockPersonality=1", options_for(999));
  EXPECT_TRUE(unknown.good);
  ASSERT_EQ(unknown.diagnostics.all().size(), 1U);
  EXPECT_EQ(unknown.diagnostics.all()[0].code, "systemd-version");
}

TEST(SystemdReader, GroupsBelongToTheirVersion) {
  EXPECT_FALSE(abi::SystemdGroups(253).names("@sandbox"));
  EXPECT_EQ(abi::SystemdGroups(254).names("@sandbox")->size(), 4U);
  EXPECT_EQ(*abi::SystemdGroups(252).names("@module"),
            (std::vector<std::string_view>{"delete_module", "finit_module", "init_module"}));
  EXPECT_GT(abi::SystemdGroups(252).names("@system-service")->size(), 300U);  // nested groups are followed
  EXPECT_FALSE(abi::SystemdGroups(252).names("@nosuch"));
  EXPECT_FALSE(abi::SystemdGroups(252).names("mount"));
}

TEST(SystemdReader, ARuleKnowsTheLineThatCausedIt) {
  const Reading one = reading("SystemCallFilter=~uname \\\n  @swap\nSystemCallErrorNumber=EPERM");
  const auto& rules = one.policies.back().policy.rules;
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].where.line, 2);
  EXPECT_EQ(rules[0].where.column, 19);
  EXPECT_EQ(rules[1].names, (Names{"swapoff", "swapon"}));
  EXPECT_EQ(rules[1].where.line, 3);
  EXPECT_EQ(rules[1].where.column, 3);
  EXPECT_EQ(rules[1].where.file, "x.service");
}

TEST(SystemdReader, TheNameOfTheFileChoosesTheSection) {
  EXPECT_TRUE(reading("LockPersonality=1", options_for(252), "a/x.service.d/y.conf").good);
  EXPECT_TRUE(reading("LockPersonality=1", options_for(252), "anything").good);
  EXPECT_FALSE(reading("LockPersonality=1", options_for(252), "x.socket").good);
}

TEST(SystemdReader, UnitsAreDetectedByNameOrSection) {
  EXPECT_TRUE(looks_like_unit("/etc/systemd/system/x.service", ""));
  EXPECT_TRUE(looks_like_unit("x.mount", "text"));
  EXPECT_TRUE(looks_like_unit("fragment", "# a comment\n [Service] \n"));
  EXPECT_FALSE(looks_like_unit("x.json", "{\"a\": \"\n[Service]\n\"}"));
  EXPECT_FALSE(looks_like_unit("x.timer", "[Timer]\n"));
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("systemd-reader-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    EXPECT_TRUE(write_file_atomically(file, text));
    return file;
  }
  std::string path(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

TEST(SystemdDropIns, AreReadByNameAfterTheUnit) {
  const Folder folder;
  const std::string unit = folder.write("x.service", "[Service]\nSystemCallFilter=~uname\nSystemCallErrorNumber=5\n");
  folder.write("x.service.d/9.conf", "[Service]\nSystemCallErrorNumber=9\n");
  folder.write("x.service.d/10.conf", "[Service]\nSystemCallErrorNumber=10\nSystemCallFilter=~chmod\n");
  folder.write("x.service.d/11.txt", "[Service]\nSystemCallErrorNumber=11\n");
  folder.write("x.service.d/.z.conf", "[Service]\nSystemCallErrorNumber=12\n");
  fs::create_symlink("/dev/null", folder.path("x.service.d/99-masked.conf"));
  Diagnostics diagnostics;
  const auto layer = read({"", unit}, options_for(252), diagnostics);
  ASSERT_TRUE(layer) << to_string(layer.error());
  EXPECT_EQ(layer->spec.kind, "systemd");
  const auto& rules = std::get<Policies>(layer->content).back().policy.rules;
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].verdict, abi::kErrno | 9);
  EXPECT_EQ(rules[1].where.file, folder.path("x.service.d/10.conf"));
}

TEST(SystemdDropIns, NothingElseThanFilesIsOpened) {
  const Folder folder;
  const std::string unit = folder.write("x.service", "[Service]\nLockPersonality=1\n");
  fs::create_directories(folder.path("x.service.d"));
  ASSERT_EQ(::mkfifo(folder.path("x.service.d/a.conf").c_str(), 0600), 0);
  Diagnostics diagnostics;
  const auto layer = read({"systemd", unit}, options_for(252), diagnostics);
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().code, make_error_code(Errc::refused));
}

TEST(SystemdDropIns, AreBounded) {
  const Folder folder;
  const std::string unit = folder.write("x.service", "[Service]\nLockPersonality=1\n");
  for (std::size_t i = 0; i <= kMaxDropIns; ++i) folder.write("x.service.d/" + std::to_string(i) + ".conf", "");
  Diagnostics diagnostics;
  EXPECT_FALSE(read_drop_ins(unit, diagnostics));
  EXPECT_TRUE(diagnostics.has_errors());
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::string repeated(std::string_view text) {
  std::string all;
  while (all.size() + text.size() < kMaxInputBytes - 100) all += text;
  return all;
}

// 4 MiB of what is dearest to read. The limit is for sanitized builds; plain ones take a twentieth.
TEST(SystemdReader, HostileUnitsAreReadQuickly) {
  for (const std::string& body :
       {repeated("SystemCallFilter=@known\nSystemCallFilter=~@known:5\n"),
        repeated("SystemCallFilter=~@known @known @known @known x y z\n"),
        repeated("RestrictAddressFamilies=AF_UNIX ~ nope\n"), repeated("\\\n"), repeated("[Service]\n"),
        repeated("SystemCallFilters=x\n"), repeated("=\n"), repeated("a\n"),
        "SystemCallFilter=~" + std::string(1000000, 'x'),
        repeated("SystemCallFilter=" + std::string(900000, '\\') + "\n"), repeated("SystemCallErrorNumber=ENOSUCH\n"),
        repeated("RestrictNamespaces=~net pid bogus\n")}) {
    const double start = cpu_seconds();
    const Reading result = reading(body);
    EXPECT_LT(cpu_seconds() - start, 4.0) << body.substr(0, 60);
    EXPECT_LE(result.diagnostics.all().size(), 2 * Diagnostics::kLimit);
  }
}

TEST(SystemdReader, AssignmentsAndWordsAreBounded) {
  std::string words = "SystemCallFilter=~";
  for (std::size_t i = 0; i <= systemd::kMaxWords; ++i) words += "read ";
  EXPECT_FALSE(reading(words).good);
  std::string assignments;
  for (std::size_t i = 0; i <= systemd::kMaxAssignments; ++i) assignments += "a=b\n";
  EXPECT_FALSE(reading(assignments).good);
}

TEST(SystemdVersion, IsItsFirstNumber) {
  EXPECT_EQ(*parse_systemd_version("252"), 252U);
  EXPECT_EQ(*parse_systemd_version("v256"), 256U);
  EXPECT_EQ(*parse_systemd_version("252.39-1~deb12u2"), 252U);
  for (const char* text : {"", "v", "x", "-1", "252x", "99999999999"})
    EXPECT_FALSE(parse_systemd_version(text)) << text;
}

}  // namespace
}  // namespace seccompress::read
