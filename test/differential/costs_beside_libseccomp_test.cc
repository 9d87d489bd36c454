// SPDX-License-Identifier: Apache-2.0
// No call costs more under our program for a container profile than under libseccomp's binary tree for the same
// policy: with the kernel's cache, of the calls that run a program; without it, of all.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "emit/emit.h"
#include "lower/lower.h"
#include "read/reader.h"
#include "support/libseccomp_build.h"
#include "support/paths.h"
#include "support/program_builder.h"

namespace seccompress::test {
namespace {

constexpr std::uint32_t kNumbers = 600;  // all named ones and some beyond
// Of the first argument (the others are 0, or the same): what container profiles ask for, neighbours, high words.
constexpr std::uint64_t kValues[] = {0,           1,           2,          8,          9,          16,
                                     38,          39,          40,         41,         0x20000,    0x20008,
                                     0x1200011,   0x3d0f00,    0x20000000, 0x7e020000, 0xffffffff, 0x100000000,
                                     0x100000026, 0x100000028, ~0ULL};

policy::Policy container_policy(const std::string& path) {
  const read::Options options{.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
  Diagnostics diagnostics;
  const auto layer = read::read({"docker", path}, options, diagnostics);
  EXPECT_TRUE(layer) << path;
  return layer ? std::get<policy::Policy>(layer->content) : policy::Policy{};
}

program::Code our_program(const policy::Policy& policy, bool cache_model) {
  diagram::Store store;
  emit::Options options;
  options.cache_model = cache_model;
  return emit::emit(store, lower::lower(policy, store).value(), options).value();
}

// Calls that cost more under ours, as texts.
std::vector<std::string> dearer_calls(const program::Code& ours, const program::Code& theirs, bool cached_are_free) {
  std::vector<std::string> dearer;
  for (std::uint32_t nr = 0; nr < kNumbers; ++nr) {
    if (cached_are_free && program::is_constant_allow(ours, kX8664, nr)) continue;
    for (const std::uint64_t value : kValues)
      for (const std::uint64_t others : {std::uint64_t{0}, value}) {
        abi::SeccompData data = call(kX8664, nr, value);
        for (std::size_t i = 1; i < 6; ++i) data.args[i] = others;
        const program::Run mine = program::run(ours, data), other = program::run(theirs, data);
        if (mine.executed_converted > other.executed_converted)
          dearer.push_back(fmt::format("{}({:#x}, {:#x}): {} instead of {}", nr, value, others, mine.executed_converted,
                                       other.executed_converted));
      }
  }
  return dearer;
}

class CostsBesideLibseccomp : public ::testing::TestWithParam<const char*> {};

TEST_P(CostsBesideLibseccomp, NoCallIsDearerThanInItsTree) {
  const std::string path = std::string(GetParam()) == "own" ? std::string(kProfiles) + "/container-default.json"
                                                            : std::string(kCorpus) + "/docker/" + GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no corpus";
  const policy::Policy policy = container_policy(path);
  const auto theirs = build_with_libseccomp(policy, 10, LibseccompShape::tree);
  ASSERT_TRUE(theirs);
  for (const bool cache_model : {true, false}) {
    const auto dearer = dearer_calls(our_program(policy, cache_model), *theirs, cache_model);
    EXPECT_TRUE(dearer.empty()) << (cache_model ? "cache model: " : "no cache: ") << dearer.size() << ", " << dearer[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, CostsBesideLibseccomp, ::testing::Values("own", "default-v29.5.2.json"),
                         [](const auto& one) {
                           return std::string(one.param).substr(0, 3) + std::to_string(one.index);
                         });

}  // namespace
}  // namespace seccompress::test
