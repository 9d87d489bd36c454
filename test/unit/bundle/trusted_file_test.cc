// SPDX-License-Identifier: Apache-2.0
// As root only: the folder has to be root's all the way up, which /tmp is not, so it is made in /var/lib.
#include "bundle/trusted_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bundle/config.h"

namespace seccompress::bundle {
namespace {

class TrustedFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    char name[] = "/var/lib/seccompress-unit.XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    write("file", "text");
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), 0644);
  }
  std::string error(const std::string& name) const {
    const auto file = read_trusted_file(path(name), 100);
    return file ? "" : to_string(file.error());
  }

  std::string folder_;
};

TEST_F(TrustedFiles, AreRead) {
  const auto file = read_trusted_file(path("file"), 4);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->bytes, "text");
  EXPECT_EQ(file->identity.size, 4U);
}

TEST_F(TrustedFiles, AreRefusedWhenOthersCouldHaveWrittenThem) {
  ::chmod(path("file").c_str(), 0664);
  EXPECT_EQ(error("file"), path("file") + ": writable by group or others (chmod go-w)");
  ::chmod(path("file").c_str(), 0646);
  EXPECT_EQ(error("file"), path("file") + ": writable by group or others (chmod go-w)");
  ::chmod(path("file").c_str(), 0644);
  ASSERT_EQ(::chown(path("file").c_str(), 65534, 0), 0);
  EXPECT_EQ(error("file"), path("file") + ": owned by user 65534, not by root");
}

TEST_F(TrustedFiles, AreRefusedBelowAFolderOfOthers) {
  ::chmod(folder_.c_str(), 0777);
  EXPECT_EQ(error("file"), folder_ + ": writable by group or others (chmod go-w)");
}

TEST_F(TrustedFiles, AreNotFoundThroughLinks) {
  ASSERT_EQ(::symlink("file", path("link").c_str()), 0);
  EXPECT_EQ(error("link"), path("link") + ": is a symbolic link; write the path it leads to");
  ASSERT_EQ(::symlink(folder_.c_str(), path("loop").c_str()), 0);
  EXPECT_EQ(error("loop/file"), path("loop") + ": is a symbolic link; write the path it leads to");
}

TEST_F(TrustedFiles, AreRegularBoundedAndThere) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(error("fifo"), path("fifo") + ": not a regular file");
  EXPECT_EQ(error("."), path(".") + ": has a '.' or '..' component");
  EXPECT_EQ(error("none"), path("none") + ": No such file or directory");
  EXPECT_FALSE(read_trusted_file(path("file"), 3).has_value());
  EXPECT_FALSE(read_trusted_file("file", 3).has_value());
  EXPECT_FALSE(read_trusted_file("", 3).has_value());
  EXPECT_FALSE(read_trusted_file("/", 3).has_value());
  EXPECT_FALSE(read_trusted_file(std::string("/etc\0x", 6), 3).has_value());
}

TEST_F(TrustedFiles, ExistOrNotOrAreAnError) {
  EXPECT_TRUE(trusted_file_exists(path("file")).value());
  EXPECT_FALSE(trusted_file_exists(path("none")).value());
  ::chmod(path("file").c_str(), 0666);
  EXPECT_FALSE(trusted_file_exists(path("file")).has_value());
}

TEST_F(TrustedFiles, AreListedInByteOrder) {
  for (const char* name : {"b", "a", "B"}) write(name, "");
  EXPECT_EQ(list_trusted_folder(folder_, 10).value(), (std::vector<std::string>{"B", "a", "b", "file"}));
  EXPECT_FALSE(list_trusted_folder(folder_, 3).has_value());
}

TEST_F(TrustedFiles, LogIsCreatedPrivateAndAppendedTo) {
  const auto first = open_trusted_log(path("log"));
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(::write(first->get(), "a", 1), 1);
  const auto second = open_trusted_log(path("log"));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(::write(second->get(), "b", 1), 1);
  EXPECT_EQ(read_trusted_file(path("log"), 10)->bytes, "ab");
  EXPECT_EQ(std::filesystem::status(path("log")).permissions(), std::filesystem::perms(0600));
  ASSERT_EQ(::symlink("log", path("link").c_str()), 0);
  EXPECT_FALSE(open_trusted_log(path("link")).has_value());
}

TEST_F(TrustedFiles, SnapshotSeesEveryChange) {
  write("config.json", "{}");
  const auto snapshot = Snapshot::take(folder_);
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->bytes(), "{}");
  EXPECT_TRUE(snapshot->unchanged().has_value());
  write("config.json", "[]");  // the same size
  EXPECT_FALSE(snapshot->unchanged().has_value());
  write("other", "{}");
  std::filesystem::rename(path("other"), path("config.json"));  // the same bytes in another file
  EXPECT_FALSE(snapshot->unchanged().has_value());
  std::filesystem::remove(path("config.json"));
  EXPECT_FALSE(snapshot->unchanged().has_value());
}

}  // namespace
}  // namespace seccompress::bundle
