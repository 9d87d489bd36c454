// SPDX-License-Identifier: Apache-2.0
// Units of real services against the filters that systemd 252 installed for them.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "pipeline.h"
#include "support/file.h"
#include "support/paths.h"
#include "support/unit_stack.h"

namespace seccompress::test {
namespace {

namespace fs = std::filesystem;

std::vector<program::Code> filters_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".bpf") names.insert(entry.path());
  std::vector<program::Code> codes;
  for (const std::string& name : names) {
    const auto bytes = read_file(name, read::kMaxInputBytes);
    EXPECT_TRUE(bytes) << name;
    if (bytes) codes.push_back(*program::from_bytes(*bytes, name));
  }
  return codes;
}

TEST(SystemdLive, EveryUnitIsReadAsTheFiltersThatItGot) {
  const fs::path folder = fs::path(kCorpus) / "systemd-live";
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus beside the checkout";
  std::size_t units = 0, filters = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const auto installed = filters_in(entry.path());
    EXPECT_EQ(compare_unit(entry.path() / "unit.service", installed,
                           {.arch = abi::Arch::x86_64, .caps = {}, .kernel = {6, 18}}),
              "")
        << entry.path();
    ++units;
    filters += installed.size();
  }
  EXPECT_EQ(units, 12U);
  EXPECT_EQ(filters, 191U);
}

bool is_unit(const fs::path& path) {
  return path.extension() == ".service" || path.extension() == ".conf" || path.extension() == ".in";
}

// directives-all.service is a list of all directives without a section.
TEST(SystemdLive, EveryPublishedUnitFlattens) {
  const fs::path folder = fs::path(kCorpus) / "systemd";
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus beside the checkout";
  PipelineOptions options;
  std::size_t units = 0;
  for (const unsigned version : {252U, 255U}) {
    options.read = {.arch = abi::Arch::x86_64, .caps = {}, .kernel = {6, 1}, .systemd_version = version};
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!is_unit(entry.path()) || entry.path().filename() == "directives-all.service") continue;
      Stack stack = make_stack(options);
      Diagnostics diagnostics;
      const auto added = add_layer(stack, read::LayerSpec{"systemd", entry.path()}, options, diagnostics);
      ASSERT_TRUE(added) << entry.path() << ": " << to_string(added.error());
      const auto flat = flatten(stack, options);
      EXPECT_TRUE(flat) << entry.path() << ": " << to_string(flat.error());
      ++units;
    }
  }
  EXPECT_EQ(units, 2 * 124U);
}

}  // namespace
}  // namespace seccompress::test
