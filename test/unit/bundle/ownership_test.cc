// SPDX-License-Identifier: Apache-2.0
// Real owners in real user namespaces: each look is made by a child that has fresh /etc, /home, /var/lib and /usr/share
// and then becomes an ordinary user in a namespace of his, whose maps its parent writes as root.
#include "bundle/ownership.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "bundle/trusted_file.h"

namespace seccompress::bundle {
namespace {

constexpr uid_t kUser = 1000, kOther = 1001, kFirstSubordinate = 100000;
// What the number in a namespace is outside, as in /proc/PID/uid_map; "": no namespace.
constexpr char kNone[] = "", kOneNumber[] = "0 1000 1\n", kSubordinate[] = "0 1000 1\n1 100000 65536\n",
               kOfRoot[] = "0 0 1\n", kRootIsOne[] = "0 1000 1\n1 0 1\n";

constexpr char kUnknown[] =
    ": owned by user 65534, not by root: this user namespace cannot tell who that is (rootless: configuration and "
    "layers belong in /etc/seccompress, /usr/share, /usr/lib, or to the user who runs the engine)";
constexpr char kUser65534[] = ": owned by user 65534, not by root";

struct Made {
  uid_t owner = 0;
  mode_t mode = 0644;
};

// Folders are made with the owner and mode of `made` when it has them, as root's otherwise.
void make(const std::string& path, const std::map<std::string, Made>& made) {
  for (std::size_t at = 1; (at = path.find('/', at)) != std::string::npos; ++at)
    ::mkdir(path.substr(0, at).c_str(), 0755);
  std::ofstream(path) << "text";
  ::chmod(path.c_str(), 0644);
  for (const auto& [name, how] : made)
    if (::chown(name.c_str(), how.owner, how.owner) != 0 || ::chmod(name.c_str(), how.mode) != 0) ::_exit(3);
}

bool enter_fresh_folders() {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  for (const char* folder : {"/etc", "/home", "/var/lib", "/usr/share"})
    if (::mount("tmpfs", folder, "tmpfs", 0, "mode=755") != 0) return false;
  return true;
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() { close(), ::close(ends[0]); }
  void close() { ::close(ends[1]); }
  void tell() const { (void)!::write(ends[1], "x", 1); }
  std::string rest() {
    close();
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
    return text;
  }
  void wait() const {
    char byte = 0;
    (void)!::read(ends[0], &byte, 1);
  }
};

std::string answer_to(const std::string& path) {
  const auto file = read_trusted_file(path, 100);
  return file ? file->bytes : to_string(file.error());
}

// What the user is told when he reads `path`; "text" is the file's text.
std::string look(const std::string& map, const std::string& path, const std::map<std::string, Made>& made = {}) {
  Pipe ready, mapped, answer;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!enter_fresh_folders()) ::_exit(2);
    make(path, made);
    const uid_t user = map == kOfRoot || map == kNone ? 0 : kUser;
    if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) ::_exit(4);
    if (map != kNone && ::unshare(CLONE_NEWUSER) != 0) ::_exit(5);
    ready.tell();
    mapped.wait();
    const std::string text = answer_to(path);
    (void)!::write(answer.ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ready.wait();
  for (const char* name : {"uid_map", "gid_map"})
    if (map != kNone) std::ofstream("/proc/" + std::to_string(child) + "/" + name) << map << std::flush;
  mapped.tell();
  ready.close();
  const std::string text = answer.rest();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the child could not be made";
  return text;
}

class Owners : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const pid_t child = ::fork();
    if (child == 0) ::_exit(enter_fresh_folders() && ::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) GTEST_SKIP() << "no mount or user namespaces here";
  }
};

TEST_F(Owners, RootsFilesAreTrustedInHisPlacesWhereHeHasNoNumber) {
  for (const std::string map : {kNone, kOneNumber, kSubordinate, kOfRoot})
    for (const std::string path : {"/etc/seccompress/config.yaml", "/etc/seccompress/a/b/c.bpf", "/usr/share/x/y.json",
                                   "/etc/systemd/system/x.service"})
      EXPECT_EQ(look(map, path), "text") << map << path;
}

TEST_F(Owners, RootsFilesElsewhereAreNobodysWhereHeHasNoNumber) {
  for (const std::string map : {kOneNumber, kSubordinate})
    for (const std::string path : {"/etc/x.conf", "/home/x", "/var/lib/x", "/etc/seccompressed/x"})
      EXPECT_EQ(look(map, path), (path == "/etc/seccompressed/x" ? "/etc/seccompressed" : path) + kUnknown) << map;
  for (const std::string path : {"/etc/x.conf", "/home/x", "/var/lib/x"}) EXPECT_EQ(look(kOfRoot, path), "text");
}

