// SPDX-License-Identifier: Apache-2.0
// Every real stack and every published raw filter that the kernel takes flattens to one proved program; the raw filters
// also in pairs, in both orders.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "pipeline.h"
#include "support/paths.h"

namespace seccompress::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> filters_below(const fs::path& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".bpf") found.insert(entry.path());
  return {found.begin(), found.end()};
}

// The error, or nothing when the layers flatten to a proved program.
std::optional<Error> flatten_error(const std::vector<read::LayerSpec>& specs) {
  const PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  for (const read::LayerSpec& spec : specs)
    if (auto added = add_layer(stack, spec, options, diagnostics); !added) return added.error();
  if (auto flat = flatten(stack, options); !flat) return flat.error();
  return std::nullopt;
}

// The kernel refuses it too.
bool is_fair(const Error& error) {
  return error.code == make_error_code(Errc::reported) || error.code == make_error_code(Errc::malformed);
}

class CorpusFlatten : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kCorpus)) GTEST_SKIP() << "no corpus beside the checkout";
  }
};

TEST_F(CorpusFlatten, StacksOfRealServices) {
  std::size_t stacks = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(kCorpus) / "systemd-live")) {
    if (!entry.is_directory()) continue;
    const auto error = flatten_error({{"dir", entry.path()}});
    EXPECT_FALSE(error) << entry.path() << ": " << to_string(*error);
    ++stacks;
  }
  EXPECT_EQ(stacks, 12U);
}

TEST_F(CorpusFlatten, RawFiltersAloneAndInPairs) {
  std::vector<std::string> plain;
  for (const std::string& file : filters_below(fs::path(kCorpus) / "bpf")) {
    const auto error = flatten_error({{"bpf", file}});
    if (!error) {
      plain.push_back(file);
      continue;
    }
    EXPECT_TRUE(is_fair(*error)) << file << ": " << to_string(*error);
  }
  EXPECT_EQ(plain.size(), 23U);
  for (const std::string& older : plain)
    for (const std::string& newer : plain) {
      const auto error = flatten_error({{"bpf", older}, {"bpf", newer}});
      EXPECT_FALSE(error) << older << " under " << newer << ": " << to_string(*error);
    }
}

TEST_F(CorpusFlatten, StacksWithReportsOfTheKernelsCache) {
  // Single filters and stacks of programs that real kernels took in.
  std::size_t flattened = 0;
  for (const std::string& file : filters_below(fs::path(kCorpus) / "cache-truth")) {
    const auto error = flatten_error({{"bpf", file}});
    if (!error)
      ++flattened;
    else
      EXPECT_TRUE(is_fair(*error)) << file << ": " << to_string(*error);
  }
  EXPECT_EQ(flattened, 67U);
}

}  // namespace
}  // namespace seccompress::test
