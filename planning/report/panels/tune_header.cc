// The head of a tuning: how many calls another setting of NCCL makes faster, and the largest gain.
#include <cmath>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

ReportSection tune_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  ReportSection section{.title = study["machine"].text(),
                        .subtitle = fmt::format("NCCL's settings tuned for {} ranks on {} hosts",
                                                count_text(study["ranks"].number().value_or(0.0)),
                                                count_text(study["hosts"].number().value_or(0.0)))};
  double log_sum = 0.0, largest = 1.0, tried = 0.0;
  std::size_t faster = 0;
  std::string where;
  const std::vector<JsonValue>& calls = study["calls"].list();
  for (const JsonValue& call : calls) {
    const double gain = call["own_us"].number().value_or(1.0) / call["best_us"].number().value_or(1.0);
    log_sum += std::log(gain);
    tried += call["tried"].number().value_or(0.0);
    faster += gain > 1.0 ? 1U : 0U;
    if (gain <= largest) continue;
    largest = gain;
    where = call["operation"].text() + " of " + bytes_text(call["size"].number().value_or(0.0));
  }
  if (calls.empty()) {
    section.sentences.emplace_back("No size has an element for each rank.");
    return section;
  }
  section.figures.push_back({.name = "Calls that can be faster",
                             .value = count_text(static_cast<double>(faster)),
                             .remark = fmt::format("of {}", count_text(static_cast<double>(calls.size())))});
  section.figures.push_back({.name = "Largest gain", .value = fmt::format("{:.2f}x", largest), .remark = where});
  section.figures.push_back({.name = "Gain over all calls",
                             .value = fmt::format("{:.2f}x", std::exp(log_sum / static_cast<double>(calls.size()))),
                             .remark = "geometric mean"});
  section.figures.push_back({.name = "Settings simulated", .value = count_text(tried)});
  return section;
}

}  // namespace ringwright::planning
