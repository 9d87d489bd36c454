// SPDX-License-Identifier: Apache-2.0
#include "support/golden.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/file.h"

namespace seccompress::test {
namespace {

constexpr std::size_t kLimit = std::size_t{16} << 20;

std::string first_difference(const std::string& expected, const std::string& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  const auto line = 1 + std::count(expected.begin(), e, '\n');
  return "first difference in line " + std::to_string(line) + "\n--- expected\n" + expected + "--- actual\n" + actual +
         "---\n(ACCEPT=1 rewrites the expectation)";
}

}  // namespace

std::vector<GoldenCase> golden_cases(const std::string& folder, const std::string& ok_suffix,
                                     const std::string& fail_suffix) {
  std::vector<GoldenCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".in") continue;
    GoldenCase one{entry.path().stem(), entry.path(), {}, true};
    one.ok = one.name.starts_with("ok-");
    if (!one.ok && !one.name.starts_with("fail-")) ADD_FAILURE() << one.input << ": call it ok-* or fail-*";
    one.expectation = folder + '/' + one.name + '.' + (one.ok ? ok_suffix : fail_suffix);
    cases.push_back(std::move(one));
  }
  std::sort(cases.begin(), cases.end(), [](const GoldenCase& a, const GoldenCase& b) { return a.name < b.name; });
  return cases;
}

GoldenResult compare_golden(const std::string& expectation, const std::string& actual, bool accept) {
  const auto expected = read_file(expectation, kLimit);
  if (expected && *expected == actual) return {};
  if (accept) {
    const auto written = write_file_atomically(expectation, actual);
    return {written ? GoldenOutcome::accepted : GoldenOutcome::differs, written ? "" : to_string(written.error())};
  }
  if (!expected) return {GoldenOutcome::differs, "no expectation: " + to_string(expected.error())};
  return {GoldenOutcome::differs, expectation + ": " + first_difference(*expected, actual)};
}

bool accepting() {
  const char* accept = std::getenv("ACCEPT");
  return accept != nullptr && std::string(accept) == "1";
}

}  // namespace seccompress::test
