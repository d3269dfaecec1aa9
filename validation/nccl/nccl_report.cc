#include "validation/nccl/nccl_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "configs/simulation/collective_run.h"
#include "core/base/json_text.h"
#include "core/report/text_table.h"
#include "validation/nccl/nccl_logs.h"

namespace ringwright::validation {
namespace {

constexpr std::array kBands = {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge};

constexpr std::array kRoles = {LogRole::kFitted, LogRole::kPredicted, LogRole::kClass};


std::string microseconds(Duration time) {
  const double us = to_seconds(time) * 1e6;
  return us < 1000.0 ? fmt::format("{:.2f}", us) : fmt::format("{:.1f}", us);
}

std::string difference(Duration predicted, Duration measured) {
  return fmt::format("{:+.1f} %", 100.0 * (ratio(predicted, measured) - 1.0));
}

std::string error_cell(const ErrorStatistics& errors) {
  return errors.count == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * errors.geometric_mean_abs);
}

void add_pairs(const ReplayedLog& log, Against what, std::array<std::vector<PredictedMeasured>, kSizeBands>& pairs) {
  for (const SizeBand band : kBands) {
    const auto more = pairs_of(log.rows, band, what);
    auto& of_band = pairs[static_cast<std::size_t>(band)];
    of_band.insert(of_band.end(), more.begin(), more.end());
  }
}

template <class Keep>
PlatformScore score_of(const std::vector<ReplayedLog>& logs, std::string platform, Keep&& keep) {
  PlatformScore score{.platform = std::move(platform), .logs = 0, .simulation = {}, .formula = {}};
  std::array<std::vector<PredictedMeasured>, kSizeBands> simulation, formula;
  for (const ReplayedLog& log : logs) {
    if (!keep(log)) continue;
    ++score.logs;
    add_pairs(log, Against::kSimulation, simulation);
    add_pairs(log, Against::kFormula, formula);
  }
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    score.simulation[band] = error_statistics(simulation[band]);
    score.formula[band] = error_statistics(formula[band]);
  }
  return score;
}

std::string heading(const ReplayedLog& log) {
  std::string constants = "profile " + log.profile;
  if (log.profile.empty())
    constants = "constants of the class " + log.kernels + (log.transport == "none" ? "" : ", " + log.transport);
  std::string text = fmt::format("{}: {} on {} ranks ({}), {}\n", log_name(log.file), log.operation, log.ranks,
                                 log.machine, constants);
  for (const std::string& note : log.notes) text += "  note: " + note + "\n";
  return text;
}

std::string bus_bandwidth(const ReplayedLog& log, const ReplayedRow& row, Duration time) {
  const auto operation = configs::parse_operation(log.operation);
  const double factor = operation ? configs::bus_factor(*operation, log.ranks) : 1.0;
  return fmt::format("{:.2f}", per_second(row.size, time).count() / 1e9 * factor);
}

std::string rows_text(const ReplayedLog& log) {
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kLeft, Align::kLeft, Align::kRight});
  table.add_row({"size", "measured us", "simulated us", "error", "busbw GB/s", "simulated", "formula us", "error",
                 "algorithm", "protocol", "channels"});
  for (const ReplayedRow& row : log.rows) {
    table.add_row({fmt::format("{}", row.size.count()), microseconds(row.measured), microseconds(row.simulated),
                   difference(row.simulated, row.measured), bus_bandwidth(log, row, row.measured),
                   bus_bandwidth(log, row, row.simulated), row.formula ? microseconds(*row.formula) : "-",
                   row.formula ? difference(*row.formula, row.measured) : "-",
                   row.algorithm.empty() ? "-" : row.algorithm, row.protocol.empty() ? "-" : row.protocol,
                   row.channels > 0 ? fmt::format("{}", row.channels) : "-"});
  }
  std::string text = heading(log);
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text + "\n";
}

std::vector<std::string> band_cells(const PlatformScore& score) {
  std::vector<std::string> cells = {score.platform, fmt::format("{}", score.logs)};
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    cells.push_back(error_cell(score.simulation[band]));
    cells.push_back(error_cell(score.formula[band]));
  }
  return cells;
}

