#include "planning/stages/stage_plans.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace ringwright::planning {
namespace {

constexpr double kNoPlan = std::numeric_limits<double>::infinity();

// Sums of layers before the i-th.
struct Prefixes {
  explicit Prefixes(std::span<const PlannedLayer> layers) : seconds{0.0}, weights{0.0} {
    for (const PlannedLayer& layer : layers) {
      seconds.push_back(seconds.back() + layer.seconds);
      weights.push_back(weights.back() + layer.weights);
    }
  }
  std::vector<double> seconds;
  std::vector<double> weights;
};

// The best plan of the layers before a place with so many devices, and its last stage.
struct Reached {
  double value = kNoPlan;
  int before = 0;   // layers of the stages before
  int devices = 0;  // of the last stage
  double seconds = 0.0;
};

class PipedreamProgram {
 public:
  PipedreamProgram(std::span<const PlannedLayer> layers, int devices, double bandwidth)
      : layers_(layers),
        bandwidth_(bandwidth),
        sums_(layers),
        width_(devices + 1),
        best_((layers.size() + 1) * static_cast<std::size_t>(width_)) {}

  StagePlan solve() {
    const auto count = static_cast<int>(layers_.size());
    at(0, 0).value = 0.0;
    for (int end = 1; end <= count; ++end) {
      for (int devices = 1; devices < width_; ++devices) at(end, devices) = reach(end, devices);
    }
    StagePlan plan{.stages = {}, .seconds = at(count, width_ - 1).value};
    for (int end = count, devices = width_ - 1; end > 0;) {
      const Reached& reached = at(end, devices);
      plan.stages.push_back(
          {.first = reached.before, .last = end - 1, .devices = reached.devices, .seconds = reached.seconds});
      end = reached.before;
      devices -= reached.devices;
    }
    std::ranges::reverse(plan.stages);
    return plan;
  }

 private:
  [[nodiscard]] Reached& at(int layers, int devices) {
    return best_[static_cast<std::size_t>(layers * width_ + devices)];
  }

  // Layers first .. end - 1 with `replicas` replicas.
  [[nodiscard]] double stage_seconds(int first, int end, int replicas) const {
    const auto from = static_cast<std::size_t>(first), to = static_cast<std::size_t>(end);
    const double computed = sums_.seconds[to] - sums_.seconds[from];
    const double synchronised =
        4.0 * (replicas - 1) / replicas * (sums_.weights[to] - sums_.weights[from]) / bandwidth_;
    return std::max(computed, synchronised) / replicas;
  }

  [[nodiscard]] Reached reach(int end, int devices) {
    Reached best;
    for (int first = 0; first < end; ++first) {
      const double boundary =
          first == 0 ? 0.0 : 2.0 * layers_[static_cast<std::size_t>(first) - 1].activation / bandwidth_;
      for (int own = first == 0 ? devices : 1; own <= devices; ++own) {
        const double before = at(first, devices - own).value;
        if (before == kNoPlan) continue;
        const double seconds = stage_seconds(first, end, own);
        const double value = std::max({before, boundary, seconds});
        if (value < best.value) best = {.value = value, .before = first, .devices = own, .seconds = seconds};
      }
    }
    return best;
  }

  std::span<const PlannedLayer> layers_;
  double bandwidth_;
  Prefixes sums_;
  int width_;
  std::vector<Reached> best_;
};

class AlpaProgram {
 public:
  AlpaProgram(const AlpaProblem& problem, const StageCost& cost) : problem_(problem), width_(problem.devices + 1) {
    for (int first = 0; first < problem.layers; ++first) {
      for (int last = first; last < problem.layers; ++last) {
        for (const int devices : problem.submeshes) {
          const std::optional<double> seconds = cost(first, last, devices);
          costs_.push_back(seconds.value_or(kNoPlan));
          if (seconds) limits_.push_back(*seconds);
        }
      }
    }
    std::ranges::sort(limits_);
    limits_.erase(std::ranges::unique(limits_).begin(), limits_.end());
  }

