// What the page of a report shows, before it is HTML: sections with key figures and panels; a panel is a table with
// units, and the chart that draws it.
//
// The charts read their columns by position:
//
//   waterfall     name, value, then columns that only the table shows; values follow each other from zero
//   changes       name, value: the first and the last are totals, those between lead from one to the other
//   bars          name, then a column for each part of a bar, stacked
//   tornado       name, two values of one unit with bars from zero, then columns for the tooltip
//   lines, points series, x, y, then columns for the tooltip
//   gantt         row, kind, task, start, end, then columns for the tooltip
//   heat map      x, y, value
//   time map      row, start, end, share in percent, then columns for the tooltip; cells of a row have equal lengths
//   parallel      an axis for each column; the first is the colour
//   table         any
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ringwright::planning {

enum class Chart : std::uint8_t {
  kWaterfall,
  kChanges,
  kBars,
  kTornado,
  kLines,
  kPoints,
  kGantt,
  kHeatMap,
  kTimeMap,
  kParallel,
  kTable
};
[[nodiscard]] std::string_view to_string(Chart chart);

enum class AxisScale : std::uint8_t { kLinear, kLogarithmic };

// A number that is not finite is unknown: an empty cell.
struct PanelColumn {
  std::string name;
  std::string unit;  // "ms"; empty: none
  std::variant<std::vector<double>, std::vector<std::string>> cells;

  [[nodiscard]] std::size_t size() const;
};

[[nodiscard]] PanelColumn number_column(std::string name, std::string unit);
[[nodiscard]] PanelColumn text_column(std::string name);
// The cells of a column that was made with numbers, or with texts.
[[nodiscard]] std::vector<double>& numbers(PanelColumn& column);
[[nodiscard]] std::vector<std::string>& texts(PanelColumn& column);

// A reference that the chart draws as a line: a level of the value axis, a diagonal y = value x x, or a polyline.
struct PanelMark {
  enum class Kind : std::uint8_t { kLevel, kDiagonal };
  Kind kind = Kind::kLevel;
  std::string name;
  double value = 0.0;
};

struct Panel {
  std::string id;        // "step-waterfall": unique in its section
  std::string title;     // "Where one training step goes"
  std::string sentence;  // how to read it
  Chart chart = Chart::kTable;
  std::vector<PanelColumn> columns;  // of equal length
  std::vector<PanelMark> marks;
  AxisScale x_scale = AxisScale::kLinear;
  AxisScale y_scale = AxisScale::kLinear;
  std::vector<std::string> drawn_as_points;  // series of a line chart that are measurements
  bool wide = false;                         // takes the whole width of the page
  std::string note;                          // what is not shown, and why
  std::string total = "step time";           // of a waterfall: what its parts add up to
};

struct KeyFigure {
  std::string name;   // "Step time"
  std::string value;  // "13.45 s"
  std::string remark;
};

struct EvidenceBadge {
  std::string input;  // "NVLink"
  std::string level;  // "vendor-spec"
  std::string source;
};

// One result.
struct ReportSection {
  std::string title;
  std::string subtitle;
  std::vector<KeyFigure> figures;
  std::vector<EvidenceBadge> badges;
  std::vector<std::string> sentences;  // what the figures say, in words
  std::vector<std::string> command;    // that computes the result again, in words
  std::string fingerprint;             // of the configuration
  std::vector<Panel> panels;
};

}  // namespace ringwright::planning