std::string summary_text(const CollectiveTables& tables) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  table.add_row({"", "", "< 64 KiB", "", "to 64 MiB", "", "above", ""});
  table.add_row({"platform", "logs", "ours", "formula", "ours", "formula", "ours", "formula"});
  for (const PlatformScore& score : score_platforms(tables.logs)) table.add_row(band_cells(score));
  for (const LogRole role : kRoles) {
    if (const PlatformScore score = score_role(tables.logs, role); score.logs > 0) table.add_row(band_cells(score));
  }
  table.add_row(band_cells(score_all(tables.logs)));
  std::string text = "Geometric mean of the absolute error, by size; ours: simulated, formula: NCCL's own cost model\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string verdict_text(const CollectiveTables& tables) {
  const PlatformScore all = score_all(tables.logs);
  std::vector<std::string> parts;
  for (const SizeBand band : kBands) {
    const auto index = static_cast<std::size_t>(band);
    const ErrorStatistics& errors = all.simulation[index];
    if (errors.count == 0) continue;
    parts.push_back(fmt::format("{} {:.1f} % of {:.4g} %", to_string(band), 100.0 * errors.geometric_mean_abs,
                                100.0 * tables.limits[index]));
  }
  return fmt::format("{}: {}\n", within(all.simulation, tables.limits) ? "passed" : "FAILED", fmt::join(parts, ", "));
}

std::string json_of(const ErrorStatistics& errors) {
  return fmt::format("{{\"rows\": {}, \"geometric_mean_abs\": {:.6g}, \"mean\": {:.6g}, \"max_abs\": {:.6g}}}",
                     errors.count, errors.geometric_mean_abs, errors.mean_error, errors.max_abs);
}

std::string json_of(const PlatformScore& score) {
  std::vector<std::string> bands;
  for (const SizeBand band : kBands) {
    const auto index = static_cast<std::size_t>(band);
    bands.push_back(fmt::format("{}: {{\"simulated\": {}, \"formula\": {}}}", json_text(to_string(band)),
                                json_of(score.simulation[index]), json_of(score.formula[index])));
  }
  return fmt::format("    {{\"platform\": {}, \"logs\": {}, \"bands\": {{{}}}}}", json_text(score.platform), score.logs,
                     fmt::join(bands, ", "));
}

std::string json_of(const ReplayedRow& row) {
  const std::string formula = row.formula ? fmt::format("{:.6g}", to_seconds(*row.formula) * 1e6) : "null";
  return fmt::format("      {{\"size\": {}, \"measured_us\": {:.6g}, \"simulated_us\": {:.6g}, \"formula_us\": {}, "
                     "\"algorithm\": {}, \"protocol\": {}, \"channels\": {}}}",
                     row.size.count(), to_seconds(row.measured) * 1e6, to_seconds(row.simulated) * 1e6, formula,
                     json_text(row.algorithm), json_text(row.protocol), row.channels);
}

std::string json_of(const ReplayedLog& log) {
  std::vector<std::string> rows;
  for (const ReplayedRow& row : log.rows) rows.push_back(json_of(row));
  return fmt::format(
      "    {{\"log\": {}, \"operation\": {}, \"ranks\": {}, \"machine\": {}, \"of\": {}, \"kernels\": {}, "
      "\"transport\": {}, "
      "\"profile\": {}, "
      "\"role\": {}, \"rows\": [\n{}\n    ]}}",
      json_text(log_name(log.file)), json_text(log.operation), log.ranks, json_text(log.machine), json_text(log.listed),
      json_text(log.kernels), json_text(log.transport), json_text(log.profile), json_text(to_string(log.role)),
      fmt::join(rows, ",\n"));
}

std::string markdown_row(const PlatformScore& calibrated, const PlatformScore* plain) {
  std::string row = fmt::format("| {} | {} |", calibrated.platform, calibrated.logs);
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    row += fmt::format(" {} | {} | {} |", plain == nullptr ? "-" : error_cell(plain->simulation[band]),
                       error_cell(calibrated.simulation[band]), error_cell(calibrated.formula[band]));
  }
  return row + "\n";
}

std::string markdown_heading() {
  return "| platform | logs | < 64 KiB: class | calibrated | formula | to 64 MiB: class | calibrated | formula | "
         "above: class "
         "| calibrated | formula |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
}

// Of the same logs without profiles: those of the same role.
std::string markdown_totals(const CollectiveTables& tables) {
  std::string lines;
  std::vector<ReplayedLog> plain;
  if (tables.uncalibrated != nullptr) plain = *tables.uncalibrated;
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i].role = tables.logs[i].role;
  for (const LogRole role : kRoles) {
    const PlatformScore of_role = score_role(plain, role);
    lines += markdown_row(score_role(tables.logs, role), plain.empty() ? nullptr : &of_role);
  }
  const PlatformScore all = score_all(plain);
  return lines + markdown_row(score_all(tables.logs), plain.empty() ? nullptr : &all);
}

