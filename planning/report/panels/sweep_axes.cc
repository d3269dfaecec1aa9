// The points of a sweep: on parallel coordinates, by memory and step time, and as a table with the impossible ones.
#include <limits>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/layout_table.h"
#include "planning/report/scales.h"
#include "planning/report/sweep_points.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostSweepLines = 500;
constexpr std::size_t kMostChoices = 8;

PanelColumn text_values(const std::string& key, const std::vector<const JsonValue*>& points) {
  PanelColumn column = text_column(key);
  for (const JsonValue* point : points) texts(column).push_back((*point)["values"][key].text());
  return column;
}

PanelColumn objective_column(const ReportedObjective& objective, const std::vector<const JsonValue*>& points) {
  PanelColumn column = number_column(objective.title, std::string(objective.unit));
  for (const JsonValue* point : points) numbers(column).push_back(objective_value(objective, *point));
  return column;
}

PanelColumn field_column(std::string name, std::string unit, std::string_view field, double factor,
                         const std::vector<const JsonValue*>& points) {
  PanelColumn column = number_column(std::move(name), std::move(unit));
  for (const JsonValue* point : points) numbers(column).push_back((*point)[field].number_or_unknown() * factor);
  return column;
}

}  // namespace

std::vector<Panel> sweep_axes(const ResultInput& result) {
  const ReportedObjective objective = reported_objective(result.json);
  std::vector<const JsonValue*> points = ranked_points(result.json);
  const std::vector<std::string> keys = varied_keys(result.json);
  if (points.size() < 2 || keys.empty()) return {};
  const std::size_t all = points.size();
  if (all > kMostSweepLines) points.resize(kMostSweepLines);
  Panel panel{.id = "axes",
              .title = "What the points have",
              .sentence = fmt::format("Each line is a point; its colour is the {}. Drag along an axis to select lines.",
                                      objective.title),
              .chart = Chart::kParallel,
              .columns = {objective_column(objective, points)},
              .wide = true};
  for (const std::string& key : keys) {
    // Few values are choices: they share the axis evenly.
    const bool are_choices = sorted_values(result.json, key).size() <= kMostChoices;
    panel.columns.push_back(are_choices ? text_values(key, points) : value_column(key, points));
  }
  if (objective.field != "memory_bytes") {
    panel.columns.push_back(field_column("memory", "GiB", "memory_bytes", 1.0 / 1073741824.0, points));
  }
  if (all > kMostSweepLines) {
    panel.note = fmt::format("The best {} of {} points.", kMostSweepLines, count_text(static_cast<double>(all)));
  }
  return {panel};
}

std::vector<Panel> sweep_table(const ResultInput& result) {
  std::vector<const JsonValue*> points = ranked_points(result.json);
  const std::size_t possible = points.size();
  for (const JsonValue& point : result.json["points"].list()) {
    if (point["status"].text() != "ok") points.push_back(&point);
  }
  if (points.empty()) return {};
  PanelColumn rank = number_column("rank", ""), status = text_column("status"), reason = text_column("reason");
  for (std::size_t i = 0; i < points.size(); ++i) {
    numbers(rank).push_back(i < possible ? static_cast<double>(i + 1) : std::numeric_limits<double>::quiet_NaN());
    texts(status).push_back((*points[i])["status"].text());
    texts(reason).push_back((*points[i])["reason"].text());
  }
  Panel panel{.id = "points",
              .title = "All points",
              .sentence = "The best first; those that are not possible, with their reason, last.",
              .chart = Chart::kTable,
              .columns = {rank},
              .wide = true};
  for (const std::string& key : varied_keys(result.json)) panel.columns.push_back(value_column(key, points));
  panel.columns.push_back(field_column("step time", "s", "step_time_s", 1.0, points));
  panel.columns.push_back(
      field_column(processed_in(result.json) + "/s per GPU", "", "tokens_per_s_per_gpu", 1.0, points));
  panel.columns.push_back(field_column("MFU", "%", "mfu", 100.0, points));
  panel.columns.push_back(field_column("memory", "GiB", "memory_bytes", 1.0 / 1073741824.0, points));
  if (reported_objective(result.json).name == "cost") {
    panel.columns.push_back(objective_column(reported_objective(result.json), points));
  }
  panel.columns.push_back(status);
  panel.columns.push_back(reason);
  return {panel};
}

std::vector<Panel> sweep_front(const ResultInput& result) {
  const std::vector<const JsonValue*> points = ranked_points(result.json);
  const std::vector<std::string> keys = varied_keys(result.json);
  if (points.empty()) return {};
  std::vector<ListedLayout> sizes;
  for (const JsonValue* point : points) {
    sizes.push_back({.memory_bytes = (*point)["memory_bytes"].number_or_unknown(),
                     .seconds = (*point)["step_time_s"].number_or_unknown()});
  }
  const std::vector<bool> front = on_front(sizes);
  PanelColumn series = text_column("series"), text = text_column("point"), rank = number_column("rank", "");
  for (std::size_t i = 0; i < points.size(); ++i) {
    texts(series).emplace_back(front[i] ? "no other is faster and smaller" : "simulated");
    texts(text).push_back(point_text(*points[i], keys));
    numbers(rank).push_back(static_cast<double>(i + 1));
  }
  return {Panel{
      .id = "front",
      .title = "Step time against memory",
      .sentence = "Each point is a variant that fits. Quick and small is down and left.",
      .chart = Chart::kPoints,
      .columns = {series, field_column("memory of the fullest GPU", "GiB", "memory_bytes", 1.0 / 1073741824.0, points),
                  field_column("step time", "s", "step_time_s", 1.0, points), rank, text},
      .wide = true}};
}

}  // namespace ringwright::planning
