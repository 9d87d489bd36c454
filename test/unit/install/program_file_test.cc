// SPDX-License-Identifier: Apache-2.0
// On files of this process, which stands in for init: descriptors are what find() goes by.
#include "install/program_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "verify/verify.h"

namespace seccompress::install {
namespace {

namespace fs = std::filesystem;

program::Code code_of(std::size_t loads) {
  program::Code code(loads, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

program::VerifiedProgram proved(const program::Code& code) {
  const std::vector<program::Code> stack = {code};
  return std::get<program::VerifiedProgram>(verify::prove(code, stack));
}

class ProgramFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "program-file.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directory(folder_ / "c");
    path_ = folder_ / "c/seccomp.bpf";
    init_.pid = ::getpid();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void open(const std::string& bytes) {
    std::ofstream(path_) << bytes;
    fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(fd_);
  }
  void open(const program::Code& code) { open(program::to_bytes(code)); }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  // Found, and read: what a replacement starts from.
  ProgramFile ready() {
    auto file = ProgramFile::find(init_, "c");
    EXPECT_TRUE(file.has_value() && file->has_value());
    EXPECT_TRUE((**file).read().has_value());
    return std::move(**file);
  }

  fs::path folder_, path_;
  UniqueFd fd_;
  Identity init_;
};

TEST_F(ProgramFileTest, IsFoundByTheContainersName) {
  open(code_of(3));
  const auto file = ProgramFile::find(init_, "c");
  ASSERT_TRUE(file.has_value() && file->has_value());
  EXPECT_EQ((*file)->path(), fs::canonical(path_));
  EXPECT_FALSE((*file)->shared().value());
  for (const char* other : {"d", "", "xc", "c/seccomp.bpf"})
    EXPECT_FALSE(ProgramFile::find(init_, other).value().has_value()) << other;
}

TEST_F(ProgramFileTest, IsRefusedWhenItIsTwoFilesOrNone) {
  open(code_of(3));
  const UniqueFd again(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(ProgramFile::find(init_, "c").value().has_value()) << "one file, twice open";
  fs::create_directories(folder_ / "x/c");
  const UniqueFd other(::open((folder_ / "x/c/seccomp.bpf").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_FALSE(ProgramFile::find(init_, "c").has_value()) << "two files";
}

TEST_F(ProgramFileTest, IsRefusedWhenItsNameLeadsElsewhere) {
  open(code_of(3));
  fs::remove(path_);
  EXPECT_FALSE(ProgramFile::find(init_, "c").has_value());
}

TEST_F(ProgramFileTest, IsReadAsAProgramOrNotAtAll) {
  open(code_of(3));
  EXPECT_EQ(ProgramFile::find(init_, "c").value()->read().value().size(), 4U);
  for (const std::size_t size : {std::size_t{0}, std::size_t{12}, std::size_t{8 * 4097}, std::size_t{1} << 40}) {
    ASSERT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(size)), 0);
    EXPECT_FALSE(ProgramFile::find(init_, "c").value()->read().has_value()) << size;
  }
}

TEST_F(ProgramFileTest, TakesALongerAndAShorterProgramInTheSameFile) {
  for (const std::size_t loads : {std::size_t{1}, std::size_t{30}, std::size_t{4095}}) {
    open(code_of(3));
    ProgramFile file = ready();
    ASSERT_TRUE(file.replace(proved(code_of(loads))).has_value());
    EXPECT_FALSE(file.spoilt());
    EXPECT_EQ(content(), program::to_bytes(code_of(loads)));
    struct ::stat status {};
    ASSERT_EQ(::fstat(fd_.get(), &status), 0);
    EXPECT_EQ(status.st_ino, file.inode());
    EXPECT_EQ(static_cast<std::size_t>(status.st_size), content().size());
  }
}

TEST_F(ProgramFileTest, IsLeftAloneWhenSomebodyElseChangedIt) {
  const std::vector<std::function<void()>> changes = {
      [&] { ASSERT_EQ(::pwrite(fd_.get(), "x", 1, 9), 1); }, [&] { ASSERT_EQ(::ftruncate(fd_.get(), 24), 0); },
      [&] { ASSERT_EQ(::ftruncate(fd_.get(), 48), 0); }, [&] { fs::create_hard_link(path_, folder_ / "cached"); },
      [&] { fs::rename(path_, folder_ / "away"); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    open(code_of(3));
    ProgramFile file = ready();
    changes[i]();
    std::string before(100, '\0');
    before.resize(static_cast<std::size_t>(::pread(fd_.get(), before.data(), before.size(), 0)));
    EXPECT_FALSE(file.replace(proved(code_of(9))).has_value()) << i;
    EXPECT_FALSE(file.spoilt()) << i;
    std::string after(100, '\0');
    after.resize(static_cast<std::size_t>(::pread(fd_.get(), after.data(), after.size(), 0)));
    EXPECT_EQ(before, after) << i;
    fs::remove(folder_ / "cached");
    fs::remove(folder_ / "away");
  }
}

// RLIMIT_FSIZE stands in for a disk that is full at a chosen byte.
void limit_file_size(std::size_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_F(ProgramFileTest, KeepsItsProgramWhenThereIsNoRoom) {
  open(code_of(3));
  ProgramFile file = ready();
  limit_file_size(100);
  const auto replaced = file.replace(proved(code_of(60)));
  limit_file_size(RLIM_INFINITY);
  EXPECT_FALSE(replaced.has_value());
  EXPECT_FALSE(file.spoilt());
  EXPECT_EQ(content(), program::to_bytes(code_of(3)));
}

TEST_F(ProgramFileTest, HoldsNoProgramAfterAWriteFailedUntilItIsRestored) {
  open(code_of(20));
  ProgramFile file = ready();
  limit_file_size(40);  // the first write fits, the second one does not
  const auto replaced = file.replace(proved(code_of(10)));
  EXPECT_FALSE(replaced.has_value());
  EXPECT_TRUE(file.spoilt());
  EXPECT_FALSE(program::check(program::from_bytes(content(), "it").value()).has_value()) << "a kernel would take it";
  EXPECT_FALSE(file.restore().has_value());
  EXPECT_TRUE(file.spoilt());
  limit_file_size(RLIM_INFINITY);
  EXPECT_TRUE(file.restore().has_value());
  EXPECT_FALSE(file.spoilt());
  EXPECT_EQ(content(), program::to_bytes(code_of(20)));
}

TEST_F(ProgramFileTest, KnowsWhoWroteTheseBytes) {
  open(code_of(3));
  ProgramFile file = ready();
  EXPECT_EQ(file.author(), "");
  file.sign("scmp-0123456789");
  if (file.author().empty()) GTEST_SKIP() << "trusted.* attributes take root and a file system that has them";
  EXPECT_EQ(file.author(), "scmp-0123456789");
  ASSERT_EQ(::pwrite(fd_.get(), "x", 1, 9), 1);
  EXPECT_EQ(file.author(), "") << "other bytes";
}

}  // namespace
}  // namespace seccompress::install
