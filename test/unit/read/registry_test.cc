// SPDX-License-Identifier: Apache-2.0
// What must exist for every kind of layer in readers.cc.
#include <gtest/gtest.h>

#include <filesystem>

#include "read/reader.h"
#include "support/paths.h"

namespace seccompress::test {
namespace {

bool has_file(const std::string& folder, const std::string& prefix) {
  if (!std::filesystem::is_directory(folder)) return false;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(prefix)) return true;
  return false;
}

TEST(Registry, EveryReaderHasGoldenCasesOfBothKinds) {
  for (const read::ReaderFacts& reader : read::readers()) {
    const std::string folder = std::string(kTestData) + "/golden/read/" + std::string(reader.kind);
    EXPECT_TRUE(has_file(folder, "ok-")) << folder;
    EXPECT_TRUE(has_file(folder, "fail-")) << folder;
  }
}

TEST(Registry, EveryReaderOfBytesHasAFuzzTargetWithACorpus) {
  for (const read::ReaderFacts& reader : read::readers()) {
    const std::string name = std::string(reader.kind) + "_reader";
    EXPECT_TRUE(std::filesystem::exists(std::string(kTestData) + "/fuzz/" + name + "_fuzz.cc")) << name;
    EXPECT_TRUE(has_file(std::string(kTestData) + "/fuzz/corpus/" + name, "")) << name;
  }
}

TEST(Registry, EveryReaderHasASummary) {
  for (const read::ReaderFacts& reader : read::readers()) EXPECT_FALSE(reader.summary.empty()) << reader.kind;
}

}  // namespace
}  // namespace seccompress::test
