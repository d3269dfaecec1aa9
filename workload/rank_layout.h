// Which rank does what: Megatron's order tp-cp-ep-dp-pp (tensor-parallel ranks are neighbours, stages lie farthest
// apart) and the process groups of each dimension.
//
// Megatron-LM, parallel_state.py, default order "tp-cp-ep-dp-pp"; for dense models ep is 1.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/task_graph.h"
#include "workload/training_options.h"

namespace ringwright::workload {

struct RankCoordinates {
  int tp = 0;
  int cp = 0;
  int ep = 0;
  int dp = 0;
  int pp = 0;
  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;
};

class RankLayout {
 public:
  explicit RankLayout(const ParallelOptions& options);

  [[nodiscard]] std::size_t rank_count() const { return count_; }
  [[nodiscard]] RankCoordinates coordinates(RankId rank) const;
  [[nodiscard]] RankId rank(const RankCoordinates& coordinates) const;

  // Groups of ranks that differ in one coordinate only.
  [[nodiscard]] Dimension tensor_dimension() const;
  [[nodiscard]] Dimension data_dimension() const;
  [[nodiscard]] Dimension pipeline_dimension() const;
  // All ranks that together hold the model once: tp x pp.
  [[nodiscard]] Dimension model_dimension() const;
  // First and last stage, which hold copies of tied embedding weights; every other rank is alone.
  [[nodiscard]] Dimension embedding_dimension() const;

 private:
  [[nodiscard]] std::size_t size_of(int RankCoordinates::*axis) const;
  [[nodiscard]] Dimension along(const char* name, int RankCoordinates::*axis) const;

  RankCoordinates sizes_;
  std::size_t count_ = 1;
};

}  // namespace ringwright::workload
