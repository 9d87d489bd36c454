// SPDX-License-Identifier: Apache-2.0
// A program of an earlier start is given for the very same ingredients, and for no others.
#include "composition.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>

#include "abi/arch.h"
#include "abi/syscalls.h"
#include "plan.h"
#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

namespace fs = std::filesystem;

const program::Code kAllow = {BPF_STMT(BPF_RET | BPF_K, abi::kAllow)};

program::Code refusing(const char* call, std::uint32_t number) {
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, *abi::syscall_number(abi::native_arch(), call), 0, 1),
          BPF_STMT(BPF_RET | BPF_K, abi::kErrno | number), BPF_STMT(BPF_RET | BPF_K, abi::kAllow)};
}

Ingredients some() {
  Ingredients made;
  made.kind = Ingredients::Kind::merged;
  made.host = {{refusing("umask", 1), refusing("acct", 2)}, {kAllow}};
  made.profile.emplace().push_back(refusing("uname", 3));
  made.container = refusing("uname", 4);
  made.build = "b";
  made.kernel = "k";
  return made;
}

TEST(CompositionInputs, DifferWheneverOneIngredientDoes) {
  using Change = std::function<void(Ingredients&)>;
  const std::vector<Change> changes = {
      [](Ingredients&) {},
      [](Ingredients& i) { i.kind = Ingredients::Kind::predicted; },
      [](Ingredients& i) { i.kind = Ingredients::Kind::host; },
      [](Ingredients& i) { i.host[0][1][2].k ^= 1; },
      [](Ingredients& i) { i.host[0][1][1].jt = 1; },
      [](Ingredients& i) { std::swap(i.host[0], i.host[1]); },
      [](Ingredients& i) { std::swap(i.host[0][0], i.host[0][1]); },
      [](Ingredients& i) { i.host.pop_back(); },
      [](Ingredients& i) {
        i.host = {{i.host[0][0]}, {i.host[0][1], kAllow}};
      },
      [](Ingredients& i) {
        i.host = {{i.host[0][0], i.host[0][1], kAllow}};
      },
      [](Ingredients& i) { i.profile.reset(); },
      [](Ingredients& i) { i.profile->clear(); },
      [](Ingredients& i) { i.profile->front()[2].k ^= 1; },
      [](Ingredients& i) { std::swap(i.profile->front(), i.container); },
      [](Ingredients& i) { i.on_mismatch = bundle::OnMismatch::refuse; },
      [](Ingredients& i) { i.container[2].k ^= 1; },
      [](Ingredients& i) { i.container.clear(); },
      [](Ingredients& i) { i.flags = SECCOMP_FILTER_FLAG_NEW_LISTENER; },
      [](Ingredients& i) { i.build = "c"; },
      [](Ingredients& i) { i.kernel = "l"; },
      [](Ingredients& i) { i.build = "bkernel", i.kernel = ""; },
  };
  std::set<std::string> texts;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Ingredients made = some();
    changes[i](made);
    EXPECT_TRUE(texts.insert(inputs_text(made)).second) << "change " << i;
  }
  EXPECT_EQ(inputs_text(some()), inputs_text(some()));
}

constexpr char kProfile[] =
    R"({"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": ["uname"], "action": "SCMP_ACT_ERRNO", "errnoRet": 99}]})";

// A host layer that refuses umask, composed with a container's program.
class KeptCompositions : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root's files are trusted";
    std::string name = "/var/lib/seccompress-composed-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(receipts());
    fs::permissions(receipts(), fs::perms::owner_all);
    host(refusing("umask", 97));
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  fs::path receipts() const { return folder_ / "receipts"; }
  void host(const program::Code& code) const {
    ASSERT_TRUE(write_file_atomically((folder_ / "host.bpf").string(), program::to_bytes(code)));
  }

  PlanInput input() const {
    PlanInput in;
    in.settings.host_layers = {"bpf:" + (folder_ / "host.bpf").string()};
    in.settings.on_mismatch = on_mismatch_;
    in.config.has_seccomp = true;
    in.config.no_new_privs = true;
    in.config_path = "config.json";
    in.config_bytes = R"({"ociVersion": "1.0.2", "linux": {"seccomp": )" + profile_ + "}}";
    in.receipts = receipts().string();
    return in;
  }
  // One start: composed, and kept when that worked.
  install::Decision start(const program::Code& container, std::uint32_t flags = 0) {
    Diagnostics diagnostics;
    auto plan = Plan::make(input(), diagnostics);
    EXPECT_TRUE(plan) << to_string(plan.error());
    install::Attempt attempt;
    attempt.kind = install::CallKind::install_seccomp;
    attempt.flags = flags;
    attempt.code = container;
    record_ = {};
    install::Decision decision = (*plan)->decide(attempt, record_);
    if (decision.kind == install::Decision::Kind::install) (*plan)->keep();
    notes_ = (*plan)->keeping_notes();
    return decision;
  }
  void expect_start(bool cached, const program::Code& container, std::uint32_t flags = 0) {
    const install::Decision decision = start(container, flags);
    ASSERT_EQ(decision.kind, install::Decision::Kind::install) << decision.why;
    EXPECT_EQ(record_.cached, cached);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(receipts() / "merged")) all.push_back(entry.path());
    return all;
  }

  fs::path folder_;
  std::string profile_ = kProfile;
  bundle::OnMismatch on_mismatch_ = bundle::OnMismatch::strictest;
  Record record_;
  std::vector<std::string> notes_;
};

