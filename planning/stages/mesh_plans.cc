#include "planning/stages/mesh_plans.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "planning/stages/stage_plans.h"

namespace ringwright::planning {
namespace {

constexpr std::int64_t kMostClusters = 48;  // of layers
constexpr std::int64_t kMostUnits = 16;     // of ranks
constexpr std::int64_t kMostHeld = 16;      // microbatches

// Consecutive layers that stay together: the layers before the i-th cluster, and all.
std::vector<std::int64_t> cluster(std::int64_t layers) {
  const std::int64_t clusters = std::min(layers, kMostClusters);
  std::vector<std::int64_t> before;
  for (std::int64_t i = 0; i <= clusters; ++i) before.push_back(layers * i / clusters);
  return before;
}

// Ranks are given to stages in units of so many.
std::int64_t unit_of(std::int64_t ranks) {
  std::int64_t unit = 1;
  while (ranks % (2 * unit) == 0 && ranks / unit > kMostUnits) unit *= 2;
  return unit;
}

// How a stage uses its ranks.
struct Choice {
  std::int64_t tp = 1;
  double seconds = 0.0;
};

// With so many replicas of the widest stage, and microbatches that a stage holds.
class MeshProgram {
 public:
  MeshProgram(const MeshProblem& problem, const CostsOf& costs_of, std::int64_t replicas, std::int64_t held)
      : problem_(problem),
        costs_of_(costs_of),
        before_(cluster(problem.layers)),
        unit_(unit_of(problem.ranks)),
        replicas_(replicas),
        held_(held),
        sequences_(problem.micro_batch * replicas) {}

  [[nodiscard]] std::optional<MeshPlan> solve() {
    AlpaProblem alpa{.layers = static_cast<int>(before_.size()) - 1,
                     .devices = static_cast<int>(problem_.ranks / unit_),
                     .submeshes = {},
                     .microbatches = problem_.global_batch / sequences_};
    for (int size = 1; size <= alpa.devices; size *= 2) alpa.submeshes.push_back(size);
    if (alpa.submeshes.back() != alpa.devices) alpa.submeshes.push_back(alpa.devices);
    const auto plan = alpa_plan(alpa, [this](int first, int last, int devices) -> std::optional<double> {
      const std::optional<Choice> choice = choose(first, last, devices * unit_);
      return choice ? std::optional(choice->seconds) : std::nullopt;
    });
    if (!plan) return std::nullopt;
    MeshPlan meshes{.stages = {}, .seconds = plan->seconds};
    std::int64_t widest = 1;
    for (const PlannedStage& stage : plan->stages) {
      const std::int64_t ranks = stage.devices * unit_;
      const std::int64_t tp = choose(stage.first, stage.last, ranks)->tp;
      meshes.stages.push_back({.tp = static_cast<int>(tp),
                               .dp = static_cast<int>(ranks / tp),
                               .layers = layer_at(stage.last + 1) - layer_at(stage.first)});
      widest = std::max(widest, ranks / tp);
    }
    if (widest != replicas_) return std::nullopt;  // another problem's plan
    return meshes;
  }

 private:
  [[nodiscard]] std::int64_t layer_at(int number) const { return before_[static_cast<std::size_t>(number)]; }

  // The fastest use of so many ranks that fits.
  [[nodiscard]] std::optional<Choice> choose(int first, int last, std::int64_t ranks) {
    std::optional<Choice> best;
    for (const std::int64_t tp : problem_.tensor_sizes) {
      const std::int64_t dp = ranks / tp;
      if (ranks % tp != 0 || dp > replicas_ || replicas_ % dp != 0) continue;
      const MeshCosts* const of = costs_of_(tp, sequences_ / dp);
      if (of == nullptr || !fits(*of, layer_at(last + 1) - layer_at(first), dp)) continue;
      const double seconds = seconds_of(of->seconds, first, last);
      if (!best || seconds < best->seconds) best = Choice{.tp = tp, .seconds = seconds};
    }
    return best;
  }

  [[nodiscard]] bool fits(const MeshCosts& of, std::int64_t layers, std::int64_t dp) const {
    return (of.state + Bytes(of.shared_state.count() / dp) + of.activations * held_) * layers <= problem_.memory;
  }

  [[nodiscard]] double seconds_of(const workload::LayerCosts& seconds, int first, int last) const {
    const auto begin = seconds.layers.begin() + layer_at(first);
    const auto end = seconds.layers.begin() + layer_at(last + 1);
    const bool ends = layer_at(last + 1) == problem_.layers;
    return std::accumulate(begin, end, 0.0) + (first == 0 ? seconds.first : 0.0) + (ends ? seconds.last : 0.0);
  }

  const MeshProblem& problem_;
  const CostsOf& costs_of_;
  std::vector<std::int64_t> before_;
  std::int64_t unit_;
  std::int64_t replicas_;
  std::int64_t held_;
  std::int64_t sequences_;
};

}  // namespace

std::vector<MeshPlan> mesh_plans(const MeshProblem& problem, const CostsOf& costs_of) {
  std::vector<MeshPlan> plans;
  for (std::int64_t replicas = 1; replicas <= problem.ranks; replicas *= 2) {
    if (problem.global_batch % (problem.micro_batch * replicas) != 0) continue;
    for (std::int64_t held = 1; held <= kMostHeld; held *= 4) {
      std::optional<MeshPlan> plan = MeshProgram(problem, costs_of, replicas, held).solve();
      if (plan) plans.push_back(std::move(*plan));
    }
  }
  std::ranges::stable_sort(plans, {}, &MeshPlan::seconds);
  const auto repeated = std::ranges::unique(plans, {}, &MeshPlan::stages);
  plans.erase(repeated.begin(), repeated.end());
  return plans;
}

std::string to_setting(const std::vector<workload::StageMesh>& stages) {
  std::string text;
  for (const workload::StageMesh& stage : stages) {
    text += fmt::format("{}{{layers: {}, tp: {}, dp: {}}}", text.empty() ? "" : ", ", stage.layers, stage.tp, stage.dp);
  }
  return "[" + text + "]";
}

}  // namespace ringwright::planning
