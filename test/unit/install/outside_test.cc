// SPDX-License-Identifier: Apache-2.0
#include "install/outside.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace seccompress::install {
namespace {

namespace fs = std::filesystem;

TEST(MountPoints, AreTheFifthFieldWithoutEscapes) {
  const auto points = mount_points(
      "22 1 254:0 / / rw,relatime - ext4 /dev/root rw\n"
      "40 22 0:35 / /a\\040b\\134 rw shared:1 - tmpfs none rw\n"
      "41 22 0:36 /x /c\\04 rw - tmpfs none rw\n");
  EXPECT_EQ(points, (std::vector<std::string>{"/", "/a b\\", "/c\\04"}));
  EXPECT_EQ(mount_points(""), std::vector<std::string>());
  EXPECT_EQ(mount_points("22 1\n"), std::vector<std::string>{""});
}

TEST(MountedOver, IsWhatLiesAtAMountPointOrBelow) {
  EXPECT_TRUE(is_mounted_over("/proc"));
  EXPECT_TRUE(is_mounted_over("/proc/self/status"));
  EXPECT_FALSE(is_mounted_over("/processes"));
}

TEST(Proc, IsItselfHere) { EXPECT_TRUE(check_proc().has_value()); }

class Folders : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "outside.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = fs::canonical(name);
    fs::create_directories(root_ / "etc/layers");
    fs::create_directories(root_ / "other");
    fs::create_directory_symlink(root_ / "etc", root_ / "link");
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path root_;
};

TEST_F(Folders, APathLeadsThroughItselfAndWhatIsAbove) {
  for (const char* folder : {"", "etc", "etc/layers"})
    EXPECT_TRUE(leads_through(root_ / "etc/layers", root_ / folder)) << folder;
  EXPECT_TRUE(leads_through(root_ / "etc/layers", "/"));
  EXPECT_TRUE(leads_through(root_ / "etc/layers", root_ / "link"));  // the same folder by another name
  EXPECT_FALSE(leads_through(root_ / "etc/layers", root_ / "other"));
  EXPECT_FALSE(leads_through(root_ / "etc", root_ / "etc/layers"));
}

TEST_F(Folders, WhatCannotBeKnownCountsAsYes) {
  EXPECT_TRUE(leads_through(root_ / "link/layers", root_ / "other"));
  EXPECT_TRUE(leads_through(root_ / "nothing", root_ / "other"));
  EXPECT_TRUE(leads_through(root_ / "etc", root_ / "nothing"));
}

}  // namespace
}  // namespace seccompress::install
