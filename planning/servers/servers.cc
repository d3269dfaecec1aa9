#include "planning/servers/servers.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/config/key_effect.h"

namespace ringwright::planning {
namespace {

using workload::LayeredLayout;
using workload::ServerUpdates;

std::string mode_name(const configs::ServerMode& mode) {
  switch (mode.updates) {
    case ServerUpdates::kSync: return "sync";
    case ServerUpdates::kAsync: return "async";
    case ServerUpdates::kStaleSync: return fmt::format("ssp {}", mode.staleness);
  }
  return {};
}

// Of a worker's step.
double samples_of(const configs::Scenario& scenario) {
  const configs::LayeredJob& job = *scenario.job.layered;
  return static_cast<double>(job.model.global_batch) * static_cast<double>(job.layout.host_ranks) /
         static_cast<double>(job.layout.workers());
}

ServersRow row_of(const configs::Scenario& scenario, const configs::ServerMode& mode, const ServerRunResult& run) {
  ServersRow row{.updates = mode_name(mode)};
  const double speed = run.steps_per_second();
  const auto workers = static_cast<double>(run.workers.size());
  row.samples_per_second = speed * samples_of(scenario);
  row.step = speed > 0.0 ? from_seconds(workers / speed) : Duration(0);
  row.mean_staleness = run.mean_staleness();
  row.most_staleness = run.staleness.empty() ? 0 : run.staleness.size() - 1;
  double least = run.workers.front().steps_per_second(run.counted), most = 0.0;
  const double seconds = to_seconds(run.counted) * workers;
  for (const WorkerFigures& worker : run.workers) {
    least = std::min(least, worker.steps_per_second(run.counted));
    most = std::max(most, worker.steps_per_second(run.counted));
    row.waiting += to_seconds(worker.waiting) / seconds;
    row.exchanging += to_seconds(worker.exchanging) / seconds;
  }
  row.slowest_share = most > 0.0 ? least / most : 0.0;
  for (const ServerFigures& server : run.servers) {
    row.server_busy = std::max(row.server_busy, server.busy);
    row.longest_queue = std::max(row.longest_queue, server.longest_queue);
  }
  return row;
}

double slowest_worker(const configs::Scenario& scenario, std::int64_t workers) {
  double slowest = 1.0;
  const std::vector<double>& of_host = scenario.faults.slowdown_of_host;
  for (std::size_t host = 0; host < of_host.size() && host < static_cast<std::size_t>(workers); ++host) {
    slowest = std::max(slowest, of_host[host]);
  }
  return slowest;
}

// Workers have no common step in which a fault or other traffic could begin.
Diagnostics check_disturbances(const configs::Scenario& scenario) {
  Diagnostics problems;
  for (const configs::OrderedFault& fault : scenario.faults.ordered) {
    if (!fault.of_link) continue;
    problems.add({.code = "E549",
                  .place = fault.place,
                  .message = fault.path + ": faults of links are not simulated for workers at their own pace",
                  .hint = "leave it out; slow hosts (compute_scale) are simulated"});
  }
  if (!scenario.background.transfers.empty()) {
    problems.add({.code = "E549",
                  .place = {.file = scenario.simulate.steps_at.file},
                  .message = "background: traffic of others is not simulated for workers at their own pace",
                  .hint = "leave it out"});
  }
  return problems;
}

// Of a block that `run` simulates, and this study does not.
Diagnostic unused(const configs::Scenario& scenario, std::string_view block, std::string_view why) {
  const std::vector<ValueRead>& values = scenario.document.log().values();
  const auto given = std::ranges::find_if(values, [block](const ValueRead& value) {
    return value.path.starts_with(fmt::format("{}.", block)) && is_given(value);
  });
  return {.severity = Severity::kWarning,
          .code = "W131",
          .place = {.file = given != values.end() ? given->origin : scenario.simulate.steps_at.file},
          .message = fmt::format("{} has no effect: {}", block, why)};
}

}  // namespace

Diagnostics server_warnings(const configs::Scenario& scenario) {
  constexpr std::string_view kUsedHere = "layer_table.parameter_server.";
  Diagnostics warnings;
  const Diagnostics all = warnings_of(scenario);
  for (const Diagnostic& warning : all.all()) {
    if (warning.code != "W131" || !warning.message.starts_with(kUsedHere)) warnings.add(warning);
  }
  if (scenario.data_pipeline) {
    warnings.add(unused(scenario, "data_pipeline", "the data of workers at their own pace are always ready"));
  }
  if (scenario.checkpoint) {
    warnings.add(unused(scenario, "checkpoint", "workers at their own pace have no common step to save"));
  }
  return warnings;
}

Result<ServersResult> study_servers(const configs::Scenario& scenario) {
  const Place at{.file = scenario.simulate.steps_at.file};
  if (Diagnostics problems = check_disturbances(scenario); problems.has_errors()) {
    return tl::unexpected(std::move(problems));
  }
  if (!scenario.job.layered || scenario.job.layered->layout.servers.count == 0) {
    return tl::unexpected(failure("E549", "the scenario has no parameter servers", at,
                                  "layer_table: {preset: vgg16, parameter_server: {servers: 2, updates: async}}"));
  }
  const LayeredLayout& layout = scenario.job.layered->layout;
  auto worker = configs::worker_step(scenario);
  if (!worker) return tl::unexpected(std::move(worker.error()));
  ServersResult result{.scenario = scenario.name,
                       .workers = layout.workers() / layout.host_ranks,
                       .servers = layout.servers.count,
                       .computing = worker->step};
  configs::WorkerStep slowest = *worker;
  const double slow = slowest_worker(scenario, result.workers);
  slowest.step = scale(slowest.step, slow);
  for (ServerBucket& bucket : slowest.buckets) bucket.ready = scale(bucket.ready, slow);
  result.ring = configs::ring_step(scenario, slowest);
  result.ring_samples_per_second = static_cast<double>(result.workers) * samples_of(scenario) / to_seconds(result.ring);
  const std::array<configs::ServerMode, 3> modes{
      {{.updates = ServerUpdates::kSync},
       {.updates = ServerUpdates::kStaleSync, .staleness = layout.service.staleness},
       {.updates = ServerUpdates::kAsync}}};
  for (const configs::ServerMode& mode : modes) {
    const auto run = configs::run_parameter_servers(scenario, *worker, mode);
    if (!run) return tl::unexpected(run.error());
    result.rows.push_back(row_of(scenario, mode, *run));
  }
  return result;
}

}  // namespace ringwright::planning
