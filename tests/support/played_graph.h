// Simulates a small task graph with one class per rank on wires of 1 us and 1 GB/s: a message of 1000 bytes takes 2 us.
#pragma once

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/plan/rank_classes.h"
#include "core/run/step/executor.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::test {

// The defaults: a ring, kernels that take as many picoseconds as they have FLOPs, messages, no footprint.
struct PlayParts {
  const ComputeModel* compute = nullptr;
  const CollectiveAlgorithm* algorithm = nullptr;
  const CollectiveTime* times = nullptr;
  const CommunicationFootprint* footprint = nullptr;
  StepCosts step_costs = {};
  const CallOverhead* overhead = nullptr;
  MemberProgress progress = MemberProgress::kEach;
};

[[nodiscard]] inline RunResult play_on_wires(TaskGraph& graph, const PlayParts& parts = {},
                                             const ExecutorOptions& options = {}) {
  using namespace ringwright::literals;
  static const PlainRing kRing;
  static const PlainCompute kCompute;
  place_ranks(graph, 1);
  EXPECT_EQ(check_task_graph(graph), "");
  Engine engine;
  WireNetwork network(engine, 1_us, 1_GBps);
  const AlwaysChoose chooser(parts.algorithm != nullptr ? *parts.algorithm : kRing);
  const RankClasses classes = identity_classes(graph.rank_count());
  return execute({.engine = engine, .graph = graph, .classes = classes, .network = network, .chooser = chooser,
                  .compute = parts.compute != nullptr ? *parts.compute : kCompute, .collective_time = parts.times,
                  .step_costs = parts.step_costs, .progress = parts.progress, .call_overhead = parts.overhead,
                  .footprint = parts.footprint},
                 options);
}

// A group of one call, on stream 1, that one member joins late. Returns its dimension, the first of the graph.
struct LateMember {
  CollectiveSpec call;
  std::vector<int> early;
  int late = 0;
  Duration by;
};
inline DimensionId add_late_member(TaskGraph& graph, const LateMember& group) {
  constexpr StreamIndex kCommStream = 1;
  std::vector<int> all = group.early;
  all.push_back(group.late);
  std::ranges::sort(all);
  const DimensionId dimension = add_dimension(graph, "tp", {all});
  ProgramBuilder early(graph, "early");
  early.collective(dimension, group.call.kind, group.call.bytes, kCommStream);
  early.run_on(group.early);
  ProgramBuilder late(graph, "late");
  const auto before = late.compute(group.by);
  late.collective(dimension, group.call.kind, group.call.bytes, kCommStream, {before});
  late.run_on({group.late});
  return dimension;
}

}  // namespace ringwright::test
