// SPDX-License-Identifier: Apache-2.0
// What a preparation is good for: the layers and the configuration that it was made of, no others.
#include "prepared.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

namespace fs = std::filesystem;

// What the hook is told of a host's systemd, so that these tests are the same on each.
std::string facts_text(const std::string& differences = "", unsigned version = 252, const std::string& kernel = "6.1") {
  return R"({"arch": "x86_64", "kernel": ")" + kernel +
         R"(", "caps": [], "weights": "measured", "systemd": {"version": )" + std::to_string(version) +
         R"(, "from": "host", "groups_differ": [)" + differences + "]}}";
}

class Preparation : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root's files are trusted";
    std::string name = "/var/lib/seccompress-prepared-XXXXXX";  // every folder above has to be root's alone
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("x.service", "[Service]\nSystemCallArchitectures=native\n");
    write("facts.json", facts_text());
    configure("systemd:" + place("x.service"));
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  std::string place(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(place(name), text));
  }
  void configure(const std::string& layers) {
    settings_ = "version: 1\nhost_facts: " + place("facts.json") + "\nhost_layers: [" + layers + "]\n";
    write("config.yaml", settings_);
  }
  receipt::Cache cache() const { return receipt::Cache(place("receipts")); }
  Result<Prepared> prepare_now(const SystemdCheck& check = {}) const {
    Diagnostics diagnostics;
    return prepare(place("config.yaml"), cache(), diagnostics, check);
  }
  std::string program_of(const std::string& facts) const {
    write("facts.json", facts);
    const auto made = prepare_now();
    return made ? made->program_sha256 : to_string(made.error());
  }
  Look::State state() const { return look_prepared(place("config.yaml"), cache()).state; }
  Result<std::optional<Prepared>> find(const std::string& settings) const {
    std::vector<std::string> notes;
    return find_prepared(place("config.yaml"), sha256(settings), cache(), notes);
  }

  fs::path folder_;
  std::string settings_;
};

TEST_F(Preparation, IsFoundAgainAsItWasMade) {
  EXPECT_EQ(state(), Look::State::none);
  const auto made = prepare_now();
  ASSERT_TRUE(made) << to_string(made.error());
  const auto found = find(settings_);
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE(program::same_code((*found)->program.view(), made->program.view()));
  EXPECT_EQ((*found)->program_sha256, made->program_sha256);
  EXPECT_EQ((*found)->inputs, made->inputs);
  EXPECT_EQ((*found)->configuration, made->configuration);
  EXPECT_EQ((*found)->flags, made->flags);
}

TEST_F(Preparation, IsRefusedForAStartUnderAConfigurationThatWasReadBefore) {
  const std::string before = settings_;
  configure("systemd:" + place("x.service") + ", systemd:" + place("x.service"));
  ASSERT_TRUE(prepare_now());
  const auto found = find(before);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("changed while the container was being started"), std::string::npos);
  EXPECT_TRUE(find(settings_));
}

TEST_F(Preparation, IsStaleWhenADropInAppears) {
  ASSERT_TRUE(prepare_now());
  EXPECT_EQ(state(), Look::State::good);
  fs::create_directory(place("x.service.d"));
  EXPECT_EQ(state(), Look::State::stale);
  ASSERT_TRUE(prepare_now());
  write("x.service.d/1.conf", "[Service]\nLockPersonality=yes\n");
  EXPECT_EQ(state(), Look::State::stale);
}

TEST_F(Preparation, IsForTheSystemdOfTheHostFacts) {
  write("x.service", "[Service]\nSystemCallFilter=~@clock\n");
  const std::string program = program_of(facts_text());
  EXPECT_EQ(state(), Look::State::good);
  write("facts.json", facts_text(R"("-@clock adjtimex")"));
  EXPECT_EQ(state(), Look::State::stale);
  EXPECT_EQ(look_prepared(place("config.yaml"), cache()).why, place("facts.json") + " changed");
  EXPECT_NE(program_of(facts_text(R"("-@clock adjtimex")")), program);
  const Look look = look_prepared(place("config.yaml"), cache());
  ASSERT_EQ(look.state, Look::State::good);
  EXPECT_EQ(look.prepared->systemd.version, 252U);
  EXPECT_EQ(look.prepared->systemd.from, place("facts.json"));
}

