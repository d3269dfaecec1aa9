#include "configs/simulation/data_wait.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ringwright::configs {

std::optional<DataFacts> wait_for_data(const Scenario& scenario, std::vector<TimePoint>& iteration_end) {
  if (!scenario.data_pipeline) return std::nullopt;
  const std::int64_t hosts = scenario.cluster.hosts;
  const workload::InputRate rate = input_rate(*scenario.data_pipeline, hosts);
  DataFacts facts{.samples_per_second = rate.samples_per_second,
                  .limit = std::string(to_string(rate.limit)),
                  .samples = samples_per_step(scenario),
                  .batch = batch_time(*scenario.data_pipeline, hosts, samples_per_step(scenario)),
                  .stall = {}};
  const auto warmup = static_cast<std::size_t>(scenario.simulate.warmup);
  Duration waited;
  Duration counted;
  TimePoint before;
  for (std::size_t i = 0; i < iteration_end.size(); ++i) {
    const Duration stall = std::max(facts.batch - (iteration_end[i] - before), Duration());
    before = iteration_end[i];
    waited += stall;
    if (i >= warmup) counted += stall;
    iteration_end[i] = before + waited;
  }
  // As the mean step time is rounded.
  const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(iteration_end.size() - warmup));
  facts.stall = Duration((counted.count() + steps / 2) / steps);
  return facts;
}

}  // namespace ringwright::configs
