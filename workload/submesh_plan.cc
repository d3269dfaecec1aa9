#include "workload/submesh_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ringwright::workload {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Asked once for every stage that there can be.
class StageTimes {
 public:
  explicit StageTimes(const SubmeshProblem& problem) : layers_(problem.layers), kinds_(problem.submeshes.size()) {
    times_.assign(layers_ * (layers_ + 1) * kinds_, kNever);
    for (std::size_t first = 0; first < layers_; ++first) {
      for (std::size_t end = first + 1; end <= layers_; ++end) {
        for (std::size_t kind = 0; kind < kinds_; ++kind) {
          times_[at(first, end, kind)] = problem.seconds({.first = first, .end = end, .submesh = kind});
        }
      }
    }
  }
  [[nodiscard]] double of(const SubmeshStage& stage) const { return times_[at(stage.first, stage.end, stage.submesh)]; }
  [[nodiscard]] std::vector<double> distinct() const {
    std::vector<double> values;
    std::ranges::copy_if(times_, std::back_inserter(values), [](double time) { return std::isfinite(time); });
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t first, std::size_t end, std::size_t kind) const {
    return (first * (layers_ + 1) + end) * kinds_ + kind;
  }
  std::size_t layers_;
  std::size_t kinds_;
  std::vector<double> times_;
};

// The least sum of stages none of which is longer than `longest`.
class LeastSum {
 public:
  LeastSum(const SubmeshProblem& problem, const StageTimes& times, double longest)
      : problem_(problem),
        columns_(problem.gpus + 1),
        best_((problem.layers + 1) * columns_, kNever),
        choice_(best_.size()) {
    best_[at(problem.layers, 0)] = 0.0;
    for (std::size_t first = problem.layers; first-- > 0;) {
      for (std::size_t gpus = 1; gpus <= problem.gpus; ++gpus) choose(first, gpus, times, longest);
    }
  }
  [[nodiscard]] double seconds() const { return best_[at(0, problem_.gpus)]; }
  [[nodiscard]] std::vector<SubmeshStage> stages() const {
    std::vector<SubmeshStage> result;
    for (std::size_t first = 0, gpus = problem_.gpus; first < problem_.layers;) {
      result.push_back(choice_[at(first, gpus)]);
      gpus -= problem_.submeshes[result.back().submesh];
      first = result.back().end;
    }
    return result;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t first, std::size_t gpus) const { return first * columns_ + gpus; }

  void choose(std::size_t first, std::size_t gpus, const StageTimes& times, double longest) {
    for (std::size_t end = first + 1; end <= problem_.layers; ++end) {
      for (std::size_t kind = 0; kind < problem_.submeshes.size(); ++kind) {
        const std::size_t size = problem_.submeshes[kind];
        if (size == 0 || size > gpus) continue;
        const SubmeshStage stage{.first = first, .end = end, .submesh = kind};
        const double mine = times.of(stage);
        if (!(mine <= longest)) continue;
        const double sum = mine + best_[at(end, gpus - size)];
        if (!(sum < best_[at(first, gpus)])) continue;
        best_[at(first, gpus)] = sum;
        choice_[at(first, gpus)] = stage;
      }
    }
  }

  const SubmeshProblem& problem_;
  std::size_t columns_;
  std::vector<double> best_;
  std::vector<SubmeshStage> choice_;
};

}  // namespace

std::optional<SubmeshPlan> plan_submeshes(const SubmeshProblem& problem) {
  const StageTimes times(problem);
  const double repeats = static_cast<double>(problem.microbatches) - 1.0;
  std::optional<SubmeshPlan> best;
  for (const double longest : times.distinct()) {
    if (best && repeats * longest >= best->seconds) break;
    const LeastSum least(problem, times, longest);
    const double seconds = least.seconds() + repeats * longest;
    if (std::isfinite(seconds) && (!best || seconds < best->seconds))
      best = SubmeshPlan{.stages = least.stages(), .seconds = seconds};
  }
  return best;
}

}  // namespace ringwright::workload
