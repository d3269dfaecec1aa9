// Offload: traffic between a GPU and the memory or the drives of its host, and the update on the CPU.
//
// ZeRO-Offload (arXiv 2101.06840): each reduced gradient goes to host memory (2 bytes per parameter of the shard), the
// CPU runs Adam there, and the new parameters are copied back (2 bytes). The CPU is bound by its memory, whose
// bandwidth is shared by all ranks of the socket and by concurrent copies. Bytes read and written per parameter: Adam
// itself 28 (gradient, weight and two moments in fp32 read, the last three written: Step_AVX in DeepSpeed's
// cpu_adam.h), and in DeepSpeed 14 more: a pass that unscales and clips gradients (8), and one that casts the weights
// (4 + 2: stage3.py, unscale_and_clip_grads and _reassign_or_swap_out_partitioned_parameters), 42 in all. PyTorch's
// FSDP runs only Adam. DeepSpeed's stage 2 stores every microbatch's gradients, and adds them on the GPU to those of
// earlier ones, which it fetches for that (async_accumulate_grad_in_cpu_via_gpu in stage_1_and_2.py): 2 bytes down, and
// after the first microbatch 2 bytes up, per parameter of the shard and microbatch. Its stage 3 stores the sums of
// every microbatch, fetches them again for their norm, and after the last microbatch stores them in fp32 by copies for
// which the host waits: 2 bytes down, 2 up and at last 4 down, and the backward pass goes on when they have ended
// (stage3.py, partition_grads, since pull request 1453 of January 2022). ZeRO-Infinity (arXiv 2104.07857): states are
// on drives, and sub-groups of them are read, updated and written (12 bytes per parameter in each direction);
// parameters are fetched shard by shard over every rank's own PCIe and then gathered.
//
// In the task graph these are messages that do not leave the host (core/plan/dma_path.h), in a dimension "host" where
// every rank is alone: they share links with other PCIe traffic.
#pragma once

#include <optional>
#include <vector>

#include "workload/options/offload_options.h"
#include "workload/parallel/tensor.h"

namespace ringwright::workload {

struct HostStreams {
  CommStream out;  // to the host
  CommStream in;   // from it
  CommStream cpu;  // work there
};

class HostTraffic {
 public:
  // No streams: nothing is offloaded.
  HostTraffic(const KernelContext& context, const OffloadOptions& options, std::optional<HostStreams> channels);

  [[nodiscard]] bool updates() const { return channels_ && options_.optimizer != Tier::kGpu; }
  [[nodiscard]] bool fetches_parameters() const { return channels_ && options_.parameters != Tier::kGpu; }
  // Parameters that are updated by the CPU, of those that a rank owns.
  [[nodiscard]] std::int64_t offloaded(std::int64_t owned) const;
  // With a delayed update: the CPU starts with the gradients of the previous step.
  void begin_step(ProgramWriter& writer, std::int64_t owned);
  // The shard of a unit, before it is gathered; returns the task that the gather waits for.
  [[nodiscard]] std::vector<TaskIndex> fetch_parameters(ProgramWriter& writer, std::int64_t elements,
                                                        std::vector<TaskIndex> after);
  // Returns the task after which they are stored; none where nothing is offloaded.
  std::optional<TaskIndex> store_gradients(ProgramWriter& writer, std::int64_t elements,
                                           const std::vector<TaskIndex>& after);
  // Of a bucket of sharded gradients. Where copies block (OffloadOptions), they are fetched again, and after the last
  // microbatch stored in the master type, for which the pass waits. Returns the last copy.
  std::optional<TaskIndex> store_bucket(ProgramWriter& writer, std::int64_t elements, bool last_microbatch,
                                        const std::vector<TaskIndex>& after);
  // The sums of earlier microbatches are fetched, and added on the GPU with that section, before they are stored.
  std::optional<TaskIndex> add_to_stored(ProgramWriter& writer, std::int64_t elements, SectionId sum,
                                         const std::vector<TaskIndex>& after);
  // Update and new parameters; everything issued after it waits.
  void update(ProgramWriter& writer, std::int64_t owned);

  // Activations of a layer: stored after its forward pass, fetched before its backward pass.
  [[nodiscard]] bool moves_activations() const { return channels_ && options_.activation_layers > 0; }
  void store_activations(ProgramWriter& writer, Bytes bytes);
  [[nodiscard]] std::optional<TaskIndex> fetch_activations(ProgramWriter& writer, Bytes bytes);

 private:
  [[nodiscard]] TaskIndex move(ProgramWriter& writer, const CommStream& channel, DmaPath path, Bytes bytes,
                               const std::string& label, const std::vector<TaskIndex>& after) const;
  void run_update(ProgramWriter& writer, std::int64_t owned, std::vector<TaskIndex> after);

  const OffloadOptions& options_;
  std::optional<HostStreams> channels_;
  std::int64_t value_bytes_;
  std::int64_t state_bytes_;  // of one parameter: master weight and moments
  std::vector<TaskIndex> stored_;   // gradients in flight to the host
  std::vector<TaskIndex> updated_;  // until a task has waited for it
};

}  // namespace ringwright::workload
