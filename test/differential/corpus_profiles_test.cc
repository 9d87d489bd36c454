// SPDX-License-Identifier: Apache-2.0
// Real profiles, where the corpus lies beside the checkout: rules == diagram == reference program for every
// number and the boundary values of every condition. Those that are refused are listed in corpus_refused.tsv with the
// reason; any other refusal, and any listed one that is read, is a failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "pipeline.h"
#include "read/reader.h"
#include "support/file.h"
#include "support/paths.h"
#include "support/policy_inputs.h"

namespace seccompress::test {
namespace {

// "kind/path" -> code
std::map<std::string, std::string> expected_refusals() {
  std::istringstream file(read_file(std::string(kTestData) + "/differential/corpus_refused.tsv", 1U << 20U).value());
  std::map<std::string, std::string> expected;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string path, code;
    std::getline(fields, path, '\t');
    std::getline(fields, code, '\t');
    expected[path] = code;
  }
  return expected;
}

std::vector<std::filesystem::path> profiles_of(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& one : diagnostics.all())
    if (one.severity == Severity::error) return std::string(one.code);
  return "none";
}

// "" when the profile alone flattens, which verify has then proved equal to its reference program.
std::string flattened(const read::Layer& layer, const read::Options& options) {
  PipelineOptions pipeline;
  pipeline.read = options;
  Stack stack = make_stack(pipeline);
  Diagnostics diagnostics;
  if (const auto added = add_layer(stack, layer, pipeline, diagnostics); !added) return added.error().what;
  const auto flat = flatten(stack, pipeline);
  return flat ? "" : flat.error().what;
}

class CorpusProfiles : public ::testing::TestWithParam<const char*> {};

TEST_P(CorpusProfiles, MeanTheSameToRulesDiagramAndReference) {
  const std::string root = kCorpus, folder = root + '/' + GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus";
  const auto expected = expected_refusals();
  const read::Options options{.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
  Random random(seed_or(21));
  std::size_t read = 0, refused = 0, calls = 0;
  for (const std::filesystem::path& path : profiles_of(folder)) {
    const std::string name = std::filesystem::relative(path, root);
    Diagnostics diagnostics;
    const auto layer = read::read({GetParam(), path}, options, diagnostics);
    const auto refusal = expected.find(name);
    EXPECT_EQ(layer.has_value() ? "read" : first_error(diagnostics),
              refusal == expected.end() ? "read" : refusal->second)
        << name;
    if (!layer) {
      ++refused;
      continue;
    }
    ++read;
    const auto& policy = std::get<policy::Policy>(layer->content);
    const Agreement agreement = compare_lowering(policy, numbers_of(policy), 400, random);
    EXPECT_FALSE(agreement.disagreement) << name << ": " << agreement.disagreement->substr(0, 2000);
    calls += agreement.calls;
    EXPECT_EQ(flattened(*layer, options), "") << name;
  }
  std::printf("%s: %zu profiles read, %zu calls, %zu profiles refused as listed\n", GetParam(), read, calls, refused);
  EXPECT_GT(read, 40U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CorpusProfiles, ::testing::Values("oci", "docker"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace seccompress::test
