// SPDX-License-Identifier: Apache-2.0
// Kept programs: found by their inputs, not believed when damaged, bounded in number and size.
#include "receipt/programs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "support/file.h"
#include "support/sha256.h"
#include "support/unique_fd.h"

namespace seccompress::receipt {
namespace {

namespace fs = std::filesystem;
using State = FoundProgram::State;

program::Code returning(std::uint32_t word) { return {BPF_STMT(BPF_RET | BPF_K, word)}; }

class KeptPrograms : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root's files are trusted";
    std::string name = "/var/lib/seccompress-programs-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);  // mode 0700
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  Programs programs() const { return Programs(folder_.string()); }
  fs::path entry(const std::string& inputs) const { return folder_ / "merged" / sha256(inputs); }
  void keep(const std::string& inputs, std::uint32_t word = abi::kAllow, const std::string& about = "about") const {
    const Result<bool> kept = programs().keep(inputs, about, returning(word));
    ASSERT_TRUE(kept) << to_string(kept.error());
    ASSERT_TRUE(*kept);
  }
  State state(const std::string& inputs) const { return programs().find(inputs).state; }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_ / "merged"), {}));
  }
  // `seconds` after the start of time: the order of keeping, where a file system's clock is too coarse to tell.
  void date(const std::string& inputs, std::int64_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, entry(inputs).c_str(), times, 0), 0);
  }

  fs::path folder_;
};

TEST_F(KeptPrograms, AreFoundByTheirInputsAlone) {
  EXPECT_EQ(state("a"), State::miss);
  EXPECT_FALSE(fs::exists(folder_ / "merged")) << "made by looking";
  keep("a", abi::kErrno | 1);
  keep("b", abi::kErrno | 2);
  const FoundProgram found = programs().find("a");
  ASSERT_EQ(found.state, State::hit);
  EXPECT_TRUE(program::same_code(found.receipt->program.view(), returning(abi::kErrno | 1)));
  EXPECT_EQ(found.receipt->about, "about");
  EXPECT_EQ(state("c"), State::miss);
  EXPECT_EQ(fs::status(folder_ / "merged").permissions(), fs::perms::owner_all);
}

TEST_F(KeptPrograms, AreOffWithoutTheAdministratorsFolder) {
  fs::remove(folder_);
  EXPECT_EQ(state("a"), State::off);
  EXPECT_EQ(programs().find("a").why, "");
  EXPECT_FALSE(programs().keep("a", "", returning(abi::kAllow)));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(KeptPrograms, AreNotBelievedInAFolderThatOthersMayTouch) {
  keep("a");
  for (const fs::path& path : {folder_, folder_ / "merged"}) {
    for (const ::mode_t mode : {0755U, 0770U, 0702U, 01700U}) {
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      EXPECT_EQ(state("a"), State::off) << path << " " << mode;
      EXPECT_NE(programs().find("a").why, "");
      EXPECT_FALSE(programs().keep("b", "", returning(abi::kAllow)));
    }
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    ASSERT_EQ(::chown(path.c_str(), 65534, 0), 0);
    EXPECT_EQ(state("a"), State::off) << path;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(state("a"), State::hit);
  EXPECT_EQ(count(), 1U);
  fs::rename(folder_ / "merged", folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "merged");
  EXPECT_EQ(state("a"), State::off);
  EXPECT_FALSE(programs().keep("b", "", returning(abi::kAllow)));
}

TEST_F(KeptPrograms, AreNotBelievedWhenDamagedAndThenReplaced) {
  using Damage = std::function<void(const fs::path&)>;
  const std::vector<std::pair<const char*, Damage>> damages = {
      {"empty", [](const fs::path& p) { fs::resize_file(p, 0); }},
      {"cut off", [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) - 1); }},
      {"continued", [](const fs::path& p) { std::ofstream(p, std::ios::app) << "\n"; }},
      {"too large", [](const fs::path& p) { fs::resize_file(p, (std::size_t{256} << 10) + 1); }},
      {"mode 0644", [](const fs::path& p) { EXPECT_EQ(::chmod(p.c_str(), 0644), 0); }},
      {"set-uid", [](const fs::path& p) { EXPECT_EQ(::chmod(p.c_str(), 04600), 0); }},
      {"another owner", [](const fs::path& p) { EXPECT_EQ(::chown(p.c_str(), 65534, 0), 0); }},
      {"a hard link", [](const fs::path& p) { fs::create_hard_link(p, p.string() + ".link"); }},
      {"a link",
       [](const fs::path& p) { fs::rename(p, p.string() + ".real"), fs::create_symlink(p.string() + ".real", p); }},
      {"a FIFO",
       [](const fs::path& p) {
         fs::remove(p);
         EXPECT_EQ(::mkfifo(p.c_str(), 0600), 0);
       }},
      {"a folder", [](const fs::path& p) { fs::remove(p), fs::create_directory(p); }},
      {"another's",
       [this](const fs::path& p) { keep("b"), fs::copy_file(entry("b"), p, fs::copy_options::overwrite_existing); }},
  };
  for (const auto& [name, damage] : damages) {
    keep("a", abi::kErrno | 1);
    damage(entry("a"));
    EXPECT_EQ(state("a"), State::bad) << name;
    EXPECT_NE(programs().find("a").why, "") << name;
    keep("a", abi::kErrno | 1);
    EXPECT_EQ(state("a"), State::hit) << name;
  }
}

