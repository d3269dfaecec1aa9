// Sharding of a model's state over data-parallel ranks: ZeRO's stages with DeepSpeed's keys, FSDP with its own keys.
//
// Both result in the same data: stage 3 and FSDP gather parameters before they are used and scatter gradients after.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/config/config_map.h"
#include "workload/options/linear_tiling.h"

namespace ringwright::workload {

// When the gather of the next unit is issued in a backward pass, in FSDP's terms: before the unit's own backward pass,
// after it but before its gradients are reduced, or only when the unit is needed.
enum class BackwardPrefetch { kNone, kPost, kPre };

// After which backward passes gradients of unsharded parameters are reduced: once per step, after all microbatches;
// after consecutive microbatches of a chunk (microbatch_group_size_per_vp_stage); or after each.
enum class GradientReduction { kLastMicrobatch, kMicrobatchGroup, kMicrobatch };

// What one call gathers in ZeRO-3: a layer; a weight; or a weight, waited for by the host, into a list of all ranks'
// parts.
enum class GatherCalls { kLayers, kWeights, kLists };

struct ShardingOptions {
  bool parameters = false;  // sharded between uses: ZeRO stage 3, FSDP
  // FSDP gathers embedding and output layer as one root unit and keeps it gathered until the backward pass. Without:
  // two units.
  bool root_unit = false;
  bool keep_head = false;             // the unit of the output layer stays gathered from forward to backward pass
  bool reshard_after_forward = true;  // off: SHARD_GRAD_OP
  // Off: a unit stays gathered from a backward pass to its next use, as with FSDP2's modules in pipeline stages.
  bool reshard_after_backward = true;
  int shard = 1;      // ranks that share one copy of the state; dp / shard copies
  int secondary = 0;  // ranks that share a second copy for backward gathers (hpZ, FSDP2); 0: none
  BackwardPrefetch backward_prefetch = BackwardPrefetch::kPre;
  bool limit_gathers = true;               // off: gathers are issued as early as possible, and use memory
  std::int64_t prefetch = 1;               // elements gathered ahead of their use, at least one unit; 0: none
  std::int64_t max_live = INT64_MAX;       // limit of gathered elements
  std::int64_t max_reuse_distance = 0;     // a unit used again within that many elements stays gathered
  bool one_trace_each = false;             // DeepSpeed: nothing is gathered ahead for the next microbatch
  bool regathers = false;                  // DeepSpeed: single modules of recomputed layers are released in between
  GatherCalls gather_calls = GatherCalls::kLayers;
  std::int64_t persistence_threshold = 0;  // smaller tensors are never sharded
  LinearTiling tiling;
  std::int64_t reduce_bucket = 0;          // elements of gradients that are reduced together; 0: unit by unit
  bool reduce_every_microbatch = true;     // off: no_sync, gradients are accumulated unsharded
  bool all_reduce = false;                 // every rank gets all sums and stores those of its shard
  bool reduce_at_once = false;             // computation waits for every reduction: no overlap
  bool replicate_every_microbatch = true;  // off: copies are all-reduced in the last microbatch only (MiCS)
  bool quantized_weights = false;          // qwZ: int8 with block scales
  bool quantized_gradients = false;        // qgZ: int4, all-to-all in the node, then between nodes
  int node = 1;                            // data-parallel ranks of one node, for qgZ
  bool experts_apart = false;              // experts are sharded among the ranks that hold them, not among all
  // Shards of single parameters are copied into the buffer of a gather, and parameters out of it: FSDP2, and DeepSpeed
  // for several weights of one call. Without: FSDP1, whose flat parameter is gathered in place.
  bool by_parameter = false;
  bool master_in_shard = false;            // FSDP stores fp32 shards; ZeRO also a sharded copy in the working type

  [[nodiscard]] bool fsdp2() const { return by_parameter && master_in_shard; }

  friend bool operator==(const ShardingOptions&, const ShardingOptions&) = default;
};

struct ParallelOptions;
struct ParallelContext;

// Reads `parallel.zero` and `parallel.fsdp`, when dp is known. Mistakes are recorded in the map.
void read_sharding(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);

}  // namespace ringwright::workload
