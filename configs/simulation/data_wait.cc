#include "configs/simulation/data_wait.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ringwright::configs {

namespace {

// Of the counted iterations.
Duration mean_step(const std::vector<TimePoint>& ends, std::size_t warmup) {
  if (ends.size() <= warmup) return {};
  const TimePoint begin = warmup > 0 ? ends[warmup - 1] : TimePoint();
  return (ends.back() - begin) / static_cast<std::int64_t>(ends.size() - warmup);
}

}  // namespace

std::optional<DataFacts> wait_for_data(const Scenario& scenario, std::vector<TimePoint>& iteration_end) {
  if (!scenario.data_pipeline) return std::nullopt;
  const std::int64_t hosts = training_hosts(scenario);
  const std::int64_t samples = samples_per_step(scenario);
  const auto warmup = static_cast<std::size_t>(scenario.simulate.warmup);
  const Duration step = mean_step(iteration_end, warmup);
  const double slower = scenario.data_pipeline->mean_factor();
  const double needed = step > Duration() ? static_cast<double>(samples) / to_seconds(step) * slower : 0.0;
  const workload::DataPipeline pipeline = with_elastic_workers(*scenario.data_pipeline, hosts, needed);
  const workload::InputRate rate = input_rate(pipeline, hosts);
  DataFacts facts{.samples_per_second = rate.samples_per_second / slower,
                  .limit = std::string(to_string(rate.limit)),
                  .samples = samples,
                  .batch = batch_time(pipeline, hosts, samples),
                  .stall = {},
                  .remote_workers = pipeline.remote_workers,
                  .elastic_workers = pipeline.remote_workers - scenario.data_pipeline->remote_workers};
  // Batches that differ from step to step: the mean of many steps, since few are simulated.
  const bool varies = pipeline.slow_every > 0;
  const Duration wait = varies ? mean_wait(pipeline, facts.batch, step) : Duration();
  Duration waited;
  Duration counted;
  TimePoint before;
  for (std::size_t i = 0; i < iteration_end.size(); ++i) {
    const Duration stall = varies ? wait : std::max(facts.batch - (iteration_end[i] - before), Duration());
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
