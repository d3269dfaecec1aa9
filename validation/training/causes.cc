#include "validation/training/causes.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace ringwright::validation {
namespace {

struct Weighed {
  double share = 0.0;  // of the term in the predicted step
  double error = 0.0;  // predicted / measured - 1
};

double share_of(const PlayedRow& row, std::string_view term) {
  for (const TermSeconds& entry : row.terms) {
    if (entry.name == term) return entry.seconds / row.predicted_seconds;
  }
  return 0.0;
}

std::vector<const PlayedRow*> played_rows(const TrainingTables& tables, std::string_view source) {
  std::vector<const PlayedRow*> rows;
  for (const PlayedRow& row : tables.rows) {
    if (row.source == source && row.played()) rows.push_back(&row);
  }
  return rows;
}

std::vector<std::string> terms_of(const std::vector<const PlayedRow*>& rows) {
  std::vector<std::string> names;
  for (const PlayedRow* row : rows) {
    for (const TermSeconds& term : row->terms) {
      if (std::ranges::find(names, term.name) == names.end()) names.push_back(term.name);
    }
  }
  return names;
}

double mean_error(const std::vector<Weighed>& rows, std::size_t first, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = first; i < first + count; ++i) sum += rows[i].error;
  return sum / static_cast<double>(count);
}

// Terms that are a hundredth of the step or more in the mean.
std::string terms_table(const std::vector<const PlayedRow*>& rows) {
  std::string text =
      "| term | mean share | error where it weighs most | least |\n"
      "|---|---:|---:|---:|\n";
  for (const std::string& name : terms_of(rows)) {
    std::vector<Weighed> weighed;
    double sum = 0.0;
    for (const PlayedRow* row : rows) {
      weighed.push_back({.share = share_of(*row, name), .error = row->predicted_seconds / row->measured_seconds - 1.0});
      sum += weighed.back().share;
    }
    const double mean = sum / static_cast<double>(rows.size());
    if (mean < 0.01) continue;
    std::ranges::stable_sort(weighed, std::ranges::greater(), &Weighed::share);
    const std::size_t third = std::max<std::size_t>(1, weighed.size() / 3);
    text +=
        fmt::format("| {} | {:.0f} % | {:+.1f} % | {:+.1f} % |\n", name, 100.0 * mean,
                    100.0 * mean_error(weighed, 0, third), 100.0 * mean_error(weighed, weighed.size() - third, third));
  }
  return text;
}

std::string heading(const SourceScore& score) {
  if (!score.misses_time() && !score.misses_tau()) {
    return fmt::format("{}: memory {:.1f} % for {:.1f} %", score.title, 100.0 * score.memory.mean_abs,
                       100.0 * score.memory_target);
  }
  if (!score.misses_time()) {
    return fmt::format("{}: ranks by {:.2f} for {:.2f}", score.title, score.tau.value_or(0.0), score.target_tau);
  }
  return fmt::format("{}: {:.1f} % for {:.1f} %", score.title, 100.0 * score.time.mean_abs, 100.0 * score.target);
}

}  // namespace

std::string causes_markdown(const TrainingTables& tables) {
  std::string text;
  for (const SourceScore& score : tables.scores) {
    if (!score.misses_any()) continue;
    if (text.empty()) {
      text =
          "\n## Targets that are missed\n\nErrors with sign, in the third of the rows in which a term of the "
          "predicted\n"
          "step weighs most, and in the third in which it weighs least: a term that is modelled too short has its\n"
          "largest deficit where it weighs most.\n";
    }
    text += fmt::format("\n### {}\n\n", heading(score));
    if (score.misses_time() || score.misses_tau()) text += terms_table(played_rows(tables, score.name)) + "\n";
    for (const std::string& cause : score.causes) text += fmt::format("* {}\n", cause);
  }
  return text;
}

std::string remarks_markdown(const TrainingTables& tables) {
  std::string text;
  for (const SourceScore& score : tables.scores) {
    if (score.remarks.empty()) continue;
    if (text.empty()) text = "\n## Findings about rows\n";
    text += fmt::format("\n### {}\n", score.title);
    for (const std::string& remark : score.remarks) text += fmt::format("\n* {}", remark);
    text += "\n";
  }
  return text;
}

}  // namespace ringwright::validation
