#include "configs/simulation/checkpoint_facts.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "workload/checkpoint/save_time.h"

namespace ringwright::configs {
namespace {

// With transfers of the checkpoint in flight, in one step of the class that takes longest.
Duration longest_in_flight(const Simulation& simulation, const RunRecord& record, int counted) {
  const DimensionId dimension(simulation.plan().graph.dimensions.size() - 1);
  Duration longest;
  for (const ActivityTimes& times : record.time_in) {
    Duration in_flight;
    for (const ActivityTimes::Entry& entry : times.entries()) {
      if ((entry.mask & communicating(dimension)) != 0) in_flight += entry.time;
    }
    longest = std::max(longest, in_flight);
  }
  return longest / counted;
}

// Of all sockets of the host that has least; 0: not known.
Bytes host_memory(const Scenario& scenario) {
  const network_models::Host& first = scenario.cluster.host;
  Bytes least;
  for (std::size_t kind = 0; kind <= first.others.size(); ++kind) {
    const network_models::Host& host = first.kind(kind);
    const Bytes memory = host.memory.capacity * std::max(1, host.pcie.sockets);
    if (memory > Bytes(0) && (least == Bytes(0) || memory < least)) least = memory;
  }
  return least;
}

}  // namespace

std::optional<CheckpointFacts> checkpoint_facts(const Scenario& scenario, const Simulation& simulation,
                                                const RunRecord& record) {
  const std::vector<Dimension>& dimensions = simulation.plan().graph.dimensions;
  if (!scenario.checkpoint || dimensions.empty() || dimensions.back().name != workload::kCheckpointDimension) return {};
  const workload::CheckpointTraffic traffic = checkpoint_traffic(scenario);
  const Duration copying = longest_in_flight(simulation, record, scenario.simulate.steps);
  const bool peers = traffic.to == workload::CheckpointPlace::kPeerHost;
  return CheckpointFacts{.to = std::string(to_string(traffic.to)),
                         .mode = std::string(to_string(traffic.mode)),
                         .of_gpu = traffic.of_rank,
                         .total = checkpoint_size(scenario).total,
                         .to_peers = traffic.to_peers(),
                         .in_host_memory = traffic.of_rank * (traffic.host_ranks * (peers ? traffic.copies : 1)),
                         .host_memory = host_memory(scenario),
                         .copying = copying,
                         .takes = std::max(copying, traffic.write),
                         .stall = {},
                         .every = scenario.checkpoint->every};
}

void add_stall(const Report& without, Report& report) {
  CheckpointFacts& facts = *report.facts.checkpoint;
  facts.stall = report.step_time.mean - without.step_time.mean;
  if (facts.every > 0) {
    const Duration steps = without.step_time.mean * facts.every;
    const std::array levels = {facts.mode == "blocking" ? Duration() : facts.takes};
    const Duration period = workload::checkpoint_period({.steps = steps, .stall = *facts.stall, .levels = levels});
    facts.waits = period - (steps + *facts.stall);
    // Of very many steps the clock does not hold the period, and none waits.
    facts.mean_step =
        facts.waits > Duration() ? period / facts.every : without.step_time.mean + *facts.stall / facts.every;
  }
  if (facts.host_memory <= Bytes() || facts.in_host_memory <= facts.host_memory) return;
  report.facts.warnings.push_back(
      {.code = "W536",
       .where = "checkpoint.to",
       .text = fmt::format("one version takes {} of each host's memory, which has {}", to_string(facts.in_host_memory),
                           to_string(facts.host_memory))});
}

}  // namespace ringwright::configs
