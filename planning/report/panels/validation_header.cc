// The head of a validation: how many measurements, and how far the predictions are off.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/measured_pairs.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

ReportSection header_of_pairs(const ResultInput& input, std::string title, std::string subtitle) {
  ReportSection section{.title = std::move(title), .subtitle = std::move(subtitle)};
  const std::vector<SourceErrors> errors = errors_by_source(measured_pairs(input.json));
  if (errors.empty()) {
    section.sentences.emplace_back("No measurement was simulated.");
    return section;
  }
  const SourceErrors& all = errors.back();
  section.figures.push_back(
      {.name = "Measurements", .value = count_text(static_cast<double>(all.count)), .remark = {}});
  section.figures.push_back({.name = "Mean absolute error",
                             .value = percent_text(all.mean_absolute),
                             .remark = fmt::format("{:+.1f} % with sign", 100.0 * all.mean)});
  section.figures.push_back({.name = "Largest error", .value = percent_text(all.largest), .remark = {}});
  return section;
}

}  // namespace

ReportSection training_header(const ResultInput& input) {
  return header_of_pairs(input, "Training runs", "Measured training steps against predictions");
}

ReportSection nccl_header(const ResultInput& input) {
  return header_of_pairs(input, "Collectives", "Logs of nccl-tests against the same calls, simulated");
}

ReportSection calls_header(const ResultInput& input) {
  return header_of_pairs(input, "Recorded calls", "Calls of a recorded job against the same calls, simulated");
}

}  // namespace ringwright::planning
