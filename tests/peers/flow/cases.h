// The cases of the peers' tables (simgrid-scenarios.csv, training-step-cases.csv) as shapes that can be simulated.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/peers/flow/csv_table.h"
#include "tests/peers/flow/play.h"

namespace ringwright::peers {

// One row of simgrid-scenarios.csv.
struct TrafficCase {
  std::string workload;  // "ring", "a2a" (all at once), "a2abar" (with barriers), "a2ashift" (free-running), "perm"
  FabricShape fabric;
  Bytes bytes;
  std::uint32_t count = 0;  // steps, shifts, or permutations
  bool chaotic = false;     // the smallest difference in one time changes all later ones
};

// One row of training-step-cases.csv.
struct StepCase {
  std::string rule;  // as in the table: "dmodk", "node-mod", "hash"
  FabricShape fabric;
  StepShape step;
};

[[nodiscard]] inline TrafficCase traffic_case(const CsvTable& rows, std::size_t row) {
  return {.workload = rows.text(row, "workload"),
          .fabric = {.gpus = rows.count(row, "gpus"),
                     .hosts_per_pod = rows.count(row, "nodes_per_pod_P"),
                     .uplinks = rows.count(row, "leaf_uplinks_U"),
                     .pods_per_superpod = rows.count(row, "pods_per_superpod_SP"),
                     .core_uplinks = rows.count(row, "agg_uplinks_V")},
          .bytes = Bytes(static_cast<std::int64_t>(rows.count(row, "bytes_param"))),
          .count = rows.count(row, "K"),
          .chaotic = rows.text(row, "chaotic") == "yes"};
}

[[nodiscard]] inline RouteRule route_rule(const std::string& name) {
  if (name == "dmodk") return RouteRule::kDModK;
  return name == "node-mod" ? RouteRule::kNodeMod : RouteRule::kHash;
}

[[nodiscard]] inline StepCase step_case(const CsvTable& rows, std::size_t row) {
  const std::string rule = rows.text(row, "route_rule");
  return {.rule = rule,
          .fabric = {.gpus = rows.count(row, "gpus"),
                     .hosts_per_pod = rows.count(row, "P"),
                     .uplinks = rows.count(row, "U"),
                     .pods_per_superpod = rows.count(row, "SP"),
                     .core_uplinks = rows.count(row, "V"),
                     .rule = route_rule(rule)},
          .step = {.stages = rows.count(row, "PP"),
                   .replicas = rows.count(row, "DP"),
                   .microbatches = rows.count(row, "microbatches"),
                   .activations = Bytes(rows.count(row, "act_B_per_gpu_per_mb")),
                   .gradients = Bytes(std::llround(rows.number(row, "grad_B_per_gpu"))),
                   .forward = from_seconds(rows.number(row, "t_fwd_s")),
                   .backward = from_seconds(rows.number(row, "t_bwd_s"))}};
}

// "ring/256", "step/16384/dmodk": names in benchmarks and reports.
[[nodiscard]] inline std::string name_of(const TrafficCase& traffic) {
  return traffic.workload + "/" + std::to_string(traffic.fabric.gpus);
}
[[nodiscard]] inline std::string name_of(const StepCase& step) {
  return "step/" + std::to_string(step.fabric.gpus) + "/" + step.rule;
}

[[nodiscard]] inline Played play(const TrafficCase& traffic, network_models::ModelOptions options = {}) {
  const Bytes bytes = traffic.bytes;
  const std::uint32_t count = traffic.count;
  if (traffic.workload == "ring") {
    return play(traffic.fabric, [=](const Stage& stage) { return Ring(stage, bytes, count); }, options);
  }
  if (traffic.workload == "a2a") {
    return play(traffic.fabric, [=](const Stage& stage) { return AllToAll(stage, bytes); }, options);
  }
  if (traffic.workload == "a2abar") {
    return play(traffic.fabric, [=](const Stage& stage) { return AllToAllWithBarrier(stage, bytes, count); }, options);
  }
  if (traffic.workload == "a2ashift") {
    return play(traffic.fabric, [=](const Stage& stage) { return AllToAllByShifts(stage, bytes, count); }, options);
  }
  CHECK(traffic.workload == "perm", "unknown workload: " + traffic.workload);
  return play(traffic.fabric, [=](const Stage& stage) { return Permutations(stage, count); }, options);
}

}  // namespace ringwright::peers
