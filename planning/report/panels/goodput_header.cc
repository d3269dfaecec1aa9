// The head of a goodput study: how much of the time becomes progress, and what costs most of the rest.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/operation_accounts.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

void add_losses(const JsonValue& chosen, ReportSection& section) {
  const std::vector<AccountTime> times = account_times(chosen["seconds"]);
  double wall = 0.0;
  const AccountTime* largest = nullptr;
  for (const AccountTime& time : times) {
    wall += time.seconds;
    if (!time.is_productive && (largest == nullptr || time.seconds > largest->seconds)) largest = &time;
  }
  if (largest == nullptr || largest->seconds <= 0.0) return;
  section.sentences.push_back(fmt::format("The largest loss is {}: {} of {} in the mean, {}.", largest->name,
                                          long_time_text(largest->seconds), long_time_text(wall),
                                          percent_text(largest->seconds / wall)));
}

void add_best_policy(const std::vector<JsonValue>& policies, ReportSection& section) {
  const JsonValue& chosen = policies.front();
  const JsonValue* best = &chosen;
  for (const JsonValue& policy : policies) {
    if (policy["ettr"]["mean"].number().value_or(0.0) > (*best)["ettr"]["mean"].number().value_or(0.0)) best = &policy;
  }
  if (best == &chosen) return;
  section.sentences.push_back(fmt::format("Of the policies compared, '{}' gets most out of the time: {} instead of {}.",
                                          (*best)["policy"].text(),
                                          percent_text((*best)["ettr"]["mean"].number_or_unknown()),
                                          percent_text(chosen["ettr"]["mean"].number_or_unknown())));
}

}  // namespace

ReportSection goodput_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  const JsonValue& chosen = study["policies"].list().empty() ? study["none"] : study["policies"].list().front();
  const double gpus = study["job"]["gpus"].number().value_or(0.0);
  const double lives = chosen["lives"].number().value_or(0.0);
  ReportSection section{.title = study["name"].text(),
                        .subtitle = fmt::format("Goodput of {} GPUs with the policy '{}', {} repetitions",
                                                count_text(gpus), chosen["policy"].text(), count_text(lives)),
                        .fingerprint = study["config"]["sha256"].text()};
  if (chosen["status"].text() != "ok") {
    if (!chosen["reason"].text().empty()) section.sentences.push_back("Refused: " + chosen["reason"].text());
    return section;
  }
  section.figures.push_back(
      {.name = "Productive time",
       .value = percent_text(chosen["ettr"]["mean"].number_or_unknown()),
       .remark = fmt::format("{} to {} over the repetitions", percent_text(chosen["ettr"]["least"].number_or_unknown()),
                             percent_text(chosen["ettr"]["most"].number_or_unknown()))});
  section.figures.push_back({.name = "Wall time",
                             .value = long_time_text(3600.0 * chosen["wall_hours"]["mean"].number_or_unknown()),
                             .remark = "of a repetition, mean"});
  section.figures.push_back({.name = "Faults",
                             .value = count_text(chosen["faults"]["mean"].number_or_unknown()),
                             .remark = "of a repetition, mean"});
  if (const double between = chosen["mtbf_hours"].number().value_or(0.0); between > 0.0) {
    section.figures.push_back(
        {.name = "Between faults", .value = long_time_text(3600.0 * between), .remark = "of wall time"});
  }
  if (const auto usd = chosen["usd_per_productive_gpu_hour"].number()) {
    section.figures.push_back({.name = "Price of a productive GPU hour", .value = fmt::format("{:.2f} USD", *usd)});
  }
  add_losses(chosen, section);
  add_best_policy(study["policies"].list(), section);
  if (const double unfinished = chosen["unfinished"].number().value_or(0.0); unfinished > 0.0) {
    section.sentences.push_back(
        fmt::format("{} of {} repetitions never end their work.", count_text(unfinished), count_text(lives)));
  }
  if (const double share = chosen["out_of_spares"].number().value_or(0.0); share > 0.0) {
    section.sentences.push_back(fmt::format("{} of the repetitions wait for a host.", percent_text(share)));
  }
  return section;
}

}  // namespace ringwright::planning