TEST_F(Preparation, ForASystemdOutsideTheTablesIsMadeOnlyWhenItIsNewerAndSaysSo) {
  EXPECT_NE(program_of(facts_text(R"("+@default exit", "+@known exit")", 251)).find("systemd 251 is older than 252"),
            std::string::npos);
  EXPECT_EQ(state(), Look::State::none);
  write("facts.json", facts_text("", 257));
  const auto made = prepare_now();
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(made->warnings.size(), 1U);
  EXPECT_NE(made->warnings[0].find("nothing is known of systemd 257; read as 256"), std::string::npos);
}

// systemd 254 asks the kernel itself from 6.3 on: whether it does is a matter of the kernel that is here.
TEST_F(Preparation, TakesNoKernelFromTheHostFacts) {
  write("x.service", "[Service]\nMemoryDenyWriteExecute=yes\n");
  const std::string program = program_of(facts_text("", 254, "3.10"));
  EXPECT_EQ(program.size(), 64U);
  EXPECT_EQ(program_of(facts_text("", 254, "99.0")), program);
}

TEST_F(Preparation, OfUnitsIsRefusedUnderHostFactsThatSayNothingOfSystemd) {
  std::string text = facts_text();
  text.replace(text.find("{\"version"), std::string::npos, "null}");
  EXPECT_NE(program_of(text).find("facts.json: says nothing of systemd; write it with"), std::string::npos);
  configure("dir:" + place("stack"));
  fs::create_directory(place("stack"));
  write("stack/00.bpf", program::to_bytes(program::Code{BPF_STMT(BPF_RET | BPF_K, abi::kAllow)}));
  const auto made = prepare_now();
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(made->systemd.version, 0U);
}

TEST_F(Preparation, TakesNoHostFactsThatOthersCanWrite) {
  fs::permissions(place("facts.json"), fs::perms::others_write, fs::perm_options::add);
  const auto made = prepare_now();
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what.find("facts.json: writable by group or others"), std::string::npos) << made.error().what;
}

TEST_F(Preparation, IsNotKeptWhenTheHostsSystemdIsAnother) {
  std::string used;
  const auto made = prepare_now([&](const host::SystemdChoice& systemd, const bundle::Settings& settings) {
    used = std::to_string(systemd.facts.version) + " of " + settings.host_facts;
    return Result<void>(failure(Errc::refused, "another one"));
  });
  EXPECT_EQ(used, "252 of " + place("facts.json"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().what, "another one");
  EXPECT_EQ(state(), Look::State::none);
}

TEST_F(Preparation, IsEachConfigurationsOwn) {
  ASSERT_TRUE(prepare_now());
  const std::string other = place("other.yaml");
  write("other.yaml", settings_);
  EXPECT_EQ(look_prepared(other, cache()).state, Look::State::none);
  Diagnostics diagnostics;
  ASSERT_TRUE(prepare(other, cache(), diagnostics));
  EXPECT_EQ(look_prepared(other, cache()).state, Look::State::good);
  EXPECT_EQ(state(), Look::State::good);
}

TEST_F(Preparation, OfTwoLayersThatNotifyIsRefusedAndNamesBoth) {
  const program::Code notify = {BPF_STMT(BPF_RET | BPF_K, abi::kUserNotif)};
  write("a.bpf", program::to_bytes(notify));
  write("b.bpf", program::to_bytes(notify));
  configure("bpf:" + place("a.bpf") + ", bpf:" + place("b.bpf"));
  const auto made = prepare_now();
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what.find("a.bpf"), std::string::npos) << made.error().what;
  EXPECT_NE(made.error().what.find("b.bpf"), std::string::npos) << made.error().what;
  EXPECT_EQ(state(), Look::State::none);
}

}  // namespace
}  // namespace seccompress::hooks
