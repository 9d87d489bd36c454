// SPDX-License-Identifier: Apache-2.0
#include "report_output.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "output.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

std::string figure(double value) {
  if (value >= 1000) return grouped(static_cast<std::size_t>(std::llround(value)));
  if (value == std::floor(value)) return fmt::format("{:.0f}", value);
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string section_text(const bench::Section& section) {
  bool repeated = false;
  for (const bench::Row& row : section.rows) repeated = repeated || row.trials.size() > 1;
  Table table;
  std::vector<std::string> header{"  " + section.unit, repeated ? "median" : "figure"};
  if (repeated) header.insert(header.end(), {"min", "max"});
  if (section.reference) header.push_back("ratio");
  if (section.reference && repeated) header.insert(header.end(), {"min", "max", "middle half"});
  table.add(header);
  for (std::size_t i = 0; i < section.rows.size(); ++i) {
    const bench::Spread value = section.value(i), ratio = bench::spread(section.ratio_trials(i));
    std::vector<std::string> row{"  " + section.rows[i].label, figure(value.median)};
    if (repeated) row.insert(row.end(), {figure(value.min), figure(value.max)});
    if (section.reference) row.push_back(fmt::format("{:.3f}", ratio.median));
    if (section.reference && repeated)
      row.insert(row.end(), {fmt::format("{:.3f}", ratio.min), fmt::format("{:.3f}", ratio.max),
                             fmt::format("{:.3f} to {:.3f}", ratio.lower_quartile, ratio.upper_quartile)});
    table.add(row);
  }
  return styled(section.title, Style::strong) + '\n' + table.text() + '\n';
}

std::string grid_text(const bench::Grid& grid) {
  Table table;
  std::vector<std::string> header{"  " + grid.unit};
  header.insert(header.end(), grid.columns.begin(), grid.columns.end());
  table.add(header);
  for (const bench::GridRow& row : grid.rows) {
    std::vector<std::string> cells{"  " + row.label};
    for (const double value : row.values) cells.push_back(figure(value));
    table.add(cells);
  }
  return styled(grid.title, Style::strong) + '\n' + table.text() + '\n';
}

Json to_json(const bench::Spread& spread) {
  return {{"median", spread.median},
          {"min", spread.min},
          {"max", spread.max},
          {"lower_quartile", spread.lower_quartile},
          {"upper_quartile", spread.upper_quartile}};
}

Json section_json(const bench::Section& section) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < section.rows.size(); ++i) {
    Json row{
        {"label", section.rows[i].label}, {"trials", section.rows[i].trials}, {"value", to_json(section.value(i))}};
    if (section.reference) row["ratio"] = to_json(bench::spread(section.ratio_trials(i)));
    rows.push_back(std::move(row));
  }
  Json json{{"title", section.title}, {"unit", section.unit}, {"published", section.published}};
  if (section.reference) json["ratio_to"] = section.rows[*section.reference].label;
  json["rows"] = std::move(rows);
  return json;
}

Json grid_json(const bench::Grid& grid) {
  Json rows = Json::array();
  for (const bench::GridRow& row : grid.rows)
    rows.push_back({{"label", row.label}, {"published", row.published}, {"values", row.values}});
  return {{"title", grid.title}, {"unit", grid.unit}, {"columns", grid.columns}, {"rows", std::move(rows)}};
}

}  // namespace

std::string to_text(const bench::Report& report) {
  std::string text = report.name + ": " + report.title + "\n\n";
  for (const bench::Section& section : report.sections) text += section_text(section);
  for (const bench::Grid& grid : report.grids) text += grid_text(grid);
  for (const std::string& note : report.notes) text += note + '\n';
  return text;
}

Json to_json(const bench::Report& report) {
  Json sections = Json::array(), grids = Json::array();
  for (const bench::Section& section : report.sections) sections.push_back(section_json(section));
  for (const bench::Grid& grid : report.grids) grids.push_back(grid_json(grid));
  return {{"bench", report.name},
          {"title", report.title},
          {"sections", std::move(sections)},
          {"grids", std::move(grids)},
          {"notes", report.notes}};
}

}  // namespace seccompress::cmd
