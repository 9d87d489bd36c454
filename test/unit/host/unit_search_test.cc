// SPDX-License-Identifier: Apache-2.0
#include "host/unit_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/spawn.h"

namespace seccompress::host {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

// A host's folders below a temporary one.
class UnitSearch : public testing::Test {
 protected:
  UnitSearch() {
    char folder[] = "/tmp/unit_search.XXXXXX";
    root_ = ::mkdtemp(folder);
  }
  ~UnitSearch() override { fs::remove_all(root_); }

  void file(const std::string& path, const std::string& text = "[Service]\n") {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << text;
  }
  void link(const std::string& path, const std::string& target) {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    fs::create_symlink(target, root_ + path);
  }
  // "name: fragment + drop-in + ..." without the root, or the error.
  std::string found(const std::string& name) {
    const auto paths = find_unit(name, root_);
    if (!paths) return without_root(to_string(paths.error()));
    std::string text = paths->name + ": " + paths->fragment;
    for (const std::string& drop_in : paths->drop_ins) text += " + " + drop_in;
    return without_root(text);
  }
  std::string without_root(std::string text) const {
    for (std::size_t at; (at = text.find(root_)) != std::string::npos;) text.erase(at, root_.size());
    return text;
  }

  std::string root_;
};

TEST_F(UnitSearch, TheMoreImportantFolderWins) {
  file("/usr/lib/systemd/system/a.service");
  EXPECT_EQ(found("a.service"), "a.service: /usr/lib/systemd/system/a.service");
  file("/run/systemd/system/a.service");
  EXPECT_EQ(found("a"), "a.service: /run/systemd/system/a.service");
  file("/etc/systemd/system/a.service");
  EXPECT_EQ(found("a"), "a.service: /etc/systemd/system/a.service");
}

TEST_F(UnitSearch, DropInsAreReadByNameFromWhereverTheyAre) {
  file("/usr/lib/systemd/system/a-b.service");
  file("/usr/lib/systemd/system/a-b.service.d/20-vendor.conf");
  file("/usr/lib/systemd/system/a-b.service.d/50-both.conf");
  file("/etc/systemd/system/a-b.service.d/50-both.conf");
  file("/run/systemd/system/a-b.service.d/10-early.conf");
  file("/etc/systemd/system/a-.service.d/30-prefix.conf");
  file("/etc/systemd/system/service.d/40-all.conf");
  file("/etc/systemd/system/a-b.service.d/.hidden.conf");
  file("/etc/systemd/system/a-b.service.d/note.txt");
  EXPECT_EQ(found("a-b"),
            "a-b.service: /usr/lib/systemd/system/a-b.service + /run/systemd/system/a-b.service.d/10-early.conf + "
            "/usr/lib/systemd/system/a-b.service.d/20-vendor.conf + /etc/systemd/system/a-.service.d/30-prefix.conf + "
            "/etc/systemd/system/service.d/40-all.conf + /etc/systemd/system/a-b.service.d/50-both.conf");
}

TEST_F(UnitSearch, TheFolderDecidesBeforeTheNameDoes) {
  file("/usr/lib/systemd/system/a-b.service");
  file("/usr/lib/systemd/system/a-b.service.d/x.conf");
  file("/etc/systemd/system/a-.service.d/x.conf");
  file("/etc/systemd/system/service.d/x.conf");  // types come last, whatever their folder
  EXPECT_EQ(found("a-b"), "a-b.service: /usr/lib/systemd/system/a-b.service + /etc/systemd/system/a-.service.d/x.conf");
}

TEST_F(UnitSearch, AnInstanceHasItsTemplatesFileAndDropIns) {
  file("/usr/lib/systemd/system/g@.service");
  file("/usr/lib/systemd/system/g@.service.d/1.conf");
  file("/etc/systemd/system/g@tty1.service.d/2.conf");
  file("/etc/systemd/system/g@tty2.service.d/3.conf");
  EXPECT_EQ(found("g@tty1"),
            "g@tty1.service: /usr/lib/systemd/system/g@.service + /usr/lib/systemd/system/g@.service.d/1.conf + "
            "/etc/systemd/system/g@tty1.service.d/2.conf");
  file("/usr/lib/systemd/system/g@tty3.service");
  EXPECT_EQ(found("g@tty3"),
            "g@tty3.service: /usr/lib/systemd/system/g@tty3.service + "
            "/usr/lib/systemd/system/g@.service.d/1.conf");
  file("/etc/systemd/system/g-.service.d/4.conf");
  file("/etc/systemd/system/g-@.service.d/5.conf");
  file("/etc/systemd/system/g-@1.service.d/6.conf");
  file("/usr/lib/systemd/system/g-h@.service");
  EXPECT_EQ(found("g-h@1"),
            "g-h@1.service: /usr/lib/systemd/system/g-h@.service + /etc/systemd/system/g-.service.d/4.conf + "
            "/etc/systemd/system/g-@.service.d/5.conf + /etc/systemd/system/g-@1.service.d/6.conf");
  EXPECT_EQ(found("g@"), "g@.service: a template; name an instance, as in g@x.service");
}

TEST_F(UnitSearch, AliasesLeadToTheUnitAndBringTheirDropIns) {
  file("/usr/lib/systemd/system/real.service");
  file("/usr/lib/systemd/system/real.service.d/1.conf");
  file("/etc/systemd/system/other.service.d/2.conf");
  link("/etc/systemd/system/other.service", "/usr/lib/systemd/system/real.service");
  link("/etc/systemd/system/third.service", "other.service");
  const std::string unit =
      "real.service: /usr/lib/systemd/system/real.service + "
      "/usr/lib/systemd/system/real.service.d/1.conf + "
      "/etc/systemd/system/other.service.d/2.conf";
  EXPECT_EQ(found("real"), unit);
  EXPECT_EQ(found("other"), unit);
  EXPECT_EQ(found("third"), unit);
}

TEST_F(UnitSearch, AnAliasOfATemplateKeepsTheInstance) {
  file("/usr/lib/systemd/system/real@.service");
  link("/etc/systemd/system/other@.service", "/usr/lib/systemd/system/real@.service");
  link("/etc/systemd/system/real@seat0.service", "../../../usr/lib/systemd/system/real@.service");
  EXPECT_EQ(found("other@x"), "real@x.service: /usr/lib/systemd/system/real@.service");
  EXPECT_EQ(found("real@seat0"), "real@seat0.service: /usr/lib/systemd/system/real@.service");
}

TEST_F(UnitSearch, ALinkOutOfTheUnitPathIsAFile) {
  file("/opt/product/odd.service");
  link("/etc/systemd/system/mine.service", root_ + "/opt/product/odd.service");
  EXPECT_EQ(found("mine"), "mine.service: /opt/product/odd.service");
}

TEST_F(UnitSearch, MaskedUnitsAreErrors) {
  file("/usr/lib/systemd/system/a.service");
  file("/etc/systemd/system/a.service", "");
  EXPECT_EQ(found("a"), "a.service: is masked by /etc/systemd/system/a.service; a masked unit never starts");
  file("/usr/lib/systemd/system/b.service");
  fs::create_directories(root_ + "/run/systemd/system");
  fs::create_directories(root_ + "/dev");
  fs::create_symlink("/dev/null", root_ + "/dev/null");
  link("/run/systemd/system/b.service", "../../../dev/null");
  EXPECT_EQ(found("b"), "b.service: is masked by /run/systemd/system/b.service; a masked unit never starts");
  file("/usr/lib/systemd/system/c.service");
  file("/usr/lib/systemd/system/c.service.d/x.conf");
  link("/etc/systemd/system/c.service.d/x.conf", "/dev/null");  // a drop-in is masked too
  EXPECT_EQ(found("c"), "c.service: /usr/lib/systemd/system/c.service");
}

TEST_F(UnitSearch, WhatIsNoUnitIsNamed) {
  EXPECT_EQ(found("nosuch"),
            "nosuch.service: this host has no such unit (looked for in the folders of "
            "systemd-analyze unit-paths): No such file or directory");
  EXPECT_EQ(found("../x"), "'../x' is not the name of a unit");
  EXPECT_EQ(found("a b"), "'a b' is not the name of a unit");
  EXPECT_EQ(found(std::string(300, 'a')), "'" + std::string(300, 'a') + "' is not the name of a unit");
  EXPECT_EQ(found("multi-user.target"), "multi-user.target: a target starts no process that it could restrict");
  link("/etc/systemd/system/a.service", "b.service");
  link("/etc/systemd/system/b.service", "a.service");
  EXPECT_EQ(found("a"), "a.service: its aliases lead in a circle");
  link("/etc/systemd/system/gone.service", "/opt/gone.service");
  EXPECT_EQ(found("gone"), "gone.service: /etc/systemd/system/gone.service: No such file or directory");
  fs::create_directories(root_ + "/etc/systemd/system/folder.service");
  EXPECT_THAT(found("folder"), testing::StartsWith("folder.service: this host has no such unit"));
}

TEST(UnitPath, IsWhatSystemdSearches) {
  const auto paths = spawn({.path = "/usr/bin/systemd-analyze", .arguments = {"unit-paths"}});
  if (!paths) GTEST_SKIP() << to_string(paths.error());
  std::string text;
  for (const std::string& folder : unit_path()) text += folder + '\n';
  EXPECT_EQ(paths->output, text);
}

}  // namespace
}  // namespace seccompress::host
