#include "validation/training/score.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::validation {
namespace {

constexpr std::size_t kSmallestSweep = 3;

// Runs of one model on one machine differ in layout and batch: a sweep. They are ranked by time per token.
std::string sweep_of(const PlayedRow& played) {
  const TrainingRow& row = played.row;
  return fmt::format("{}|{}|{}|{}", row.model, row.gpu, row.gpus.value_or(0), row.sequence.value_or(0));
}

class SourceScorer {
 public:
  SourceScorer(const std::string& name, const TrainingConventions& conventions, std::optional<double> threshold) {
    const SourceRule* const rule = conventions.find_source(name);
    score_.name = name;
    score_.title = rule != nullptr ? rule->title : name;
    score_.threshold = threshold;
    if (rule == nullptr) return;
    score_.target = rule->target;
    score_.target_tau = rule->target_tau;
    score_.memory_target = rule->memory_target;
    score_.causes = rule->causes;
    score_.remarks = rule->remarks;
    if (!threshold) score_.threshold = rule->threshold;
  }

  void add(const PlayedRow& played) {
    ++score_.rows;
    if (!played.played()) {
      ++score_.reasons[played.reason];
      return;
    }
    if (!played.shortage.empty()) ++score_.too_large;
    times_.push_back({.predicted = played.predicted_seconds, .measured = played.measured_seconds});
    if (played.measured_gib > 0.0) {
      memory_.push_back({.predicted = played.predicted_gib, .measured = played.measured_gib});
    }
    sweeps_[sweep_of(played)].push_back(
        {.predicted = played.predicted_seconds / played.tokens, .measured = played.measured_seconds / played.tokens});
  }

  SourceScore finish() {
    score_.time = error_statistics(times_);
    score_.memory = error_statistics(memory_);
    double sum = 0.0;
    double weights = 0.0;
    for (const auto& [name, pairs] : sweeps_) {
      if (pairs.size() < kSmallestSweep) continue;
      const double weight = static_cast<double>(pairs.size() * (pairs.size() - 1)) / 2.0;
      sum += weight * kendall_tau(pairs);
      weights += weight;
      ++score_.sweeps;
    }
    if (weights > 0.0) score_.tau = sum / weights;
    return std::move(score_);
  }

 private:
  SourceScore score_;
  std::vector<PredictedMeasured> times_, memory_;
  std::map<std::string, std::vector<PredictedMeasured>> sweeps_;
};

}  // namespace

std::vector<SourceScore> score(std::span<const PlayedRow> rows, const TrainingConventions& conventions,
                               std::optional<double> threshold) {
  std::vector<std::string> order;
  std::map<std::string, SourceScorer> scorers;
  for (const PlayedRow& played : rows) {
    const auto [entry, is_new] = scorers.try_emplace(played.source, played.source, conventions, threshold);
    if (is_new) order.push_back(played.source);
    entry->second.add(played);
  }
  std::vector<SourceScore> result;
  for (const std::string& name : order) result.push_back(scorers.at(name).finish());
  return result;
}

}  // namespace ringwright::validation
