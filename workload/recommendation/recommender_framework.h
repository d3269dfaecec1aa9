// How frameworks run the step of a recommendation model.
//
// HugeCTR (github.com/NVIDIA-Merlin/HugeCTR, as its submissions to MLPerf Training configure it; its CUDA graph of a
// step is compute.cuda_graphs): the next batch's indices are exchanged and sorted during this step
// (train_inter_iteration_overlap); 32-bit indices; bias, ReLU and their gradients are epilogues of cuBLASLt's GEMMs;
// weight gradients run after the gradients that embeddings wait for (DenseLayerComputeConfig async_wgrad); all dense
// gradients are reduced in one call (grouped_all_reduce), in the type of the GEMMs; 16-bit weights are written by the
// optimizer.
#pragma once

#include "core/plan/kernel.h"

namespace ringwright::workload {

enum class RecommenderFramework { kTorchRec, kHugeCtr };

struct FrameworkTraits {
  bool fused_epilogues = false;
  bool late_wgrad = false;      // after all gradients of inputs
  bool prepares_ahead = false;  // exchanges and sorts indices of the next batch, while pooled rows are exchanged
  bool one_all_reduce = false;  // of all dense gradients, in the type of the GEMMs
  bool casts_in_optimizer = false;
  double index_bytes = 8.0;
};

[[nodiscard]] FrameworkTraits traits_of(RecommenderFramework framework);

}  // namespace ringwright::workload