std::string markdown_logs(const CollectiveTables& tables) {
  std::string page =
      "## By log, calibrated\n\n| log | operation | machine | profile | role | < 64 KiB | to 64 MiB | above |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const ReplayedLog& log : tables.logs) {
    const PlatformScore score = score_all({log});
    page += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", log_name(log.file), log.operation, log.machine,
                        log.profile.empty() ? "-" : log.profile, to_string(log.role), error_cell(score.simulation[0]),
                        error_cell(score.simulation[1]), error_cell(score.simulation[2]));
  }
  return page;
}

}  // namespace

std::vector<PlatformScore> score_platforms(const std::vector<ReplayedLog>& logs) {
  std::vector<PlatformScore> scores;
  for (const ReplayedLog& log : logs) {
    if (std::ranges::find(scores, log.platform, &PlatformScore::platform) != scores.end()) continue;
    scores.push_back(
        score_of(logs, log.platform, [&](const ReplayedLog& other) { return other.platform == log.platform; }));
  }
  return scores;
}

PlatformScore score_role(const std::vector<ReplayedLog>& logs, LogRole role) {
  return score_of(logs, std::string(to_string(role)), [&](const ReplayedLog& log) { return log.role == role; });
}

PlatformScore score_all(const std::vector<ReplayedLog>& logs) {
  return score_of(logs, "all", [](const ReplayedLog&) { return true; });
}

bool within(const BandErrors& errors, const BandLimits& limits) {
  for (std::size_t band = 0; band < kSizeBands; ++band) {
    if (errors[band].count > 0 && errors[band].geometric_mean_abs > limits[band]) return false;
  }
  return true;
}

std::string collectives_text(const CollectiveTables& tables, RowsShown rows) {
  std::string text;
  if (rows == RowsShown::kAll) {
    for (const ReplayedLog& log : tables.logs) text += rows_text(log);
  }
  return text + summary_text(tables) + verdict_text(tables);
}

std::string collectives_json(const CollectiveTables& tables) {
  std::vector<std::string> platforms, logs;
  for (const PlatformScore& score : score_platforms(tables.logs)) platforms.push_back(json_of(score));
  for (const LogRole role : kRoles) platforms.push_back(json_of(score_role(tables.logs, role)));
  platforms.push_back(json_of(score_all(tables.logs)));
  for (const ReplayedLog& log : tables.logs) logs.push_back(json_of(log));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.validate.nccl/1\",\n  \"passed\": {},\n  \"platforms\": [\n{}\n  ],\n"
      "  \"logs\": [\n{}\n  ]\n}}\n",
      within(score_all(tables.logs).simulation, tables.limits), fmt::join(platforms, ",\n"), fmt::join(logs, ",\n"));
}

std::string collectives_markdown(const CollectiveTables& tables) {
  std::string page =
      "# Measured and simulated collectives\n\n"
      "Geometric mean of the absolute error of times, by platform and size. *Class*: the constants of "
      "the\n"
      "hardware's class. *Calibrated*: the profile of the machine, where one is shipped. *Formula*: the estimate "
      "of NCCL's own\n"
      "cost model for the algorithm that it chooses. Made by `ringwright validate nccl --markdown "
      "docs/validation-collectives.md`;\n"
      "the logs, with their sources, are in `validation/nccl`, the machines and what they are fitted on in\n"
      "`validation/machines.csv`.\n\n"
      "Logs are *fitted* when their machine's profile was made from them, *predicted* when it was made from other logs "
      "of the\n"
      "same machine, of the fewest hosts; for the rest there is no profile.\n\n" +
      markdown_heading();
  const auto plain =
      tables.uncalibrated == nullptr ? std::vector<PlatformScore>() : score_platforms(*tables.uncalibrated);
  for (const PlatformScore& score : score_platforms(tables.logs)) {
    const auto same = std::ranges::find(plain, score.platform, &PlatformScore::platform);
    page += markdown_row(score, same == plain.end() ? nullptr : &*same);
  }
  return page + "\n## All of them\n\n" + markdown_heading() + markdown_totals(tables) + "\n" + markdown_logs(tables);
}

}  // namespace ringwright::validation
