// Data parallelism: gradients are summed over replicas (all-reduce), or with ZeRO stage 1 scattered, and the updated
// parameters gathered.
//
// Bytes per rank and training step for P parameters: all-reduce of 4P (fp32 gradients); stage 1: reduce-scatter of 4P
// and all-gather of 2P (ZeRO, arXiv 1910.02054; Megatron's distributed optimizer). Overlapped, a bucket is reduced as
// soon as the last microbatch's backward pass has its gradients, and parameters are gathered from the step's start, as
// in the steady state: forward passes wait for the buckets that they need.
//
// With several instances of the optimizer (Megatron's num_distributed_optimizer_instances) each scatters and gathers
// within itself, and shards of gradients are all-reduced over the instances (param_and_grad_buffer.py).
//
// Stage 2 stores only a rank's share of the gradients, and so scatters the gradients of every microbatch: m
// microbatches move m times as much. As DeepSpeed runs it (runtime/zero/stage_1_and_2.py), gradients are copied into a
// bucket of reduce_bucket_size; a full bucket is reduced before the pass continues, or with overlap_comm while the next
// one fills (average_tensor: the computation waits for the previous bucket); and the pass ends when all are reduced
// (independent_gradient_partition_epilogue). Stage 3 and FSDP shard the parameters as well: sharded.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/parallel/buckets.h"
#include "workload/parallel/compressed_sum.h"
#include "workload/parallel/element_bytes.h"
#include "workload/parallel/offload.h"
#include "workload/parallel/sharded.h"
#include "workload/parallel/tensor.h"

namespace ringwright::workload {

struct DataStreams {
  std::optional<CommStream> replicas;  // absent when dp is 1: no communication; those of one optimizer instance
  std::optional<CommStream> instances;  // ranks with the same shard of each instance; absent when there is one
  std::optional<ShardStreams> shards;  // when parameters are sharded; then no replicas
};

class DataParallel {
 public:
  DataParallel(SectionTable& sections, const ParallelOptions& parallel, const std::vector<ModelChunk>& parts,
               const std::vector<Slot>& slots, const DataStreams& channels, HostTraffic& host,
               Holding holding = Holding::kDense);

  void begin_step(ProgramWriter& writer);
  void before_forward(ProgramWriter& writer, int chunk, std::size_t point);
  void after_forward(ProgramWriter& writer, int chunk, std::size_t point);
  void before_backward(ProgramWriter& writer, int chunk, std::size_t point);
  // Whether gradients are reduced after a backward pass (workload/layout/gradient_turns.h), or added to the earlier
  // ones.
  enum class Turn { kAddsUp, kReduces };
  void after_backward(ProgramWriter& writer, int chunk, std::size_t point, Turn turn);
  // Whether such a pass would be the same without data parallelism.
  [[nodiscard]] bool leaves_forward_alone(int chunk) const;
  [[nodiscard]] bool leaves_backward_alone(Turn turn) const;
  // All gradients of this stage are summed before subsequent tasks start.
  void finish_gradients(ProgramWriter& writer);
  void end_step(ProgramWriter& writer);
  // Null: no linear operator is cut into tiles.
  [[nodiscard]] TileUses* tiles() { return sharded_ && sharded_->units().has_tiles() ? &*sharded_ : nullptr; }
  // One fp32 number over all replicas; only the shards of stage 1 need it.
  // For gradients, or other data that is split over ranks that share an optimizer's state.
  void reduce_norm(ProgramWriter& writer, Bytes bytes, std::string_view what);
  // The number of parameters that this rank updates.
  [[nodiscard]] std::int64_t owned_elements() const { return owned_; }
  // The number of gradients that it clears.
  [[nodiscard]] std::int64_t kept_gradients() const { return kept_gradients_; }

 private:
  struct BucketState {
    Bucket bucket;
    SectionId scale = 0;
    SectionId sum = 0;  // to gradients of earlier microbatches, which are on the host
    std::optional<CompressedSum> compressed;
    std::optional<TaskIndex> reduced;
    std::optional<TaskIndex> gathered;  // until a task has waited for it
  };
  struct FurtherChannels {
    std::optional<CommStream> norm;    // of the ranks over which the gradients are sharded
    std::optional<CommStream> across;  // of ranks with the same shard
  };
  void reduce(ProgramWriter& writer, BucketState& state);
  // With a reduction in every backward pass: the computation waits for the reductions in flight.
  void await_reduction(ProgramWriter& writer);
  // Of this pass, or of the step's end.
  [[nodiscard]] bool reduces_in(Turn turn) const;
  [[nodiscard]] TaskIndex sum_across(ProgramWriter& writer, const BucketState& state);
  void gather(ProgramWriter& writer, BucketState& state);
  void gather_all(ProgramWriter& writer);
  // Gradients are communicated: to other ranks, or to the host.
  [[nodiscard]] bool passes_gradients() const { return channel_ || host_.updates(); }
  [[nodiscard]] bool sharded() const { return parallel_.zero_stage >= 1; }
  [[nodiscard]] bool scatters() const { return sharded() && !sums_whole_ && !parallel_.allreduce_buckets; }
  [[nodiscard]] bool every_pass() const { return parallel_.gradient_reduction == GradientReduction::kMicrobatch; }

  [[nodiscard]] std::string label(std::string_view what) const;

  const ParallelOptions& parallel_;
  Holding holding_;
  HostTraffic& host_;
  std::optional<CommStream> channel_;
  FurtherChannels further_;
  std::optional<ShardedParallel> sharded_;  // then there are no buckets
  bool sums_whole_;  // DeepSpeed's BF16_Optimizer: every replica gets all sums, and updates its shard
  ElementBytes element_;
  std::int64_t owned_ = 0;
  std::int64_t kept_gradients_ = 0;
  std::vector<std::vector<BucketState>> chunks_;  // buckets in the order of the backward pass
  std::optional<TaskIndex> reducing_;             // the next bucket, or the end of the pass, waits for it
};

}  // namespace ringwright::workload