TEST_F(KeptPrograms, AreNotBelievedWithAnyBitFlipped) {
  keep("a");
  const std::string good = *read_file(entry("a").string(), 4096);
  for (std::size_t bit = 0; bit < good.size() * 8; bit += 5) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    std::ofstream(entry("a"), std::ios::binary | std::ios::trunc) << bad;
    EXPECT_EQ(state("a"), State::bad) << "bit " << bit;
  }
}

TEST_F(KeptPrograms, AreAtMostSoManyAndTheOldestGoes) {
  for (std::size_t i = 0; i < kMaxKeptPrograms; ++i) {
    keep(std::to_string(i));
    date(std::to_string(i), static_cast<std::int64_t>(i) + 1);
  }
  EXPECT_EQ(count(), kMaxKeptPrograms);
  keep("5");  // one that is there takes nobody's place
  EXPECT_EQ(count(), kMaxKeptPrograms);
  EXPECT_EQ(state("0"), State::hit);
  keep("one more");
  EXPECT_EQ(count(), kMaxKeptPrograms);
  EXPECT_EQ(state("0"), State::miss);
  EXPECT_EQ(state("1"), State::hit);
  EXPECT_EQ(state("one more"), State::hit);
  keep("another one");
  EXPECT_EQ(state("1"), State::miss);
  EXPECT_EQ(state("5"), State::hit) << "kept again, so not the oldest any more";
}

TEST_F(KeptPrograms, AreBoundedInSizeTogetherAndEach) {
  const std::string about(std::size_t{200} << 10, 'x');
  for (int i = 0; i < 12; ++i) {
    keep(std::to_string(i), abi::kAllow, about);
    date(std::to_string(i), i + 1);
  }
  EXPECT_EQ(count(), kMaxKeptBytes / about.size());
  EXPECT_EQ(state("11"), State::hit);
  EXPECT_EQ(state("0"), State::miss);
  EXPECT_FALSE(programs().keep("huge", std::string(std::size_t{256} << 10, 'x'), returning(abi::kAllow)));
}

TEST_F(KeptPrograms, AreWrittenByOneAtATimeAndNobodyWaits) {
  keep("a");
  const UniqueFd folder(::open((folder_ / "merged").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(folder.get(), LOCK_EX), 0);
  const Result<bool> kept = programs().keep("b", "", returning(abi::kAllow));
  ASSERT_TRUE(kept);
  EXPECT_FALSE(*kept);
  EXPECT_EQ(state("b"), State::miss);
  EXPECT_EQ(state("a"), State::hit);
}

TEST_F(KeptPrograms, OutliveALeftoverOfAKilledWriter) {
  keep("a");
  std::ofstream(folder_ / "merged" / "new") << "half";
  keep("b");
  EXPECT_FALSE(fs::exists(folder_ / "merged" / "new"));
  EXPECT_EQ(state("a"), State::hit);
  EXPECT_EQ(state("b"), State::hit);
}

}  // namespace
}  // namespace seccompress::receipt
