#include "core/report/cost_lines.h"

namespace ringwright {

std::vector<std::string> cost_lines(const Report& report) {
  std::vector<std::string> lines;
  const std::optional<CostRates>& rates = report.facts.cost_rates;
  if (rates) lines.push_back("Cost         " + to_string(cost_of(report), report.facts.processed));
  const std::optional<CheckpointFacts>& checkpoint = report.facts.checkpoint;
  if (rates && checkpoint && checkpoint->every > 0) lines.back() += ", of the mean step between checkpoints";
  if (rates && rates->network) lines.push_back("Network      " + to_string(*rates->network));
  return lines;
}

}  // namespace ringwright
