// What a sweep found, for people: the best points, and why the others are not among them.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/study/first_error.h"
#include "planning/sweep/idle_keys.h"
#include "planning/sweep/sweep_report.h"

namespace ringwright::planning {
namespace {

// "tp" of "parallel.tp"; the whole key where another one ends in the same word.
std::string short_key(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
  const auto same = std::ranges::count_if(keys, [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

std::string value_in(const SweepRow& row, const std::string& key) {
  const auto found = std::ranges::find(row.values, key, &KeyValue::key);
  return found == row.values.end() ? "-" : shorten_end(found->value, 28);
}

// What the ranked points process, where all do the same.
std::string processed_in(const SweepResult& result) {
  const auto of = [&result](std::size_t index) -> const std::string& {
    return result.rows[index].point.figures.processed;
  };
  const std::string& first = of(result.ranking.front());
  const bool same = std::ranges::all_of(result.ranking, [&](std::size_t index) { return of(index) == first; });
  return same ? first : "tokens or samples";
}

std::string against_best(const Point& point, const Point& best, SweepObjective objective) {
  const auto score = sweep_score(point, objective);
  const auto least = sweep_score(best, objective);
  if (!score || !least || !(std::abs(*least) > 0.0)) return "";
  return fmt::format("{:+.1f} %", (*score / *least - 1.0) * 100.0);
}

std::vector<std::string> ranking_lines(const SweepReport& report) {
  const std::vector<std::string> keys = report.plan.keys();
  const SweepResult& result = report.result;
  const bool costs =
      std::ranges::any_of(result.rows, [](const SweepRow& row) { return row.point.figures.cost.usd.has_value(); });
  std::vector<Align> columns(keys.size() + (costs ? 7 : 6), Align::kRight);
  TextTable table(columns);
  std::vector<std::string> head;
  for (const std::string& key : keys) head.push_back(short_key(key, keys));
  const std::string processed = processed_in(result);
  for (const std::string& title : {std::string("GPUs"), std::string("step"), processed + "/s/GPU", std::string("MFU"),
                                   std::string("memory")}) {
    head.push_back(title);
  }
  if (costs) head.push_back("$/1e12 " + processed);
  head.push_back("to the best");
  table.add_row(head);
  const std::size_t shown = std::min(report.top, result.ranking.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SweepRow& row = result.rows[result.ranking[i]];
    const StepFigures& figures = row.point.figures;
    std::vector<std::string> cells;
    for (const std::string& key : keys) cells.push_back(value_in(row, key));
    cells.push_back(with_commas(figures.gpus));
    cells.push_back(to_string(figures.step));
    cells.push_back(four_digits(figures.tokens_per_second_per_gpu));
    const auto& use = figures.model_flop_utilisation;
    cells.push_back(use ? fmt::format("{:.1f} %", *use * 100.0) : "-");
    cells.push_back(to_string(figures.memory));
    if (costs) {
      const auto& usd = figures.cost.usd_per_tera_tokens;
      cells.push_back(usd ? with_commas(std::llround(*usd)) : "-");
    }
    cells.push_back(against_best(row.point, result.rows[result.ranking.front()].point, report.plan.objective));
    table.add_row(cells);
  }
  return table.lines();
}

struct FailureCount {
  std::size_t count = 0;
  std::string example;
};

// Points that are not ok, by status and code, most frequent first.
std::vector<std::string> failure_lines(const SweepReport& report) {
  std::map<std::pair<std::string, std::string>, FailureCount> failures;
  for (const SweepRow& row : report.result.rows) {
    if (!row.is_known || row.point.status == PointStatus::kOk) continue;
    FailureCount& entry = failures[{std::string(to_string(row.point.status)), row.point.code}];
    if (entry.count++ == 0) entry.example = row.point.reason;
  }
  std::vector<std::pair<std::size_t, std::string>> lines;
  for (const auto& [key, entry] : failures) {
    const std::string what = key.first == "too_large" ? "too large" : key.first;
    const std::string code = key.second.empty() ? "" : " (" + key.second + ")";
    lines.emplace_back(entry.count, fmt::format("{:>6} {}{}, as: {}", entry.count, what, code, entry.example));
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> result;
  for (auto& [count, line] : lines) result.push_back(wrap(line, report.width - 2, 9));
  return result;
}

}  // namespace

std::string render_sweep_text(const SweepReport& report) {
  const SweepResult& result = report.result;
  std::string text = fmt::format("{}: {} points of {}, {} combinations", report.plan.name,
                                 with_commas(static_cast<long long>(result.rows.size())), report.plan.scenario,
                                 with_commas(static_cast<long long>(result.combinations)));
  if (result.excluded > 0) text += fmt::format(", {} excluded by conditions", result.excluded);
  text += fmt::format("\n  {} simulated now, {} already stored", result.simulated, result.found);
  if (result.missing > 0) text += fmt::format(", {} missing", result.missing);
  text += "\n";
  if (!result.ranking.empty()) {
    text += fmt::format("\nThe best {} of {} by {}\n", std::min(report.top, result.ranking.size()),
                        result.ranking.size(), to_string(report.plan.objective));
    for (const std::string& line : ranking_lines(report)) text += "  " + line + "\n";
  }
  const std::vector<std::string> failures = failure_lines(report);
  if (!failures.empty()) text += "\nWithout a place in the ranking\n";
  for (const std::string& line : failures) text += "  " + line + "\n";
  if (!result.warnings.all().empty()) text += "\nWarnings\n";
  for (const Diagnostic& warning : result.warnings.all()) {
    text += "  " + wrap(warning.code + ": " + reason_of(warning), report.width - 2, 4) + "\n";
  }
  const std::vector<IdleKey> idle = idle_keys(report.plan.keys(), result.rows);
  if (!idle.empty()) text += "\nWithout effect in all points\n";
  for (const IdleKey& each : idle) {
    text += "  " + wrap(fmt::format("{}: {}", each.key, each.why), report.width - 2, 4) + "\n";
  }
  return text;
}

}  // namespace ringwright::planning
