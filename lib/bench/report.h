// SPDX-License-Identifier: Apache-2.0
// NOUN: what a bench found, beside what was published: figures only, whatever draws or prints them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/statistics.h"

namespace seccompress::bench {

struct Row {
  std::string label;
  std::vector<double> trials;  // one value: a published or counted figure
};

// Variants of one measurement.
struct Section {
  std::string title, unit;
  bool published = false;
  std::optional<std::size_t> reference = 0;  // the row that ratios are taken to; none: there are no ratios
  std::vector<Row> rows = {};

  Spread value(std::size_t row) const { return spread(rows[row].trials); }
  std::vector<double> ratio_trials(std::size_t row) const {  // to the reference; empty without one
    return reference ? ratios(rows[row].trials, rows[*reference].trials) : std::vector<double>();
  }
};

// Counted figures side by side.
struct GridRow {
  std::string label;
  bool published = false;
  std::vector<double> values;  // one a column
};
struct Grid {
  std::string title, unit;
  std::vector<std::string> columns;
  std::vector<GridRow> rows = {};
};

struct Report {
  std::string name, title;
  std::vector<Section> sections = {};
  std::vector<Grid> grids = {};
  std::vector<std::string> notes = {};  // sentences for a person
};

}  // namespace seccompress::bench
