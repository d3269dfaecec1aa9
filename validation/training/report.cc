#include "validation/training/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "validation/training/causes.h"

namespace ringwright::validation {
namespace {

constexpr std::size_t kWorstShown = 5;
constexpr std::size_t kReasonWidth = 110;
constexpr std::size_t kAssumedWidth = 118;

double error_of(const PlayedRow& row) {
  return row.predicted_seconds / row.measured_seconds - 1.0;
}
double memory_error_of(const PlayedRow& row) {
  return row.predicted_gib / row.measured_gib - 1.0;
}

std::string percent(double ratio) {
  return fmt::format("{:.1f} %", 100.0 * ratio);
}
std::string signed_percent(double ratio) {
  return fmt::format("{:+.1f} %", 100.0 * ratio);
}

std::string seconds(double value) {
  return fmt::format("{:.4g} s", value);
}

std::string verdict(const SourceScore& score) {
  if (score.time.count == 0) return "-";
  if (!score.threshold) return "reported";
  if (!score.passed()) return "FAILED";
  return score.misses_any() ? "misses its target" : "ok";
}

std::vector<std::string> score_cells(const SourceScore& score) {
  const bool any = score.time.count > 0;
  return {score.title,
          fmt::format("{}", score.rows),
          fmt::format("{}", score.time.count),
          any ? percent(score.time.mean_abs) : "-",
          any ? signed_percent(score.time.mean_error) : "-",
          any ? percent(score.time.median_abs) : "-",
          any ? percent(score.time.max_abs) : "-",
          score.tau ? fmt::format("{:.2f}", *score.tau) : "-",
          score.memory.count > 0 ? percent(score.memory.mean_abs) : "-",
          score.memory.count > 0 ? signed_percent(score.memory.mean_error) : "-",
          any ? fmt::format("{}", score.too_large) : "-",
          score.target > 0.0 ? percent(score.target) : "-",
          score.threshold ? percent(*score.threshold) : "-",
          verdict(score)};
}

const std::vector<std::string>& score_heads() {
  static const std::vector<std::string> kHeads = {
      "source", "rows",   "simulated",     "mean error", "signed", "median", "max",
      "tau",    "memory", "signed memory", "too large",  "target", "holds",  "verdict"};
  return kHeads;
}

// Largest error first; equal ones as they came.
std::vector<const PlayedRow*> rows_of(const TrainingTables& tables, const std::string& source, RowDetail detail) {
  std::vector<const PlayedRow*> rows;
  for (const PlayedRow& row : tables.rows) {
    if (row.source == source && row.played()) rows.push_back(&row);
  }
  if (detail == RowDetail::kAll) return rows;
  std::ranges::stable_sort(
      rows, [](const PlayedRow* a, const PlayedRow* b) { return std::abs(error_of(*a)) > std::abs(error_of(*b)); });
  rows.resize(std::min(rows.size(), kWorstShown));
  return rows;
}

std::string layout_text(const TrainingRow& row) {
  std::string text = fmt::format("{} GPUs tp{} pp{}", row.gpus.value_or(0), row.tp.value_or(1), row.pp.value_or(1));
  if (row.virtual_stages.value_or(1) > 1) text += fmt::format(" v{}", *row.virtual_stages);
  if (row.cp.value_or(1) > 1) text += fmt::format(" cp{}", *row.cp);
  if (row.ep.value_or(1) > 1) text += fmt::format(" ep{}", *row.ep);
  text += fmt::format(" dp{}", row.dp.value_or(1));
  if (row.micro_batch) text += fmt::format(" mbs{}", *row.micro_batch);
  if (row.global_batch) text += fmt::format(" gbs{}", *row.global_batch);
  return text;
}

// The share of each term in the predicted step, largest first, those below one in a hundred left out.
std::string terms_text(const PlayedRow& row) {
  std::vector<TermSeconds> terms = row.terms;
  std::ranges::stable_sort(terms, std::ranges::greater(), &TermSeconds::seconds);
  std::string text;
  for (const TermSeconds& term : terms) {
    const double share = term.seconds / row.predicted_seconds;
    if (share < 0.01) continue;
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", term.name, 100.0 * share);
  }
  return text;
}

std::vector<std::string> row_cells(const PlayedRow& row) {
  return {row.row.id,
          row.row.model,
          layout_text(row.row),
          seconds(row.measured_seconds),
          seconds(row.predicted_seconds),
          signed_percent(error_of(row)),
          row.measured_gib > 0.0 ? signed_percent(memory_error_of(row)) : "-",
          terms_text(row)};
}

const std::vector<std::string>& row_heads() {
  static const std::vector<std::string> kHeads = {"row",       "model", "layout", "measured",
                                                  "predicted", "error", "memory", "where the predicted time goes"};
  return kHeads;
}

std::string lines_of(const TextTable& table) {
  std::string text;
  for (const std::string& line : table.lines()) text += line + "\n";
  return text;
}

// What rows do not state, or state otherwise than they are simulated: equal assumptions of several rows once.
std::string assumed_lines(const std::vector<const PlayedRow*>& rows) {
  constexpr std::size_t kShown = 12;
  std::vector<std::pair<std::string, std::vector<std::string>>> ids;  // by assumption, in the order of the rows
  for (const PlayedRow* row : rows) {
    for (const std::string& what : row->assumed) {
      auto known = std::ranges::find(ids, what, &std::pair<std::string, std::vector<std::string>>::first);
      if (known == ids.end()) known = ids.insert(ids.end(), {what, {}});
      known->second.push_back(row->row.id);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, ids.size()); ++i) {
    const auto& [what, of] = ids[i];
    const std::string whose = of.size() > 1 ? fmt::format("{} rows", of.size()) : of.front();
    text += "  " + wrap(fmt::format("assumed of {}: {}", whose, what), kAssumedWidth, 4) + "\n";
  }
  if (ids.size() > kShown) text += fmt::format("  ... and {} more assumptions (--json)\n", ids.size() - kShown);
  return text;
}

std::string training_json(const ErrorStatistics& statistics) {
  return fmt::format(
      "{{\"count\": {}, \"mean_abs\": {:.6f}, \"mean\": {:.6f}, \"median_abs\": {:.6f}, "
      "\"p95_abs\": {:.6f}, \"max_abs\": {:.6f}}}",
      statistics.count, statistics.mean_abs, statistics.mean_error, statistics.median_abs, statistics.p95_abs,
      statistics.max_abs);
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + json_text(text);
  return "[" + list + "]";
}

std::string training_json(const PlayedRow& row) {
  std::string text = fmt::format("    {{\"id\": {}, \"source\": {}, \"split\": {}, \"trust\": {}, \"model\": {}, ",
                                 json_text(row.row.id), json_text(row.source), json_text(row.row.split),
                                 json_text(row.row.trust), json_text(row.row.model));
  text += fmt::format("\"layout\": {}, ", json_text(layout_text(row.row)));
  if (!row.shortage.empty()) text += fmt::format("\"shortage\": {}, ", json_text(row.shortage));
  if (!row.played()) return text + fmt::format("\"not_simulated\": {}}}", json_text(row.reason));
  text += fmt::format("\"gpu\": {}, \"generation\": {}, \"strategy\": {}, \"precision\": {}, ", json_text(row.row.gpu),
                      json_text(row.kind.generation), json_text(row.kind.strategy), json_text(row.kind.precision));
  text +=
      fmt::format("\"measured_as\": {}, \"measured_s\": {:.6g}, \"predicted_s\": {:.6g}, \"error\": {:.6f}, ",
                  json_text(to_string(row.measured_as)), row.measured_seconds, row.predicted_seconds, error_of(row));
  if (row.measured_gib > 0.0) {
    text += fmt::format("\"measured_gib\": {:.6g}, \"predicted_gib\": {:.6g}, \"memory_error\": {:.6f}, ",
                        row.measured_gib, row.predicted_gib, memory_error_of(row));
  }
  std::string terms;
  for (const TermSeconds& term : row.terms) {
    terms += fmt::format("{}{}: {:.6g}", terms.empty() ? "" : ", ", json_text(term.name), term.seconds);
  }
  return text + fmt::format("\"terms_s\": {{{}}}, \"bottleneck_compute_s\": {:.6g}, \"assumed\": {}}}", terms,
                            row.bottleneck_compute, json_list(row.assumed));
}

std::string training_json(const SourceScore& score) {
  std::string reasons;
  for (const auto& [reason, count] : score.reasons) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : ", ", json_text(reason), count);
  }
  return fmt::format(
      "    {{\"name\": {}, \"title\": {}, \"rows\": {}, \"time\": {}, \"memory\": {}, \"tau\": {}, "
      "\"sweeps\": {}, \"too_large\": {}, \"target\": {}, \"threshold\": {}, \"passed\": {}, "
      "\"not_simulated\": {{{}}}}}",
      json_text(score.name), json_text(score.title), score.rows, training_json(score.time), training_json(score.memory),
      score.tau ? fmt::format("{:.6f}", *score.tau) : "null", score.sweeps, score.too_large, score.target,
      score.threshold ? fmt::format("{}", *score.threshold) : "null", score.passed(), reasons);
}

