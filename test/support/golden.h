// SPDX-License-Identifier: Apache-2.0
// Golden files: the expectation of a case lies beside its input. ACCEPT=1 in the environment rewrites it and
// reports the case as skipped, so that a rewrite never looks like a pass; a missing expectation is a failure.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace seccompress::test {

struct GoldenCase {
  std::string name;         // "ok-minimal"
  std::string input;        // path of ok-minimal.in
  std::string expectation;  // path of ok-minimal.<ok suffix>, fail-x.<fail suffix>
  bool ok = true;
};

// All ok-*.in and fail-*.in of a folder, by name. Other names of inputs are reported as a failed case.
std::vector<GoldenCase> golden_cases(const std::string& folder, const std::string& ok_suffix,
                                     const std::string& fail_suffix);

enum class GoldenOutcome { same, accepted, differs };
struct GoldenResult {
  GoldenOutcome outcome = GoldenOutcome::same;
  std::string message;  // for differs
};
GoldenResult compare_golden(const std::string& expectation, const std::string& actual, bool accept);
bool accepting();  // ACCEPT=1

}  // namespace seccompress::test
