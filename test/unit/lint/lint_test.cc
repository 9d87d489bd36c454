// SPDX-License-Identifier: Apache-2.0
#include "lint/lint.h"

#include <gtest/gtest.h>

#include "read/reader.h"

namespace seccompress::lint {
namespace {

// "code line" of every warning about a profile, in the order found.
std::vector<std::string> warnings_of(const std::string& text) {
  Diagnostics reading, linting;
  const auto layer = read::read_bytes({"oci", "p.json"}, text, {}, reading);
  EXPECT_TRUE(layer) << text;
  if (!layer) return {};
  lint(std::get<policy::Policy>(layer->content), linting);
  std::vector<std::string> found;
  for (const Diagnostic& diagnostic : linting.all()) {
    EXPECT_EQ(diagnostic.severity, Severity::warning);
    found.push_back(std::string(diagnostic.code) + ' ' + std::to_string(diagnostic.where.line));
  }
  return found;
}

std::string profile(const std::string& entries) {
  return "{\"defaultAction\": \"SCMP_ACT_ERRNO\", \"architectures\": [\"SCMP_ARCH_X86_64\"], \"syscalls\": [\n" +
         entries + "]}";
}
std::string entry(const std::string& name, const std::string& action, const std::string& args = "") {
  return "{\"names\": [\"" + name + "\"], \"action\": \"" + action + "\", \"args\": [" + args + "]}";
}
std::string arg(int index, const std::string& op, const std::string& value) {
  return "{\"index\": " + std::to_string(index) + ", \"op\": \"" + op + "\", \"value\": " + value + "}";
}

using Found = std::vector<std::string>;

TEST(Lint, AConditionalRuleBesideAnUnconditionalOneIsShadowed) {
  EXPECT_EQ(warnings_of(profile(entry("read", "SCMP_ACT_ALLOW") + ",\n" +
                                entry("read", "SCMP_ACT_KILL_PROCESS", arg(2, "SCMP_CMP_EQ", "7")))),
            Found{"lint-shadowed 3"});
  EXPECT_EQ(warnings_of(profile(entry("read", "SCMP_ACT_ALLOW") + ",\n" + entry("write", "SCMP_ACT_KILL_PROCESS"))),
            Found{});
}

TEST(Lint, ConditionsThatNothingMeetsAreNamed) {
  EXPECT_EQ(warnings_of(profile(entry("read", "SCMP_ACT_ALLOW", arg(2, "SCMP_CMP_LT", "0")))),
            Found{"lint-never-true 2"});
  EXPECT_EQ(warnings_of(profile(entry("read", "SCMP_ACT_ALLOW", arg(2, "SCMP_CMP_GT", "18446744073709551615")))),
            Found{"lint-never-true 2"});
  EXPECT_EQ(warnings_of(profile(entry("read", "SCMP_ACT_ALLOW", arg(2, "SCMP_CMP_GT", "18446744073709551614")))),
            Found{});
}

TEST(Lint, AnArgumentThatOccursTwiceIsNamedOnceAnEntry) {
  EXPECT_EQ(warnings_of(profile(
                entry("read", "SCMP_ACT_ALLOW", arg(2, "SCMP_CMP_EQ", "1") + "," + arg(2, "SCMP_CMP_EQ", "2")))),
            Found{"lint-or-turned 2"});
}

TEST(Lint, ARuleThatIsTheDefaultHasNoEffect) {
  EXPECT_EQ(warnings_of(profile(entry("read", "SCMP_ACT_ERRNO"))), Found{"lint-no-effect 2"});
}

TEST(Lint, IntArgumentsComparedAs64BitsAreNamedWhereThatLetsACallerEvade) {
  EXPECT_EQ(warnings_of(profile(entry("socket", "SCMP_ACT_ALLOW", arg(0, "SCMP_CMP_NE", "40")))),
            Found{"lint-int-argument 2"});
  EXPECT_EQ(warnings_of(profile(entry("socket", "SCMP_ACT_KILL_PROCESS", arg(0, "SCMP_CMP_EQ", "40")))),
            Found{"lint-int-argument 2"});
  EXPECT_EQ(warnings_of(profile(entry("socket", "SCMP_ACT_ALLOW", arg(0, "SCMP_CMP_EQ", "1")))), Found{})
      << "high bits only make an allowing EQ fail";
  EXPECT_EQ(warnings_of(profile(entry("mmap", "SCMP_ACT_ALLOW", arg(2, "SCMP_CMP_NE", "4")))), Found{})
      << "mmap's prot is an unsigned long";
}

TEST(Lint, EveryRegisteredLintHasACodeOfItsOwn) {
  EXPECT_EQ(lints().size(), 5U);
  for (const Lint& one : lints()) EXPECT_TRUE(one.code.starts_with("lint-")) << one.code;
}

TEST(Lint, AnIntArgumentIsNamedOnceHoweverManyValuesItHas) {
  const std::string more = arg(1, "SCMP_CMP_EQ", "2");
  EXPECT_EQ(warnings_of(profile(entry("ioctl", "SCMP_ACT_KILL_PROCESS", arg(1, "SCMP_CMP_EQ", "1")) + "," +
                                entry("ioctl", "SCMP_ACT_KILL_PROCESS", more))),
            Found{"lint-int-argument 2"});
}

}  // namespace
}  // namespace seccompress::lint
