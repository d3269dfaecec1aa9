#include "core/report/pipeline_bubble.h"

#include <fmt/format.h>

namespace ringwright {

double StageBubble::of_step() const {
  return total > Duration() ? ratio(bubble, total) : 0.0;
}

double StageBubble::of_ideal() const {
  return total > bubble ? ratio(bubble, total - bubble) : 0.0;
}

std::vector<StageBubble> stage_bubbles(const std::vector<TimeBreakdown>& stages, const std::vector<int>& held_at_peak,
                                       const std::vector<int>& weight_versions) {
  std::vector<StageBubble> bubbles;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Duration bubble = stages[i].idle;
    for (const DimensionTime& dimension : stages[i].dimensions) {
      if (dimension.joins_stages) bubble += dimension.exposed;
    }
    bubbles.push_back({.stage = stages[i].of,
                       .bubble = bubble,
                       .total = stages[i].total,
                       .held_at_peak = i < held_at_peak.size() ? held_at_peak[i] : 0,
                       .weight_versions = i < weight_versions.size() ? weight_versions[i] : 1});
  }
  return bubbles;
}

std::vector<std::string> bubble_lines(const std::vector<StageBubble>& bubbles) {
  std::vector<std::string> lines;
  for (const StageBubble& stage : bubbles) {
    lines.push_back(fmt::format("{:<10} {:>5.1f} % of the step, {:>5.1f} % of the ideal, {} microbatches held",
                                stage.stage, 100.0 * stage.of_step(), 100.0 * stage.of_ideal(), stage.held_at_peak));
    if (stage.weight_versions > 1) lines.back() += fmt::format(", {} versions of the weights", stage.weight_versions);
  }
  return lines;
}

}  // namespace ringwright
