// SPDX-License-Identifier: Apache-2.0
#include "host/systemd_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/file.h"

namespace seccompress::host {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

TEST(SystemdLibraryName, HasTheVersionAsDistributionsWriteIt) {
  for (const auto& [name, version] : std::initializer_list<std::pair<const char*, unsigned>>{
           {"libsystemd-shared-252.so", 252},                    // Debian, Ubuntu
           {"libsystemd-shared-252.39-1~deb12u2.so", 252},       // as Debian would with a tag
           {"libsystemd-shared-255-33.azl3.so", 255},            // Azure Linux
           {"libsystemd-shared-255.4-1.fc40.so", 255},           // Fedora
           {"libsystemd-shared-257.5-1.so", 257},                // Arch
           {"libsystemd-shared-258~rc1-1.fc43.so", 258},         // a release candidate
           {"libsystemd-shared-254+suse.12.g1234567.so", 254}})  // openSUSE
    EXPECT_EQ(systemd_library_version(name), version) << name;
}

TEST(SystemdLibraryName, OfAnotherShapeHasNone) {
  for (const char* const name :
       {"", "libsystemd.so.0", "libsystemd-core-252.so", "libsystemd-shared-252.a", "libsystemd-shared-.so",
        "libsystemd-shared-x.so", "libsystemd-shared-252x.so", "libsystemd-shared-0.so", "libsystemd-shared-10000.so",
        "libsystemd-shared-99999999999999.so", "libsystemd-shared--252.so", "libsystemd-shared-252.so.debug"})
    EXPECT_EQ(systemd_library_version(name), std::nullopt) << name;
}

class SystemdLibraries : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "seccompress-library-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& path) const {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    ASSERT_TRUE(write_file_atomically(root_ + path, "x"));
  }
  std::vector<SystemdLibrary> found() const {
    auto libraries = find_systemd_libraries(root_);
    EXPECT_TRUE(libraries) << to_string(libraries.error());
    return std::move(*libraries);
  }
  std::string choice() const {
    const auto chosen = choose_by_library(found());
    return chosen ? std::to_string(chosen->facts.version) + " of " + chosen->from : to_string(chosen.error());
  }

  std::string root_;
};

TEST_F(SystemdLibraries, AreFoundInEachOfTheirFolders) {
  for (const char* const folder : {"/usr/lib/systemd/", "/usr/lib64/systemd/", "/lib/systemd/"}) {
    put(std::string(folder) + "libsystemd-shared-252.so");
    put(std::string(folder) + "libsystemd-core-254.so");
    EXPECT_EQ(choice(), "252 of " + root_ + folder + "libsystemd-shared-252.so");
    EXPECT_EQ(found()[0].size, 1U);
    fs::remove_all(root_ + "/usr");
    fs::remove_all(root_ + "/lib");
  }
#if defined(__x86_64__)
  put("/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-254.so");
  put("/usr/lib/i386-linux-gnu/systemd/libsystemd-shared-252.so");
  EXPECT_EQ(choice(), "254 of " + root_ + "/usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-254.so");
#endif
}

TEST_F(SystemdLibraries, InAFolderThatIsALinkAreFoundOnce) {
  put("/usr/lib/systemd/libsystemd-shared-252.so");
  fs::create_directory_symlink("usr/lib", root_ + "/lib");
  ASSERT_EQ(found().size(), 1U);
  EXPECT_EQ(found()[0].path, root_ + "/usr/lib/systemd/libsystemd-shared-252.so");
}

TEST_F(SystemdLibraries, OfOneVersionAreOneSystemd) {
  put("/usr/lib64/systemd/libsystemd-shared-255.4-1.so");
  put("/usr/lib64/systemd/libsystemd-shared-255.6-1.so");
  EXPECT_EQ(choice(), "255 of " + root_ + "/usr/lib64/systemd/libsystemd-shared-255.4-1.so");
}

TEST_F(SystemdLibraries, HaveTheShippedGroupsOfTheirVersion) {
  put("/usr/lib/systemd/libsystemd-shared-254.so");
  EXPECT_EQ(choose_by_library(found())->facts.groups, abi::shipped_systemd_table(254));
}

TEST_F(SystemdLibraries, ThatAreNoneOrSeveralOrUnknownAreRefusedWithTheRemedy) {
  constexpr char kRemedy[] =
      "; write its facts with `seccompress prepare --write-host-facts FILE` and name FILE as `host_facts:`, or list "
      "`dir:` layers dumped from the live service";
  EXPECT_THAT(choice(), HasSubstr("there is no libsystemd-shared-VERSION.so"));
  EXPECT_THAT(choice(), EndsWith(kRemedy));
  put("/usr/lib/systemd/libsystemd-shared-252.so");
  put("/usr/lib64/systemd/libsystemd-shared-254.so");
  EXPECT_THAT(choice(), HasSubstr("there are several: " + root_ + "/usr/lib/systemd/libsystemd-shared-252.so and " +
                                  root_ + "/usr/lib64/systemd/libsystemd-shared-254.so" + kRemedy));
  fs::remove_all(root_ + "/usr");
  put("/usr/lib/systemd/libsystemd-shared-main.so");
  EXPECT_THAT(choice(), HasSubstr("cannot be told from " + root_));
  fs::remove_all(root_ + "/usr");
  put("/usr/lib/systemd/libsystemd-shared-257.so");
  EXPECT_THAT(choice(), HasSubstr("newer than 256, the newest whose groups are known" + std::string(kRemedy)));
}

// Older than the tables: the reader of units says so.
TEST_F(SystemdLibraries, OfAnOldVersionAreLeftToTheReader) {
  put("/lib/systemd/libsystemd-shared-247.so");
  EXPECT_EQ(choice(), "247 of " + root_ + "/lib/systemd/libsystemd-shared-247.so");
}

}  // namespace
}  // namespace seccompress::host
