// Gradient buckets: neighbouring parameters, in the order of the backward pass, that are reduced together.
//
// Megatron-LM, param_and_grad_buffer.py: a bucket is closed as soon as it holds max(40e6, 1e6 * dp) elements. Only the
// first model chunk of the first stage is split (distributed_data_parallel.py), and only when the reduction overlaps
// the backward pass. Buckets are padded, so that every data-parallel rank owns the same number of elements.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "workload/layout/stage_chunks.h"

namespace ringwright::workload {

struct Bucket {
  std::int64_t elements = 0;
  std::int64_t padded = 0;
  std::int64_t matrices = 0;    // elements of the layers' matrices
  std::size_t first_point = 0;  // of the chunk, in forward order: the lowest point with a tensor in the bucket
  std::size_t last_point = 0;
};

struct BucketRule {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t close_at = 0;  // elements
  std::int64_t multiple = 1;  // elements
  Holding holding = Holding::kDense;
  LayerFusionOptions fusion = {};  // on: instead of close_at
  std::int64_t element_bytes = 4;  // of a gradient, for its rate
};

struct BucketPlace {
  int chunk = 0;  // of its stage
  int part = 0;   // the chunk in model order
};
[[nodiscard]] BucketPlace place_of(const std::vector<ModelChunk>& parts, std::size_t chunk);

// Elements at which a chunk's buckets close (all in one when the reduction does not overlap) and their padding, dp * 64
// elements: each rank's share is then a multiple of 64, the alignment that Megatron gives to parameters.
[[nodiscard]] BucketRule bucket_rule(const TrainingOptions& training, const ParallelOptions& parallel,
                                     const BucketPlace& place, Holding holding = Holding::kDense);

// In the order of the backward pass.
[[nodiscard]] std::vector<Bucket> fill_buckets(const ModelChunk& part, const BucketRule& rule);

// The number of parameters that a rank updates: all that it holds, or its share under ZeRO stage 1.
[[nodiscard]] std::int64_t owned_elements(const std::vector<Bucket>& buckets, const ParallelOptions& parallel,
                                          Holding holding = Holding::kDense);
// Ranks that hold copies of these parameters.
[[nodiscard]] int copies(const ParallelOptions& parallel, Holding holding);
// Of them, those that share the optimizer's state.
[[nodiscard]] int state_shards(const ParallelOptions& parallel, Holding holding);

}  // namespace ringwright::workload
