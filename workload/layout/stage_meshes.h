// Pipeline stages with different numbers of ranks: stage i is a mesh of dp_i replicas, each of tp_i tensor-parallel
// ranks, as in a plan of Alpa (Zheng et al., OSDI 2022).
//
// Ranks are numbered stage by stage, tensor-parallel ranks are neighbours. All stages work on the same microbatches: of
// each, a replica of stage i has 1 / dp_i of the sequences. training.micro_batch is that of the stage with the most
// replicas.
//
// Between stages the activation of a microbatch changes its layout (cross-mesh resharding; Zhuang et al., MLSys 2023).
// Rank (d, t) of a mesh holds, or sends, of the sequences of replica d the t-th of tp_i equal parts, and two ranks
// exchange what both have in common; without sequence parallelism, the parts are gathered among the tensor-parallel
// ranks on arrival. With equal meshes this is the scatter-gather optimisation of Narayanan et al. (SC 2021,
// section 4.1).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"
#include "workload/options/step_inputs.h"

namespace ringwright::workload {

// The layout and settings of a job all of whose stages are like this one. Without meshes they are unchanged.
[[nodiscard]] ParallelOptions parallel_of_stage(const ParallelOptions& parallel, int stage);
[[nodiscard]] TrainingOptions training_of_stage(const TrainingOptions& training, const ParallelOptions& parallel,
                                                int stage);

// The pipeline stage of every rank, of any layout.
[[nodiscard]] std::vector<int> stage_of_ranks(const ParallelOptions& parallel);

// All that a rank exchanges with one rank of a neighbouring stage for one microbatch: its activation in the forward
// pass, its gradient in the backward pass.
struct StagePiece {
  RankId peer;
  Bytes bytes;
  friend bool operator==(const StagePiece&, const StagePiece&) = default;
};
// Of one rank, by peer.
struct StageEnds {
  std::vector<StagePiece> before;  // with the previous stage
  std::vector<StagePiece> after;   // with the next one
  friend bool operator==(const StageEnds&, const StageEnds&) = default;
};

// The ranks of a layout with meshes.
class StageMeshes {
 public:
  explicit StageMeshes(const std::vector<StageMesh>& meshes);

  [[nodiscard]] std::size_t rank_count() const { return first_.back(); }
  [[nodiscard]] std::size_t first_rank(int stage) const { return first_[static_cast<std::size_t>(stage)]; }

  // By rank; `activation`: of a whole microbatch, of all replicas.
  [[nodiscard]] std::vector<StageEnds> ends(Bytes activation) const;

  // Groups of each mesh; ranks of meshes without such groups are alone.
  [[nodiscard]] Dimension tensor_dimension() const;
  [[nodiscard]] Dimension data_dimension() const;
  // Ranks that exchange activations, directly or through others, in ascending order.
  [[nodiscard]] Dimension pipeline_dimension() const;
  // Ranks that hold the model once: of each replica, or all where stages have different numbers of replicas.
  [[nodiscard]] Dimension model_dimension() const;
  // The same rank of the first and the last stage, whose meshes are equal.
  [[nodiscard]] Dimension embedding_dimension() const;

 private:
  enum class Along { kTensor, kData };
  [[nodiscard]] Dimension within_meshes(const char* name, Along along) const;
  [[nodiscard]] RankId rank(int stage, int replica, int tensor) const;

  const std::vector<StageMesh>& meshes_;
  std::vector<std::size_t> first_;  // by stage, and the number of ranks
};

}  // namespace ringwright::workload
