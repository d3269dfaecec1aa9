// What a sweep found, for programs: JSON and CSV.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "planning/study/csv_field.h"
#include "planning/study/first_error.h"
#include "planning/study/point_json.h"
#include "planning/sweep/idle_keys.h"
#include "planning/sweep/sweep_report.h"

namespace ringwright::planning {
namespace {

std::size_t count_status(const SweepResult& result, PointStatus status) {
  return static_cast<std::size_t>(std::ranges::count_if(
      result.rows, [status](const SweepRow& row) { return row.is_known && row.point.status == status; }));
}

std::string json_row(const SweepRow& row) {
  std::vector<std::string> values;
  for (const KeyValue& value : row.values) values.push_back(json_text(value.key) + ": " + json_text(value.value));
  const std::string point = row.is_known
                                ? json_point(row.point)
                                : "\"status\": \"missing\", \"fingerprint\": " + json_text(row.point.fingerprint);
  return fmt::format("{{\"index\": {}, \"values\": {{{}}}, {}}}", row.index, join(values, ", "), point);
}

std::string json_warning(const Diagnostic& warning) {
  const Place& place = warning.place;
  const std::string where = place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
  return fmt::format("{{\"code\": {}, \"where\": {}, \"text\": {}}}", json_text(warning.code), json_text(where),
                     json_text(reason_of(warning)));
}

std::string csv_value(const SweepRow& row, const std::string& key) {
  const auto found = std::ranges::find(row.values, key, &KeyValue::key);
  return found == row.values.end() ? std::string() : csv_field(found->value);
}

std::string csv_number(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "";
}

std::string csv_figures(const Point& point, const std::vector<std::string>& causes) {
  if (!point.was_simulated()) return std::string(11 + causes.size(), ',');
  const StepFigures& figures = point.figures;
  std::string text = fmt::format(",{},{},{},{},{},{},{},{},{},{},{}", static_cast<double>(figures.step.count()) / 1e12,
                                 figures.step.count(), figures.tokens_per_second(), figures.tokens_per_second_per_gpu,
                                 csv_number(figures.model_flop_utilisation), figures.gpus, figures.memory.count(),
                                 figures.memory_capacity.count(), csv_number(figures.cost.usd_per_tera_tokens),
                                 csv_number(figures.cost.joules_per_token), figures.processed);
  for (const std::string& cause : causes) {
    const auto part = std::ranges::find(figures.parts, cause, &StepPart::cause);
    text += part == figures.parts.end() ? "," : fmt::format(",{}", part->time.count());
  }
  return text;
}

std::vector<std::string> causes_of(const SweepResult& result) {
  std::vector<std::string> causes;
  for (const SweepRow& row : result.rows) {
    for (const StepPart& part : row.point.figures.parts) {
      if (std::ranges::find(causes, part.cause) == causes.end()) causes.push_back(part.cause);
    }
  }
  std::ranges::sort(causes);
  return causes;
}

}  // namespace

std::string render_sweep_json(const SweepReport& report) {
  const SweepResult& result = report.result;
  std::vector<std::string> keys, rows, warnings, idle;
  std::vector<std::size_t> ranking;
  for (const Diagnostic& warning : result.warnings.all()) warnings.push_back(json_warning(warning));
  for (const IdleKey& each : idle_keys(report.plan.keys(), result.rows)) {
    idle.push_back(fmt::format("{{\"path\": {}, \"why\": {}}}", json_text(each.key), json_text(each.why)));
  }
  for (const std::string& key : report.plan.keys()) keys.push_back(json_text(key));
  for (const SweepRow& row : result.rows) rows.push_back(json_row(row));
  for (const std::size_t row : result.ranking) ranking.push_back(result.rows[row].index);
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.sweep/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"name\": {},\n  \"scenario\": {},\n  \"objective\": {},\n  \"keys\": [{}],\n  \"combinations\": {},\n"
      "  \"excluded\": {},\n  \"ok\": {},\n  \"too_large\": {},\n  \"refused\": {},\n  \"unfinished\": {},\n"
      "  \"missing\": {},\n  \"warnings\": [{}],\n  \"ignored\": [{}],\n  \"ranking\": [{}],\n"
      "  \"points\": [{}{}{}]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(report.plan.name), json_text(report.plan.scenario),
      json_text(to_string(report.plan.objective)), join(keys, ", "), result.combinations, result.excluded,
      count_status(result, PointStatus::kOk), count_status(result, PointStatus::kTooLarge),
      count_status(result, PointStatus::kRefused), count_status(result, PointStatus::kUnfinished), result.missing,
      join(warnings, ", "), join(idle, ", "), fmt::join(ranking, ", "), rows.empty() ? "" : "\n    ",
      join(rows, ",\n    "), rows.empty() ? "" : "\n  ");
}

std::string render_sweep_csv(const SweepReport& report) {
  const std::vector<std::string> keys = report.plan.keys();
  const std::vector<std::string> causes = causes_of(report.result);
  std::string text = "index";
  for (const std::string& key : keys) text += "," + csv_field(key);
  text +=
      ",status,code,reason,step_time_s,step_ps,tokens_per_s,tokens_per_s_per_gpu,mfu,gpus,memory_bytes,"
      "memory_capacity_bytes,usd_per_1e12_tokens,joules_per_token,tokens_are";
  for (const std::string& cause : causes) text += "," + csv_field(cause + " ps");
  text += "\n";
  for (const SweepRow& row : report.result.rows) {
    text += fmt::format("{}", row.index);
    for (const std::string& key : keys) text += "," + csv_value(row, key);
    const std::string status(row.is_known ? to_string(row.point.status) : "missing");
    text +=
        "," + status + "," + row.point.code + "," + csv_field(row.point.reason) + csv_figures(row.point, causes) + "\n";
  }
  return text;
}

}  // namespace ringwright::planning
