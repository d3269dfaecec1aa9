// Offloading of a training step: optimizer state, parameters and activations in host memory or on NVMe drives, with
// DeepSpeed's keys.
#pragma once

#include <cstdint>

#include "core/config/config_map.h"

namespace ringwright::workload {

// Limit for a buffer or bucket that a DeepSpeed key gives in elements; users write 1e12 or 1e14 for "no limit".
inline constexpr std::int64_t kMostElements = 1'000'000'000'000'000;

enum class Tier { kGpu, kCpu, kNvme };

struct OffloadOptions {
  Tier optimizer = Tier::kGpu;             // including gradients, and the update on the CPU
  Tier parameters = Tier::kGpu;            // needs ZeRO stage 3 or FSDP
  int activation_layers = 0;               // layers of each model chunk whose activations are offloaded to host memory
                                           // (Megatron)
  double ratio = 1.0;                      // of the optimizer state; the rest stays on the GPU
  bool delayed_update = false;             // the CPU updates with the previous step's gradients while this step runs
  bool pipelined = true;                   // reading, updating and writing of sub-groups overlap (nvme)
  std::int64_t sub_group = 1'000'000'000;  // parameters that are read, updated and written together
  double adam_efficiency = 0.45;           // share of host memory bandwidth that the CPU's Adam reaches
  // In addition to Adam, gradients are unscaled and clipped, and weights cast, each in a pass over the shard:
  // DeepSpeed's stage3.py, unscale_and_clip_grads and _reassign_or_swap_out_partitioned_parameters.
  bool passes_apart = true;
  // FSDP's shards are fp32 on the host: the GPU casts what it fetches (all_gather_inputs of _fsdp_param.py), and casts
  // reduced gradients before it stores them (foreach_reduce of _fsdp_collectives.py).
  bool fp32_shards = false;
  // DeepSpeed's stage 3 since January 2022: the gradients of a bucket are stored, fetched again for their norm, and
  // after the last microbatch stored in fp32 by copies for which the host waits (stage3.py, partition_grads).
  bool blocking_gradients = false;

  [[nodiscard]] bool any() const {
    return optimizer != Tier::kGpu || parameters != Tier::kGpu || activation_layers > 0;
  }

  friend bool operator==(const OffloadOptions&, const OffloadOptions&) = default;
};

struct ParallelOptions;

// Reads `offload_optimizer`, `offload_param` and related keys from `parallel.zero`, `parallel.fsdp.cpu_offload`, and
// `parallel.cpu_offloading_num_layers`. Call after the sharding is read.
void read_offload(ConfigMap& parallel, ParallelOptions& options);

}  // namespace ringwright::workload
