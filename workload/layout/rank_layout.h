// The layout of ranks: Megatron's order tp-cp-ep-dp-pp (tensor-parallel ranks are neighbours, stages are farthest
// apart) and the process groups of each dimension.
//
// Megatron-LM, parallel_state.py, default order "tp-cp-ep-dp-pp": the ranks of a pipeline stage are divided twice: into
// tp x cp x dp for the dense layers and into etp x ep x expert-dp for the experts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/task_graph.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

struct RankCoordinates {
  int tp = 0;
  int cp = 0;
  int dp = 0;
  int pp = 0;
  friend bool operator==(const RankCoordinates&, const RankCoordinates&) = default;
};

// The same rank in the experts' layout.
struct ExpertCoordinates {
  int etp = 0;
  int ep = 0;
  int edp = 0;
  int pp = 0;
  friend bool operator==(const ExpertCoordinates&, const ExpertCoordinates&) = default;
};

// kNone: dimensions have names and no groups, where only their number matters.
enum class ListedRanks { kAll, kNone };

class RankLayout {
 public:
  explicit RankLayout(const ParallelOptions& options, ListedRanks listed = ListedRanks::kAll);

  [[nodiscard]] std::size_t rank_count() const { return count_; }
  [[nodiscard]] RankCoordinates coordinates(RankId rank) const;
  [[nodiscard]] RankId rank(const RankCoordinates& coordinates) const;

  [[nodiscard]] ExpertCoordinates expert_coordinates(RankId rank) const;

  // Groups of ranks that differ in one coordinate only.
  [[nodiscard]] Dimension tensor_dimension() const;
  [[nodiscard]] Dimension context_dimension() const;
  // Copies of the dense parameters, including context-parallel ranks; of one worker.
  [[nodiscard]] Dimension data_dimension() const;
  // The same rank of all workers that train on their own.
  [[nodiscard]] Dimension worker_dimension() const;
  [[nodiscard]] Dimension pipeline_dimension() const;
  // Ranks that exchange heads for tokens, and those of one ring, if both are used.
  [[nodiscard]] Dimension ulysses_dimension() const;
  [[nodiscard]] Dimension ring_dimension() const;
  [[nodiscard]] Dimension expert_dimension() const;
  [[nodiscard]] Dimension expert_tensor_dimension() const;
  // Copies of the same experts.
  [[nodiscard]] Dimension expert_data_dimension() const;
  // Expert-parallel ranks of one host, and those at the same position of all hosts.
  [[nodiscard]] Dimension inner_expert_dimension() const;
  [[nodiscard]] Dimension outer_expert_dimension() const;
  // All ranks that together hold the model once: tp x pp.
  [[nodiscard]] Dimension model_dimension() const;
  // First and last stage, which hold copies of tied embedding weights; every other rank is alone.
  [[nodiscard]] Dimension embedding_dimension() const;
  // Stages i and p-1-i, which hold the same model chunks when microbatches enter from both ends.
  [[nodiscard]] Dimension mirror_dimension() const;

  friend bool operator==(const RankLayout&, const RankLayout&) = default;

 private:
  void advance(RankCoordinates& at) const;  // to those of the next rank
  // Ranks with the same key form a group, in ascending order; groups are of one size.
  template <class KeyOf>
  [[nodiscard]] Dimension grouped(const char* name, KeyOf key_of) const;

  RankCoordinates sizes_;
  ExpertCoordinates expert_sizes_;
  int inner_ = 1;    // expert-parallel ranks of one host
  int ulysses_ = 1;  // neighbouring context-parallel ranks that exchange heads for tokens
  int per_worker_ = 1;  // data-parallel ranks of one worker
  std::size_t count_ = 1;
};

}  // namespace ringwright::workload
