// SPDX-License-Identifier: Apache-2.0
#include "host/systemd_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "host/ask_systemd.h"
#include "host/spawn.h"

namespace seccompress::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The smallest list there is, in the shape that systemd-analyze prints.
constexpr char kSmall[] =
    "@default\n"
    "    # System calls that are always permitted\n"
    "    exit\n"
    "    read\n"
    "\n"
    "@known\n"
    "    # All known system calls declared in the kernel\n"
    "    @default\n"
    "    mount\n"
    "\n"
    "# Ungrouped System Calls (known but not included in any of the groups except @known):\n"
    "#   io_cancel\n"
    "\n";

std::string error_of(const std::string& text) {
  const auto table = parse_syscall_filter(text);
  return table ? "accepted" : to_string(table.error());
}
std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(SyscallFilterOutput, GroupsAndTheirMembersAreRead) {
  const auto table = parse_syscall_filter(kSmall);
  ASSERT_TRUE(table) << to_string(table.error());
  const abi::SystemdTable expected = {{"@default", {"exit", "read"}}, {"@known", {"@default", "mount"}}};
  EXPECT_EQ(*table, expected);
}

TEST(SyscallFilterOutput, WhatItCannotLookLikeIsRefused) {
  EXPECT_EQ(error_of(""), "systemd-analyze syscall-filter: has no @default");
  EXPECT_EQ(error_of("@default\n    exit"), "systemd-analyze syscall-filter: ends within a line");
  EXPECT_EQ(error_of("    exit\n"), "systemd-analyze syscall-filter, line 1: a member without a group");
  EXPECT_EQ(error_of(replaced(kSmall, "\n\n@known", "\n\n    exit\n@known")),
            "systemd-analyze syscall-filter, line 6: a member without a group");
  EXPECT_EQ(error_of(replaced(kSmall, "    read", "  read")),
            "systemd-analyze syscall-filter, line 4: neither a group nor one of its members");
  EXPECT_EQ(error_of(replaced(kSmall, "    read", "    re ad")),
            "systemd-analyze syscall-filter, line 4: not the name of a system call or group");
  EXPECT_EQ(error_of(replaced(kSmall, "    read", "    exit")),
            "systemd-analyze syscall-filter, line 4: the member is there twice");
  EXPECT_EQ(error_of(replaced(kSmall, "@known", "@default")),
            "systemd-analyze syscall-filter, line 6: the group is there twice");
  EXPECT_EQ(error_of(replaced(kSmall, "    @default", "    @nosuch")),
            "systemd-analyze syscall-filter: @nosuch is a member but no group");
  EXPECT_EQ(error_of(replaced(kSmall, "    @default", "    @known")),
            "systemd-analyze syscall-filter: @known is nested too deeply or in itself");
  EXPECT_EQ(error_of("@default\n    exit\n\n@known\n"), "systemd-analyze syscall-filter: @known is empty");
}

TEST(SyscallFilterOutput, SizesAreBounded) {
  std::string groups;
  for (int i = 0; i < 300; ++i) groups += "@g" + std::to_string(i) + "\n    exit\n\n";
  EXPECT_THAT(error_of(groups), HasSubstr("more than 256 groups"));
  std::string members = "@default\n";
  for (int i = 0; i < 70'000; ++i) members += "    c" + std::to_string(i) + '\n';
  EXPECT_THAT(error_of(members), HasSubstr("more than 65536 members"));
  EXPECT_THAT(error_of("@default\n    " + std::string(65, 'a') + '\n'), HasSubstr("not the name of"));
  EXPECT_THAT(error_of(std::string((std::size_t{1} << 20) + 1, '#')), HasSubstr("too long"));
}

TEST(Banner, HasTheVersionFirst) {
  EXPECT_EQ(*parse_banner("systemd 252 (252.39-1~deb12u2)\n+PAM +AUDIT\n"), 252U);
  EXPECT_EQ(*parse_banner("systemd 257\n"), 257U);
  for (const char* text : {"", "systemd", "systemd ", "systemd x\n", "systemd 252", "systemd 99999999999 (x)", "252\n"})
    EXPECT_FALSE(parse_banner(text)) << text;
}

TEST(Differences, LeadFromTheShippedTableToTheHosts) {
  SystemdFacts facts{252, abi::shipped_systemd_table(252)};
  EXPECT_THAT(differences(facts), ElementsAre());
  facts.groups["@clock"].erase("adjtimex");
  facts.groups["@mount"].insert("fsopen_new");
  facts.groups["@new"].insert("read");
  const std::vector<std::string> lines = differences(facts);
  EXPECT_THAT(lines, ElementsAre("+@mount fsopen_new", "+@new read", "-@clock adjtimex"));
  const auto back = with_differences(252, lines);
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, facts);
}

