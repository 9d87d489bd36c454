// SPDX-License-Identifier: Apache-2.0
// Input: a report. Output: SVG text, the same bytes for the same report. Entry point: to_svg.
// Method: one panel a section or grid, one bar a row; sections with a reference show ratios, the others values, each
// panel on a scale of its own from 0. Published figures are grey.
// Weakness: labels are cut nowhere; long ones run under the bars.
#include "bench/svg.h"

#include <fmt/core.h>

#include <algorithm>

namespace seccompress::bench {
namespace {

constexpr double kWidth = 860, kMargin = 16, kLabels = 300, kBars = 400, kLine = 22, kBar = 14;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result;
}

struct Bar {
  std::string label;
  Spread value;
  bool published = false;
};
struct Panel {
  std::string title, unit;
  std::vector<Bar> bars;
};

Panel panel_of(const Section& section) {
  Panel panel{section.title, section.unit, {}};
  if (section.reference) panel.unit += ", as a ratio to: " + section.rows[*section.reference].label;
  for (std::size_t i = 0; i < section.rows.size(); ++i)
    panel.bars.push_back({section.rows[i].label, section.reference ? spread(section.ratio_trials(i)) : section.value(i),
                          section.published});
  return panel;
}

Panel panel_of(const Grid& grid) {
  Panel panel{grid.title, grid.unit, {}};
  for (std::size_t column = 0; column < grid.columns.size(); ++column)
    for (const GridRow& row : grid.rows)
      panel.bars.push_back({grid.columns[column] + ", " + row.label, spread({row.values[column]}), row.published});
  return panel;
}

class Drawing {
 public:
  void text(double x, double y, int size, const std::string& content, const char* anchor = "start") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, size,
                         anchor, escaped(content));
  }
  void rectangle(double x, double y, double width, const char* colour) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", x, y,
                         width, kBar, colour);
  }
  void whisker(double from, double to, double y) {
    body_ += fmt::format("<path d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}v8M{1:.1f} {3:.1f}v8\" stroke=\"#222\"/>\n",
                         from, to, y, y - 4);
  }
  std::string finish(double height) const {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" fill=\"#222\">\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
               kWidth, height) +
           body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

std::string figure(double value) { return value < 100 ? fmt::format("{:.3f}", value) : fmt::format("{:.0f}", value); }

double draw_panel(Drawing& drawing, const Panel& panel, double y) {
  double widest = 0;
  for (const Bar& bar : panel.bars) widest = std::max(widest, bar.value.max);
  const double scale = widest > 0 ? kBars / widest : 0;
  drawing.text(kMargin, y, 14, panel.title);
  drawing.text(kMargin, y += 18, 11, panel.unit);
  y += 8;
  for (const Bar& bar : panel.bars) {
    const double left = kMargin + kLabels;
    drawing.text(left - 8, y + 11, 12, bar.label, "end");
    drawing.rectangle(left, y, bar.value.median * scale, bar.published ? "#aaa" : "#3b7dd8");
    if (bar.value.max > bar.value.min)
      drawing.whisker(left + bar.value.min * scale, left + bar.value.max * scale, y + kBar / 2);
    drawing.text(left + kBars + 8, y + 11, 12, figure(bar.value.median));
    y += kLine;
  }
  return y + kLine;
}

}  // namespace

std::string to_svg(const Report& report) {
  Drawing drawing;
  double y = kMargin + 14;
  drawing.text(kMargin, y, 16, report.name + ": " + report.title);
  y += 30;
  for (const Section& section : report.sections) y = draw_panel(drawing, panel_of(section), y);
  for (const Grid& grid : report.grids) y = draw_panel(drawing, panel_of(grid), y);
  return drawing.finish(y);
}

}  // namespace seccompress::bench
