// SPDX-License-Identifier: Apache-2.0
#include "create_container.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include "bundle/settings.h"

namespace seccompress::hooks {
namespace {

constexpr std::uint32_t kLogFlag = SECCOMP_FILTER_FLAG_LOG, kSpecAllow = SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        kListener = SECCOMP_FILTER_FLAG_NEW_LISTENER;
constexpr char kSelf[] = "/proc/self/exe";

bool changes() { return true; }
bool no_change() { return false; }
bool not_asked() {
  ADD_FAILURE() << "the kernel was asked";
  return true;
}

TEST(FixedFlags, AreTheContainersWhereNothingGetsWeaker) {
  std::vector<std::string> notes;
  EXPECT_EQ(fixed_flags(0, {0, kSpecAllow}, not_asked, notes), 0U);
  EXPECT_EQ(fixed_flags(kSpecAllow | kListener, {kSpecAllow}, not_asked, notes), kSpecAllow | kListener);
  EXPECT_EQ(fixed_flags(kSpecAllow, {}, not_asked, notes), kSpecAllow);
  EXPECT_TRUE(notes.empty());
}

TEST(FixedFlags, KeepSpecAllowOnlyWhereTheKernelGivesItNoEffect) {
  std::vector<std::string> notes;
  EXPECT_EQ(fixed_flags(kSpecAllow, {0}, no_change, notes), kSpecAllow);
  const auto refused = fixed_flags(kSpecAllow, {kSpecAllow, 0}, changes, notes);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::refused);
  EXPECT_NE(refused.error().what.find("createRuntime as well"), std::string::npos);
}

TEST(FixedFlags, SayThatMoreIsLoggedThanTheLayersAskFor) {
  std::vector<std::string> notes;
  EXPECT_EQ(fixed_flags(kLogFlag, {0}, not_asked, notes), kLogFlag);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("FILTER_FLAG_LOG stays"), std::string::npos);
  notes.clear();
  EXPECT_EQ(fixed_flags(0, {kLogFlag}, not_asked, notes), 0U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("left out"), std::string::npos);
}

bundle::RegisteredHook registered(std::vector<std::string> args, std::string path = kSelf) {
  return {.stage = "createContainer", .path = std::move(path), .args = std::move(args)};
}

TEST(ThisHook, IsThisExecutableWithThisConfiguration) {
  EXPECT_TRUE(is_this_hook(registered({}), bundle::kSettingsPath));
  EXPECT_TRUE(is_this_hook(registered({"hook"}), bundle::kSettingsPath));
  EXPECT_TRUE(is_this_hook(registered({"hook", "--config", "/c"}), "/c"));
  EXPECT_TRUE(is_this_hook(registered({"hook", "--config=/b", "--config=/c"}), "/c"));
  EXPECT_TRUE(is_this_hook(registered({"hook", "--receipts", "/r", "--config", "/c"}), "/c"));
  EXPECT_TRUE(is_this_hook(registered({"hook", "--receipts=/r", "--config", "/c"}), "/c"));
  EXPECT_FALSE(is_this_hook(registered({"hook", "--receipts", "--config", "/c"}), "/c"));
  EXPECT_FALSE(is_this_hook(registered({"hook", "--rec", "--config", "--config", "/c"}), "/c"));
  EXPECT_FALSE(is_this_hook(registered({"hook"}, "/bin/sh"), bundle::kSettingsPath));
  EXPECT_FALSE(is_this_hook(registered({"hook"}, "/nonexistent"), bundle::kSettingsPath));
  EXPECT_FALSE(is_this_hook(registered({"hook", "--config", "/b"}), "/c"));
  EXPECT_FALSE(is_this_hook(registered({"hook"}), "/c"));
}

TEST(ThisHook, IsNotOneWhoseArgumentsCouldMeanAnotherConfiguration) {
  for (const char* argument : {"--conf=/b", "--c=/b", "--config"})
    EXPECT_FALSE(is_this_hook(registered({"hook", argument}), bundle::kSettingsPath)) << argument;
}

TEST(Registration, IsToldByStage) {
  bundle::Config config;
  config.hooks.push_back(registered({"hook"}));
  EXPECT_TRUE(is_registered(config, true, bundle::kSettingsPath));
  EXPECT_FALSE(is_registered(config, false, bundle::kSettingsPath));
  config.hooks[0].stage = "prestart";
  EXPECT_FALSE(is_registered(config, true, bundle::kSettingsPath));
  EXPECT_TRUE(is_registered(config, false, bundle::kSettingsPath));
}

}  // namespace
}  // namespace seccompress::hooks