TEST_F(KeptCompositions, GiveTheSecondStartTheFirstOnesProgramAndRecord) {
  const program::Code container = refusing("uname", 98);  // not what the profile says
  const install::Decision first = start(container);
  const Record made = record_;
  EXPECT_FALSE(made.cached);
  EXPECT_NE(made.mismatch, "");
  ASSERT_TRUE(first.program);
  const install::Decision second = start(container);
  ASSERT_TRUE(second.program);
  EXPECT_TRUE(program::same_code(first.program->view(), second.program->view()));
  EXPECT_EQ(first.flags, second.flags);
  EXPECT_TRUE(record_.cached);
  record_.cached = false;
  const auto line = [](const Record& record) { return to_json(record).substr(to_json(record).find("\"outcome\"")); };
  EXPECT_EQ(line(record_), line(made));
  EXPECT_EQ(record_.layers.size(), 3U);
}

TEST_F(KeptCompositions, AreNotUsedForAnyOtherIngredient) {
  const program::Code container = refusing("uname", 99);
  expect_start(false, container);
  expect_start(true, container);
  expect_start(false, refusing("uname", 98));
  expect_start(false, container, SECCOMP_FILTER_FLAG_LOG);
  on_mismatch_ = bundle::OnMismatch::refuse;
  EXPECT_EQ(start(refusing("uname", 98)).kind, install::Decision::Kind::refuse);
  on_mismatch_ = bundle::OnMismatch::strictest;
  profile_.replace(profile_.find("99"), 2, "96");
  expect_start(false, container);
  profile_ = kProfile;
  host(refusing("umask", 96));
  expect_start(false, container);
  host(refusing("umask", 97));
  expect_start(true, container);
}

TEST_F(KeptCompositions, DoNotSpareTheCheckForTwoListeners) {
  const program::Code notify = {BPF_STMT(BPF_RET | BPF_K, abi::kUserNotif)};
  host(notify);
  const program::Code container = refusing("uname", 99);
  expect_start(false, container);
  const install::Decision refused = start(container, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  EXPECT_EQ(refused.kind, install::Decision::Kind::refuse);
  EXPECT_NE(refused.why.find("two layers notify"), std::string::npos) << refused.why;
}

// A right receipt of a looser program under another composition's name: its inputs are not the ones asked for.
TEST_F(KeptCompositions, AreNotTakenFromAnotherOnesReceipt) {
  const program::Code container = refusing("uname", 99), other = refusing("uname", 98);
  expect_start(false, container);
  const std::vector<fs::path> of_first = entries();
  expect_start(false, other);
  for (const fs::path& entry : entries()) {
    if (std::find(of_first.begin(), of_first.end(), entry) != of_first.end()) continue;
    for (const fs::path& foreign : of_first) fs::copy_file(foreign, entry, fs::copy_options::overwrite_existing);
  }
  const install::Decision decision = start(other);
  ASSERT_TRUE(decision.program);
  EXPECT_FALSE(record_.cached);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_NE(notes_[0].find("its name is not the hash of its inputs"), std::string::npos) << notes_[0];
  expect_start(true, other);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(KeptCompositions, AreAsStrictAsTheLayers) {
  const program::Code container = refusing("acct", 95);
  expect_start(false, container);
  const install::Decision decision = start(container);
  ASSERT_TRUE(record_.cached && decision.program);
  for (const auto& [call, errno_value] : {std::pair{"umask", 97U}, {"acct", 95U}, {"uname", 99U}, {"getpid", 0U}}) {
    abi::SeccompData data{};
    data.arch = abi::facts(abi::native_arch()).audit;
    data.nr = static_cast<int>(*abi::syscall_number(abi::native_arch(), call));
    EXPECT_EQ(program::interpret(decision.program->view(), data),
              errno_value == 0 ? abi::kAllow : abi::kErrno | errno_value)
        << call;
  }
}

TEST_F(KeptCompositions, AreNeitherMadeNorNotedWithoutAFolderOfReceipts) {
  fs::remove(receipts());
  for (int i = 0; i < 2; ++i) {
    expect_start(false, refusing("uname", 99));
    EXPECT_TRUE(notes_.empty());
  }
  EXPECT_FALSE(fs::exists(receipts()));
}

TEST_F(KeptCompositions, ThatCannotBeKeptAreNotedAndHarmNothing) {
  ASSERT_TRUE(write_file_atomically((receipts() / "merged").string(), ""));
  expect_start(false, refusing("uname", 99));
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_NE(notes_[0].find("merged"), std::string::npos) << notes_[0];
}

}  // namespace
}  // namespace seccompress::hooks