  std::optional<StagePlan> solve() {
    if (limits_.empty()) return std::nullopt;
    const auto passes = static_cast<double>(problem_.microbatches - 1);
    std::optional<StagePlan> best = with_limit(limits_.back());
    if (!best) return std::nullopt;
    const double least_sum = sum_of(*best);
    // Below some limit no plan exists.
    const auto first = std::ranges::partition_point(limits_, [this](double limit) { return !with_limit(limit); });
    for (auto limit = first; limit != limits_.end(); ++limit) {
      // The slowest stage takes at least as long as this limit: no later one can do better.
      if (passes * *limit + least_sum >= best->seconds) break;
      const std::optional<StagePlan> plan = with_limit(*limit);
      if (plan && plan->seconds < best->seconds) best = plan;
    }
    return best;
  }

 private:
  [[nodiscard]] Reached& at(int layers, int devices) {
    return best_[static_cast<std::size_t>(layers * width_ + devices)];
  }
  // Of layers first .. last on the i-th submesh.
  [[nodiscard]] double cost_of(int first, int last, std::size_t submesh) const {
    const int before = first * problem_.layers - first * (first - 1) / 2;  // pairs that begin earlier
    return costs_[static_cast<std::size_t>(before + last - first) * problem_.submeshes.size() + submesh];
  }

  [[nodiscard]] static double sum_of(const StagePlan& plan) {
    double sum = 0.0;
    for (const PlannedStage& stage : plan.stages) sum += stage.seconds;
    return sum;
  }

  [[nodiscard]] std::optional<StagePlan> with_limit(double limit) {
    best_.assign(static_cast<std::size_t>((problem_.layers + 1) * width_), Reached());
    at(0, 0).value = 0.0;
    for (int end = 1; end <= problem_.layers; ++end) {
      for (int devices = 1; devices < width_; ++devices) at(end, devices) = reach(end, devices, limit);
    }
    if (at(problem_.layers, problem_.devices).value == kNoPlan) return std::nullopt;
    StagePlan plan;
    double slowest = 0.0;
    for (int end = problem_.layers, devices = problem_.devices; end > 0;) {
      const Reached& reached = at(end, devices);
      plan.stages.push_back(
          {.first = reached.before, .last = end - 1, .devices = reached.devices, .seconds = reached.seconds});
      slowest = std::max(slowest, reached.seconds);
      end = reached.before;
      devices -= reached.devices;
    }
    std::ranges::reverse(plan.stages);
    plan.seconds = at(problem_.layers, problem_.devices).value +
                   static_cast<double>(problem_.microbatches - 1) * slowest;
    return plan;
  }

  // The least sum of stage times, none above the limit.
  [[nodiscard]] Reached reach(int end, int devices, double limit) {
    Reached best;
    for (int first = 0; first < end; ++first) {
      for (std::size_t i = 0; i < problem_.submeshes.size(); ++i) {
        const int own = problem_.submeshes[i];
        const double seconds = cost_of(first, end - 1, i);
        if (own > devices || seconds > limit) continue;
        const double value = at(first, devices - own).value + seconds;
        if (value < best.value) best = {.value = value, .before = first, .devices = own, .seconds = seconds};
      }
    }
    return best;
  }

  const AlpaProblem& problem_;
  int width_;
  std::vector<double> costs_;   // by first and last layer, by submesh
  std::vector<double> limits_;  // that the slowest stage can have, ascending
  std::vector<Reached> best_;
};

}  // namespace

StagePlan pipedream_plan(std::span<const PlannedLayer> layers, int devices, double bandwidth) {
  CHECK(!layers.empty() && devices > 0 && bandwidth > 0.0, "a plan has layers, devices and links between them");
  return PipedreamProgram(layers, devices, bandwidth).solve();
}

int pipedream_in_flight(const StagePlan& plan, int devices) {
  const int replicas = plan.stages.front().devices;
  return (devices + replicas - 1) / replicas;
}

std::optional<StagePlan> alpa_plan(const AlpaProblem& problem, const StageCost& cost) {
  CHECK(problem.layers > 0 && problem.devices > 0 && problem.microbatches > 0, "a plan has layers and devices");
  return AlpaProgram(problem, cost).solve();
}

}  // namespace ringwright::planning
