// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>

namespace seccompress {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  WriteFile() {
    std::string pattern = (fs::temp_directory_path() / "write-file.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~WriteFile() override { fs::remove_all(folder_); }

  fs::path at(const char* name) const { return folder_ / name; }
  std::string content(const char* name) const { return read_file(at(name), 1000).value_or("unreadable"); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  // Refused, the place untouched, nothing beside it.
  void expect_refusal(const char* name) const {
    const fs::file_type before = fs::symlink_status(at(name)).type();
    const std::size_t count = entries();
    const Result<void> done = write_file_atomically(at(name), "new");
    ASSERT_FALSE(done);
    EXPECT_NE(to_string(done.error()).find("not a regular file"), std::string::npos) << to_string(done.error());
    EXPECT_EQ(fs::symlink_status(at(name)).type(), before);
    EXPECT_EQ(entries(), count);
  }

 private:
  fs::path folder_;
};

TEST_F(WriteFile, MakesAndReplacesAFile) {
  ASSERT_TRUE(write_file_atomically(at("file"), "old"));
  ASSERT_TRUE(write_file_atomically(at("file"), "new"));
  EXPECT_EQ(content("file"), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(WriteFile, FollowsALink) {
  ASSERT_TRUE(write_file_atomically(at("file"), "old"));
  fs::create_symlink("file", at("link"));
  ASSERT_TRUE(write_file_atomically(at("link"), "new"));
  EXPECT_EQ(content("file"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
}

TEST_F(WriteFile, RefusesALinkToNothing) {
  fs::create_symlink("gone", at("link"));
  EXPECT_FALSE(write_file_atomically(at("link"), "new"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(WriteFile, NeverReplacesAPipeAFolderOrWhatALinkToThemNames) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(fs::create_directory(at("folder")));
  fs::create_symlink("pipe", at("link"));
  for (const char* name : {"pipe", "folder", "link"}) expect_refusal(name);
}

// A device of its own: a failing test must not take /dev/null from its machine.
TEST_F(WriteFile, NeverReplacesADevice) {
  if (::mknod(at("null").c_str(), S_IFCHR | 0600, ::makedev(1, 3)) != 0) GTEST_SKIP() << "may not make device nodes";
  expect_refusal("null");
}

}  // namespace
}  // namespace seccompress