template <class Items>
std::string json_lines(const Items& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",\n") + training_json(item);
  return text;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_head(const std::vector<std::string>& heads, std::size_t words) {
  std::string text = markdown_row(heads) + "|";
  for (std::size_t i = 0; i < heads.size(); ++i) text += i < words ? "---|" : "---:|";
  return text + "\n";
}

}  // namespace

std::string training_text(const TrainingTables& tables, RowDetail detail) {
  std::vector<Align> aligns(score_heads().size(), Align::kRight);
  aligns.front() = Align::kLeft;
  TextTable summary(aligns);
  summary.add_row(score_heads());
  for (const SourceScore& score : tables.scores) summary.add_row(score_cells(score));
  std::string text = lines_of(summary);
  for (const SourceScore& score : tables.scores) {
    const std::vector<const PlayedRow*> rows = rows_of(tables, score.name, detail);
    text += fmt::format("\n{}{}\n", score.title, detail == RowDetail::kWorst && !rows.empty() ? ", worst rows" : "");
    for (const auto& [reason, count] : score.reasons) {
      text += fmt::format("  {} not simulated: {}\n", count, shorten_end(reason, kReasonWidth));
    }
    if (rows.empty()) continue;
    TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                     Align::kRight, Align::kLeft});
    table.add_row(row_heads());
    for (const PlayedRow* row : rows) table.add_row(row_cells(*row));
    text += lines_of(table);
    if (detail == RowDetail::kAll) text += assumed_lines(rows);
  }
  if (!tables.unused_columns.empty()) {
    text += fmt::format("\ncolumns that have no effect: {}\n", fmt::join(tables.unused_columns, ", "));
  }
  return text;
}

