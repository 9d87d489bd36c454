// SPDX-License-Identifier: Apache-2.0
#include "support/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "support/unique_fd.h"

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

class ReadFile : public WriteFile {
 protected:
  static std::string refusal(const std::string& path) {
    const auto bytes = read_file(path, 1000);
    return bytes ? "read" : to_string(bytes.error());
  }
};

TEST_F(ReadFile, NeverWaitsForAWriter) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(at("fifo")), at("fifo").string() + ": is a named pipe, not a file");
}

TEST_F(ReadFile, RefusesASocket) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(at("socket")), at("socket").string() + ": is a socket or a device without a driver, not a file");
}

TEST_F(ReadFile, RefusesDevicesFoldersAndTerminals) {
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device, not a file");
  EXPECT_EQ(refusal("/dev/null"), "/dev/null: is a device, not a file");
  EXPECT_EQ(refusal("/"), "/: is a folder, not a file");
  const UniqueFd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal || ::unlockpt(terminal.get()) != 0) GTEST_SKIP() << "no pseudoterminals";
  const std::string name = ::ptsname(terminal.get());
  EXPECT_EQ(refusal(name), name + ": is a terminal, not a file");
}

TEST_F(ReadFile, TakesWhatIsPiped) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  // The writer comes later than the reader, which waits for it.
  std::jthread writer([&] {
    EXPECT_EQ(::write(out.get(), "piped", 5), 5);
    out.reset();
  });
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(in.get()), 1000).value_or("unreadable"), "piped");
}

TEST_F(ReadFile, TakesFilesWithoutASize) {
  EXPECT_NE(read_file("/proc/self/status", 65536).value_or("").find("Pid:"), std::string::npos);
  const auto large = read_file("/proc/self/status", 10);
  ASSERT_FALSE(large);
  EXPECT_EQ(to_string(large.error()), "/proc/self/status: larger than 10 bytes");
}

}  // namespace
}  // namespace seccompress
