// Plans of a pipeline whose stages may have different numbers of devices: PipeDream's and Alpa's dynamic programs.
//
// Over l layers in model order and d devices, where stage i has layers first .. last and m devices:
//
//   PipeDream (Harlap et al., arXiv 1806.03377; SOSP 2019, section 3.1). A stage of m replicas takes
//     T(i, j, m) = max(sum of t, 4 (m - 1) / m sum of w / B) / m
//   per minibatch, for t seconds and w bytes of weights of a layer, and B bytes per second between devices; a boundary
//   takes 2 a / B for a bytes of activations. The slowest of all bounds the rate:
//     A(j, m) = min(T(0, j, m), min over i, k of max(A(i, m - k), 2 a_i / B, T(i + 1, j, k)))
//   With r replicas of the first stage, ceil(d / r) minibatches are in flight per replica.
//
//   Alpa (Zheng et al., OSDI 2022, section 5.2). Stages s have times t_s on their submesh, and B microbatches take
//     sum of t_s + (B - 1) max of t_s
//   The program runs over all values that the maximum can have: for each the least sum with no stage above it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ringwright::planning {

struct PlannedStage {
  int first = 0;  // layer
  int last = 0;
  int devices = 1;
  double seconds = 0.0;  // of a microbatch

  friend bool operator==(const PlannedStage&, const PlannedStage&) = default;
};

struct StagePlan {
  std::vector<PlannedStage> stages;
  double seconds = 0.0;  // PipeDream: between two minibatches; Alpa: of a step
};

struct PlannedLayer {
  double seconds = 0.0;     // forward and backward on one device
  double weights = 0.0;     // bytes
  double activation = 0.0;  // bytes of its output
};

// Every device is used. `bandwidth`: bytes per second.
[[nodiscard]] StagePlan pipedream_plan(std::span<const PlannedLayer> layers, int devices, double bandwidth);
[[nodiscard]] int pipedream_in_flight(const StagePlan& plan, int devices);

// Seconds of layers first .. last on a submesh of so many devices; empty where they do not fit.
using StageCost = std::function<std::optional<double>(int first, int last, int devices)>;
struct AlpaProblem {
  int layers = 1;
  int devices = 1;
  std::vector<int> submeshes;  // sizes that a stage may have
  std::int64_t microbatches = 1;
};
// Every device is used. Empty where no plan fits.
[[nodiscard]] std::optional<StagePlan> alpa_plan(const AlpaProblem& problem, const StageCost& cost);

}  // namespace ringwright::planning