TEST(Differences, OnlyRealOnesAreTaken) {
  const auto error = [](const std::string& line) {
    const std::vector<std::string> lines = {line};
    const auto facts = with_differences(252, lines);
    return facts ? "accepted" : to_string(facts.error());
  };
  EXPECT_EQ(error("+@clock adjtimex"), "'+@clock adjtimex' changes nothing in this build's table");
  EXPECT_EQ(error("-@clock nosuch"), "'-@clock nosuch' changes nothing in this build's table");
  for (const char* line : {"", "+", "@clock x", "+clock x", "+@clock", "+@clock ", "*@clock x", "+@clock a b"})
    EXPECT_EQ(error(line), "'" + std::string(line) + "' is no difference such as '+@mount fsopen'");
  EXPECT_EQ(error("+@clock @clock"), "systemd-analyze syscall-filter: @clock is nested too deeply or in itself");
}

unsigned seed() {
  const char* const given = std::getenv("SEED");
  const unsigned number = given == nullptr ? 20261130U : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  std::cout << "SEED=" << number << '\n';
  return number;
}

// What is accepted is printed again as systemd-analyze would and read back the same; everything else is an error.
TEST(SyscallFilterOutput, MangledTextIsReadAsItStandsOrRefused) {
  std::mt19937 random(seed());
  constexpr std::string_view kPieces[] = {"@", "#", "    ", "\n", "\n\n", "exit", "@default", "\0", "\x1b[0m", "\xff"};
  unsigned accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = kSmall;
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      text.replace(at, random() % 6, random() % 3 == 0 ? "" : kPieces[random() % std::size(kPieces)]);
    }
    const auto table = parse_syscall_filter(text);
    if (!table) continue;
    ++accepted;
    std::string again;
    for (const auto& [group, members] : *table) {
      again += group + "\n    # about it\n";
      for (const std::string& member : members) again += "    " + member + '\n';
      again += '\n';
    }
    const auto second = parse_syscall_filter(again);
    ASSERT_TRUE(second) << to_string(second.error()) << '\n' << text;
    ASSERT_EQ(*second, *table) << text;
  }
  EXPECT_GT(accepted, 100U);
  EXPECT_LT(accepted, 15'000U);
}

TEST(AskSystemd, ThisHostsGroupsAreTheShippedOnesOfItsVersion) {
  if (::access("/usr/bin/systemd-analyze", X_OK) != 0) GTEST_SKIP() << "no systemd-analyze";
  const auto facts = ask_systemd();
  ASSERT_TRUE(facts) << to_string(facts.error());
  ASSERT_TRUE(facts->has_value());
  const auto version = spawn({.path = "/usr/bin/systemctl", .arguments = {"--version"}});
  ASSERT_TRUE(version);
  EXPECT_EQ((*facts)->version, *parse_banner(version->output));
  if ((*facts)->version != 252) GTEST_SKIP() << "the shipped table is exact for 252, this is " << (*facts)->version;
  EXPECT_THAT(differences(**facts), ElementsAre());
}

}  // namespace
}  // namespace seccompress::host
