// SPDX-License-Identifier: Apache-2.0
// The three forms of one report with fixed figures, held to the files beside this one.
#include "bench/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/report_output.h"
#include "bench/svg.h"
#include "support/golden.h"
#include "support/paths.h"

namespace seccompress::bench {
namespace {

Report fixed() {
  Report report{"sample", "a <fixed> report & its figures"};
  report.sections.push_back({"published: loop", "loops", true, 0, {{"no filter", {1000}}, {"4 filters", {665}}}});
  report.sections.push_back({"loop",
                             "loops a second",
                             false,
                             0,
                             {{"no filter", {1000000, 2000000, 4000000}}, {"4 filters", {500000, 1500000, 1000000}}}});
  report.sections.push_back({"estimated", "ns", false, std::nullopt, {{"each filter", {14.5, 15.25, 16}}}});
  report.grids.push_back(
      {"executed", "instructions", {"read", "openat"}, {{"published", true, {6, 204}}, {"flattened", false, {6, 9}}}});
  report.notes = {"a note"};
  return report;
}

void expect_golden(const std::string& name, const std::string& actual) {
  const auto result =
      test::compare_golden(std::string(test::kTestData) + "/unit/bench/" + name, actual, test::accepting());
  if (result.outcome == test::GoldenOutcome::accepted) GTEST_SKIP() << name << " accepted";
  EXPECT_EQ(result.outcome, test::GoldenOutcome::same) << result.message;
}

TEST(Report, IsATableForAPerson) { expect_golden("sample.txt", cmd::to_text(fixed())); }

TEST(Report, IsAPicture) { expect_golden("sample.svg", to_svg(fixed())); }

TEST(Report, IsJsonWithEveryTrialAndItsRatios) {
  const auto json = cmd::to_json(fixed());
  EXPECT_EQ(json["bench"], "sample");
  EXPECT_EQ(json["sections"][0]["published"], true);
  const auto& row = json["sections"][1]["rows"][1];
  EXPECT_EQ(row["trials"], (std::vector<double>{500000, 1500000, 1000000}));
  EXPECT_EQ(row["value"]["median"], 1000000);
  EXPECT_EQ(row["ratio"]["median"], 0.5);  // of 0.5, 0.75, 0.25
  EXPECT_EQ(row["ratio"]["min"], 0.25);
  EXPECT_EQ(json["sections"][1]["ratio_to"], "no filter");
  EXPECT_FALSE(json["sections"][2]["rows"][0].contains("ratio"));
  EXPECT_EQ(json["grids"][0]["rows"][1]["values"], (std::vector<double>{6, 9}));
}

}  // namespace
}  // namespace seccompress::bench
