// The training step of the peers' flow cases as a task graph: 1F1B over pipeline stages, activations and gradients sent
// asynchronously, then a ring all-reduce over the data-parallel group. Rank = tp + 8 * (dp + DP * pp).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/plan/task_graph.h"
#include "tests/support/job_builder.h"

namespace ringwright::test {

struct ReferenceStep {
  int stages = 4;
  int replicas = 16;  // DP
  int microbatches = 8;
  Bytes activation;
  Bytes gradient;
  Duration forward;
  Duration backward;
  static constexpr int kTensorRanks = 8;

  [[nodiscard]] int ranks() const { return kTensorRanks * replicas * stages; }
};

inline constexpr std::uint8_t kForwardChannel = 0;
inline constexpr std::uint8_t kBackwardChannel = 1;

inline void add_reference_stage(TaskGraph& graph, const ReferenceStep& step, int stage) {
  const DimensionId dp(0);
  const DimensionId pp(1);
  ProgramBuilder program(graph, "stage " + std::to_string(stage));
  std::uint32_t last = 0;
  const auto forward = [&] {
    std::vector<std::uint32_t> after;
    const MessageSpec message{.peer = stage - 1, .bytes = step.activation, .channel = kForwardChannel};
    if (stage > 0) after.push_back(program.receive(pp, message));
    last = program.compute(step.forward, after);
    const MessageSpec out{.peer = stage + 1, .bytes = step.activation, .channel = kForwardChannel};
    if (stage + 1 < step.stages) program.send(pp, out, kNoStream, {last});
  };
  const auto backward = [&] {
    std::vector<std::uint32_t> after;
    const MessageSpec message{.peer = stage + 1, .bytes = step.activation, .channel = kBackwardChannel};
    if (stage + 1 < step.stages) after.push_back(program.receive(pp, message));
    last = program.compute(step.backward, after);
    const MessageSpec out{.peer = stage - 1, .bytes = step.activation, .channel = kBackwardChannel};
    if (stage > 0) program.send(pp, out, kNoStream, {last});
  };
  const int warmup = std::min(step.microbatches, step.stages - stage - 1);
  for (int m = 0; m < warmup; ++m) forward();
  for (int m = warmup; m < step.microbatches; ++m) {
    forward();
    backward();
  }
  for (int m = 0; m < warmup; ++m) backward();
  program.collective(dp, CollectiveKind::kAllReduce, step.gradient, 1, {last});
  std::vector<int> ranks;
  const int per_stage = ReferenceStep::kTensorRanks * step.replicas;
  for (int r = 0; r < per_stage; ++r) ranks.push_back(stage * per_stage + r);
  program.run_on(ranks);
}

inline TaskGraph make_reference_step(const ReferenceStep& step) {
  TaskGraph graph;
  std::vector<std::vector<int>> replicas;
  std::vector<std::vector<int>> pipelines(static_cast<std::size_t>(ReferenceStep::kTensorRanks * step.replicas));
  for (int stage = 0; stage < step.stages; ++stage) {
    for (int tensor = 0; tensor < ReferenceStep::kTensorRanks; ++tensor) {
      replicas.emplace_back();
      for (int replica = 0; replica < step.replicas; ++replica) {
        const int rank = tensor + ReferenceStep::kTensorRanks * (replica + step.replicas * stage);
        replicas.back().push_back(rank);
        pipelines[static_cast<std::size_t>(tensor + ReferenceStep::kTensorRanks * replica)].push_back(rank);
      }
    }
  }
  add_dimension(graph, "dp", replicas);
  add_dimension(graph, "pp", pipelines);
  for (int stage = 0; stage < step.stages; ++stage) add_reference_stage(graph, step, stage);
  place_ranks(graph, 8);
  return graph;
}

}  // namespace ringwright::test
