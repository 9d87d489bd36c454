// SPDX-License-Identifier: Apache-2.0
// The parts of the hook that touch nobody else's process.
#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include "abi/syscalls.h"
#include "needs.h"
#include "plan.h"
#include "record.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

constexpr std::uint32_t kLogFlag = SECCOMP_FILTER_FLAG_LOG, kSpecAllow = SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        kTsync = SECCOMP_FILTER_FLAG_TSYNC, kListener = SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        kKillable = SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

std::uint32_t merged(std::uint32_t container, const std::vector<std::uint32_t>& host) {
  std::vector<std::string> notes;
  return merge_flags(container, host, notes);
}

TEST(Flags, StayTheContainersOwnWithoutHostLayers) {
  for (const std::uint32_t flags : {0U, kSpecAllow, kLogFlag, kSpecAllow | kLogFlag | kTsync | kListener | kKillable})
    EXPECT_EQ(merged(flags, {}), flags);
}

TEST(Flags, KeepSpecAllowAndLogOnlyWhenAllLayersHaveThem) {
  EXPECT_EQ(merged(kSpecAllow | kLogFlag, {0}), 0U);
  EXPECT_EQ(merged(kSpecAllow | kLogFlag, {kSpecAllow | kLogFlag, kSpecAllow}), kSpecAllow);
  EXPECT_EQ(merged(0, {kSpecAllow | kLogFlag}), 0U);
}

TEST(Flags, KeepWhatIsTheContainersBusiness) {
  EXPECT_EQ(merged(kTsync | kListener | kKillable | kSpecAllow, {0}), kTsync | kListener | kKillable);
}

TEST(Flags, SayWhenLoggingIsLost) {
  std::vector<std::string> notes;
  merge_flags(kLogFlag, {kLogFlag}, notes);
  EXPECT_TRUE(notes.empty());
  merge_flags(0, {kLogFlag}, notes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("FILTER_FLAG_LOG"), std::string::npos);
}

program::Code refusing(const char* call, abi::Verdict verdict) {
  const std::uint32_t number = *abi::syscall_number(abi::native_arch(), call);
  return {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
          {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
          {BPF_RET | BPF_K, 0, 0, verdict},
          {BPF_RET | BPF_K, 0, 0, abi::kAllow}};
}

CompiledLayer layer_of(const std::string& name, const std::vector<program::Code>& filters) {
  CompiledLayer layer;
  layer.name = name;
  for (const program::Code& filter : filters) {
    layer.filters.push_back(filter);
    layer.filter_names.push_back("0" + std::to_string(layer.filter_names.size()) + ".bpf");
  }
  return layer;
}

TEST(UnmetNeeds, AreNoneUnderAProgramThatAllowsAll) {
  const program::Code allow{{BPF_RET | BPF_K, 0, 0, abi::kAllow}};
  for (const abi::Runtime runtime : {abi::Runtime::runc, abi::Runtime::crun})
    for (const bool no_new_privs : {false, true})
      EXPECT_TRUE(unmet_messages(runtime, no_new_privs, InForce::from_install, allow, {}).empty());
}

TEST(UnmetNeeds, NameCallLayerFilterAndRemedy) {
  const program::Code kill = refusing("setgroups", abi::kKillProcess);
  const std::vector<CompiledLayer> layers = {layer_of("dir:/l", {refusing("uname", abi::kErrno | 1), kill}),
                                             layer_of("bpf:/c", {})};
  const auto messages = unmet_messages(abi::Runtime::runc, false, InForce::from_install, kill, layers);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0],
            "the container could not start: runc still needs setgroups after its filter is in force, and layer dir:/l, "
            "filter "
            "01.bpf, answers KILL_PROCESS; start it with `noNewPrivileges: true`, or use that layer without the group "
            "that has "
            "setgroups");
  EXPECT_TRUE(unmet_messages(abi::Runtime::runc, true, InForce::from_install, kill, layers).empty());
  EXPECT_TRUE(unmet_messages(abi::Runtime::crun, false, InForce::from_install, kill, layers)
                  .empty());  // crun calls setresgid and setresuid
}

TEST(UnmetNeeds, OfferNoRemedyThatDoesNotHelp) {
  const program::Code kill = refusing("execve", abi::kErrno | 13);
  const auto messages =
      unmet_messages(abi::Runtime::crun, false, InForce::from_install, kill, {layer_of("bpf:/l", {kill})});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].find("noNewPrivileges"), std::string::npos) << messages[0];
}

TEST(UnmetNeeds, AreTheExecveAloneWhenTheProgramIsInjectedThere) {
  const program::Code openat = refusing("openat", abi::kKillProcess), execve = refusing("execve", abi::kErrno | 1);
  const std::vector<CompiledLayer> one = {layer_of("bpf:/l", {openat})}, other = {layer_of("bpf:/l", {execve})};
  EXPECT_EQ(unmet_messages(abi::Runtime::runc, true, InForce::from_install, openat, one).size(), 1U);
  EXPECT_TRUE(unmet_messages(abi::Runtime::runc, true, InForce::from_exec, openat, one).empty());
  EXPECT_EQ(unmet_messages(abi::Runtime::runc, true, InForce::from_exec, execve, other).size(), 1U);
}

TEST(RuntimeNeeds, AreCallsOfThisMachine) {
  for (const abi::RuntimeNeed& need : abi::runtime_needs()) {
    const abi::SeccompData call = abi::call_of(need);
    EXPECT_EQ(abi::syscall_name(call.arch, static_cast<std::uint32_t>(call.nr)), need.call);
  }
}

TEST(RuntimeNeeds, AreMetByWhatLetsACallRun) {
  for (const abi::Verdict verdict : {abi::kAllow, abi::kLog, abi::kUserNotif})
    for (const abi::Need need : {abi::Need::answered, abi::Need::survived}) EXPECT_TRUE(abi::meets(need, verdict));
  for (const abi::Verdict verdict : {abi::kErrno | 1, abi::kTrace}) {
    EXPECT_FALSE(abi::meets(abi::Need::answered, verdict));
    EXPECT_TRUE(abi::meets(abi::Need::survived, verdict));
  }
  for (const abi::Verdict verdict : {abi::kKillProcess, abi::kKillThread, abi::kTrap, abi::Verdict{0x00060000}})
    for (const abi::Need need : {abi::Need::answered, abi::Need::survived}) EXPECT_FALSE(abi::meets(need, verdict));
}

TEST(LogRecord, IsOneLineWhateverTheContainerIsCalled) {
  Record record;
  record.outcome = "installed";
  record.container = "a\nb\"c\xff\x1b";
  const std::string line = to_json(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_NE(line.find("\"container\":\"a\\nb\\\"c\xef\xbf\xbd\\u001b\""), std::string::npos) << line;
}

TEST(Sha256, IsTheStandards) {  // FIPS 180-2, appendix B.1; and the empty text
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace seccompress::hooks
