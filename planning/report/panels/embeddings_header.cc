// The head of a study of embedding tables: their size, the best way to save them, and what recovery costs.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

double known(const JsonValue& value) {
  return value.number().value_or(0.0);
}

void add_cache(const JsonValue& study, ReportSection& section) {
  const std::vector<JsonValue>& caches = study["caches"].list();
  if (caches.empty()) return;
  const JsonValue& row = caches.front();
  section.sentences.push_back(fmt::format(
      "The most popular {} of the rows meet {} of the lookups; {} of a step's lookups are of distinct rows.",
      percent_text(row["rows"].number_or_unknown()), percent_text(row["hits"].number_or_unknown()),
      percent_text(study["unique_rows"].number_or_unknown())));
}

void add_checkpoints(const JsonValue& study, ReportSection& section) {
  const std::vector<JsonValue>& policies = study["checkpoints"].list();
  if (policies.empty()) return;
  const JsonValue& least =
      *std::ranges::min_element(policies, {}, [](const JsonValue& row) { return known(row["mean_bytes"]); });
  section.figures.push_back({.name = "A checkpoint",
                             .value = bytes_text(least["mean_bytes"].number_or_unknown()),
                             .remark = fmt::format("{}: {:.1f}x less than all rows in fp32, {:.1f}x less to keep",
                                                   least["policy"].text(), least["less_written"].number_or_unknown(),
                                                   least["less_kept"].number_or_unknown())});
}

void add_recovery(const JsonValue& study, ReportSection& section) {
  const std::vector<JsonValue>& kinds = study["recoveries"].list();
  if (kinds.empty()) return;
  const JsonValue& least =
      *std::ranges::min_element(kinds, {}, [](const JsonValue& row) { return known(row["overhead"]); });
  section.figures.push_back(
      {.name = "Saving and recovery",
       .value = percent_text(least["overhead"].number_or_unknown()),
       .remark = fmt::format("of the time, with {} recovery and {} of the samples lost", least["kind"].text(),
                             percent_text(least["pls"].number_or_unknown()))});
}

}  // namespace

ReportSection embeddings_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  ReportSection section{.title = study["scenario"].text(),
                        .subtitle = "Caches, checkpoints and recovery of embedding tables"};
  section.figures.push_back({.name = "Tables",
                             .value = bytes_text(study["table_bytes"].number_or_unknown()),
                             .remark = "weights and the optimizer's state"});
  section.figures.push_back({.name = "Step", .value = seconds_text(study["step_ps"].number_or_unknown() * 1e-12)});
  add_checkpoints(study, section);
  add_recovery(study, section);
  add_cache(study, section);
  const JsonValue& code = study["erasure_code"];
  if (!code["memory_overhead"].number()) return section;
  section.sentences.push_back(fmt::format(
      "An erasure code takes {} more memory, sends {} more in a step, and makes a lost server's tables anew in {}.",
      percent_text(known(code["memory_overhead"])), bytes_text(code["parity_bytes"].number_or_unknown()),
      long_time_text(code["rebuild_ps"].number_or_unknown() * 1e-12)));
  return section;
}

}  // namespace ringwright::planning