std::string training_json(const TrainingTables& tables) {
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.validation.training/1\",\n  \"sources\": [\n{}\n  ],\n"
      "  \"unused_columns\": {},\n  \"rows\": [\n{}\n  ]\n}}\n",
      json_lines(tables.scores), json_list(tables.unused_columns), json_lines(tables.rows));
}

std::string training_markdown(const TrainingTables& tables) {
  std::string text =
      "# Measured training runs against predictions\n\n"
      "Written by `ringwright validate training --markdown docs/validation-training.md`; not by hand. Each row of\n"
      "`validation/training/*.csv` is simulated as a scenario; `conventions.yaml` and the files of software stacks "
      "next\n"
      "to it set what rows do not state, with the evidence. Errors are of the time of a training step: predicted\n"
      "over measured, less one. `signed` is their mean with sign (above 0: predicted too slow), `tau` is Kendall's\n"
      "rank correlation inside sweeps of one model on one machine, `memory` is device memory where it was measured.\n"
      "`too large` counts rows that ran although their prediction does not fit into GPU memory.\n"
      "`target` is the mean error to reach (of memory 5 %), `holds` the limit of a test.\n\n";
  text += markdown_head(score_heads(), 1);
  for (const SourceScore& score : tables.scores) text += markdown_row(score_cells(score));
  text += causes_markdown(tables);
  text += remarks_markdown(tables);
  text += "\n## Rows that are not simulated\n\n" + markdown_head({"source", "reason", "rows"}, 2);
  for (const SourceScore& score : tables.scores) {
    for (const auto& [reason, count] : score.reasons) {
      text += markdown_row({score.title, reason, fmt::format("{}", count)});
    }
  }
  text += "\n## Worst rows\n";
  for (const SourceScore& score : tables.scores) {
    const std::vector<const PlayedRow*> rows = rows_of(tables, score.name, RowDetail::kWorst);
    if (rows.empty()) continue;
    text += fmt::format("\n### {}\n\n", score.title) + markdown_head(row_heads(), 3);
    for (const PlayedRow* row : rows) text += markdown_row(row_cells(*row));
  }
  return text;
}

}  // namespace ringwright::validation