TEST_F(Owners, TheUsersOwnFilesAreHisInHisNamespaceAlone) {
  const std::map<std::string, Made> his = {{"/home/u", {kUser, 0755}}, {"/home/u/x", {kUser, 0600}}};
  EXPECT_EQ(look(kOneNumber, "/home/u/x", his), "text");
  EXPECT_EQ(look(kSubordinate, "/home/u/x", his), "text");
  EXPECT_EQ(look(kNone, "/home/u/x", his), "/home/u: owned by user 1000, not by root");
  EXPECT_EQ(look(kOfRoot, "/home/u/x", his), std::string("/home/u") + kUser65534);
}

TEST_F(Owners, OtherUsersFilesAreRefusedOutsideOfRootsPlaces) {
  for (const std::string map : {kOneNumber, kSubordinate}) {
    EXPECT_EQ(look(map, "/home/o/x", {{"/home/o", {kOther, 0755}}, {"/home/o/x", {kOther}}}),
              std::string("/home/o") + kUnknown);
    EXPECT_EQ(look(map, "/home/u/x", {{"/home/u", {kUser, 0755}}, {"/home/u/x", {kOther}}}),
              std::string("/home/u/x") + kUnknown);
    EXPECT_EQ(look(map, "/home/u/x", {{"/home/u", {kUser, 0755}}, {"/home/u/x", {0}}}),
              std::string("/home/u/x") + kUnknown);
  }
}

TEST_F(Owners, NumbersOfTheContainersAreRefusedAlsoTheOneThatStandsForUnknownOwners) {
  for (const uid_t number : {1U, 65533U, 65534U, 65536U}) {
    const uid_t owner = kFirstSubordinate + number - 1;
    const std::string path = "/etc/seccompress/x";
    EXPECT_EQ(look(kSubordinate, path, {{path, {owner}}}),
              path + ": owned by user " + std::to_string(number) + ", not by root");
    EXPECT_EQ(look(kSubordinate, path, {{"/etc/seccompress", {owner, 0755}}}),
              "/etc/seccompress: owned by user " + std::to_string(number) + ", not by root");
  }
}

TEST_F(Owners, WhereRootHasANumberNobodyElseStandsForHim) {
  const std::string path = "/etc/seccompress/x";
  for (const uid_t owner : {kOther, uid_t{65534}}) EXPECT_EQ(look(kOfRoot, path, {{path, {owner}}}), path + kUser65534);
  EXPECT_EQ(look(kRootIsOne, path), "/: owned by user 1, not by root");
  EXPECT_EQ(look(kNone, path, {{path, {65534}}}), path + kUser65534);
  EXPECT_EQ(look(kNone, path, {{path, {kOther}}}), path + ": owned by user 1001, not by root");
}

TEST_F(Owners, WhatOthersCanWriteIsRefusedWhoeverOwnsIt) {
  const std::string path = "/etc/seccompress/x";
  for (const std::string map : {kNone, kOneNumber, kSubordinate, kOfRoot})
    for (const mode_t mode : {mode_t{0664}, mode_t{0646}, mode_t{0666}})
      EXPECT_EQ(look(map, path, {{path, {0, mode}}}), path + ": writable by group or others (chmod go-w)") << map;
  EXPECT_EQ(look(kOneNumber, path, {{"/etc/seccompress", {0, 01777}}}),
            "/etc/seccompress: writable by group or others (chmod go-w)");
}

TEST_F(Owners, WhatTheUserMayNotReadIsSaidToBeHisToRead) {
  const std::string path = "/etc/seccompress/x";
  EXPECT_EQ(look(kOneNumber, path, {{path, {0, 0600}}}),
            path + " (it is opened as the user who runs the engine, who may not): Permission denied");
}

TEST(NumberMaps, HaveWhatTheirRangesHave) {
  EXPECT_TRUE(maps_number("         0          0 4294967295\n", 65534));
  EXPECT_FALSE(maps_number(kOneNumber, 65534));
  EXPECT_TRUE(maps_number(kSubordinate, 65534));
  EXPECT_TRUE(maps_number(kSubordinate, 65536));
  EXPECT_FALSE(maps_number(kSubordinate, 65537));
  EXPECT_FALSE(maps_number("0 1000 1\n1 100000 65533\n", 65534));
  EXPECT_TRUE(maps_number("0 1000 1\n65534 5 1\n", 65534));
  for (const char* text : {"", "0", "0 1", "x", "0 1 y\n", "-1 0 1"}) EXPECT_TRUE(maps_number(text, 65534)) << text;
}

TEST(PlacesOfRoots, AreWholeNames) {
  for (const char* path :
       {"/", "/etc", "/etc/seccompress", "/etc/seccompress/a/b", "/usr/lib/x", "/usr/lib64/systemd/x", "/run/user"})
    EXPECT_TRUE(is_place_of_roots(path)) << path;
  for (const char* path : {"", "/tmp", "/etc/x", "/etc/seccompress2", "/usr/local", "/usr/local/x", "/home/x",
                           "/run/user/1000", "/opt", "/var/tmp", "/usr/libexec", "/usr/lib32", "etc", "/etc/"})
    EXPECT_FALSE(is_place_of_roots(path)) << path;
}

}  // namespace
}  // namespace seccompress::bundle
