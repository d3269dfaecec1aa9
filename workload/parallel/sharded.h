// Sharded parameters: gathered unit by unit before they are used, and their gradients scattered after.
//
// Elements per rank and microbatch for P parameters: all-gather P forward and P backward, reduce-scatter P: 3P (ZeRO
// stage 3, arXiv 1910.02054; FSDP, arXiv 2304.11277). ZeRO++ (arXiv 2306.10209) moves int8 weights (qwZ), gathers for
// the backward pass inside a node (hpZ), and scatters int4 gradients in two hops of all-to-all (qgZ): a quarter of the
// 3 x 2P bytes between nodes remains. HSDP and MiCS (arXiv 2205.00119) shard among some ranks and all-reduce over the
// copies.
//
// Order on the wire is the order of issue, as with one NCCL communicator. Before a unit is used, the gather of the next
// units is issued; it starts when the computation before that unit is done, which is the effect of FSDP's limit of two
// gathers in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/parallel/element_bytes.h"
#include "workload/parallel/offload.h"
#include "workload/parallel/scheduled_uses.h"
#include "workload/parallel/tensor.h"

namespace ringwright::workload {

struct ShardStreams {
  std::optional<CommStream> shard;      // ranks that share one copy of the state
  std::optional<CommStream> replicate;  // ranks with the same shard
  std::optional<CommStream> secondary;  // ranks that share a second copy for the backward pass
  std::optional<StreamIndex> casts;     // of FSDP's shards before a gather
  std::optional<CommStream> node;       // the two hops of qgZ
  std::optional<CommStream> across;
};

class ShardedParallel final : public TileUses {
 public:
  // No stream for the shards: one rank holds all, and only the host may communicate.
  ShardedParallel(SectionTable& sections, const UnitSet& set, const std::vector<ModelChunk>& parts,
                  const std::vector<Slot>& slots, const ShardStreams& channels, HostTraffic& host);

  void enter(ProgramWriter& writer, int chunk, std::size_t point);
  void leave(ProgramWriter& writer, int chunk, std::size_t point);
  void enter_tile(ProgramWriter& writer) override;
  void leave_tile(ProgramWriter& writer) override;
  void finish_gradients(ProgramWriter& writer);
  // Tensors that are never sharded: each rank has updated its part.
  void end_step(ProgramWriter& writer);

  [[nodiscard]] const ShardUnits& units() const { return units_; }

 private:
  void begin_use(ProgramWriter& writer);
  void end_use(ProgramWriter& writer);
  void cast_matrices(ProgramWriter& writer, const UnitUse& use);
  [[nodiscard]] std::int64_t narrow_of(const ShardUnit& unit) const;
  void gather(ProgramWriter& writer, std::size_t use);
  // One call of a gather; returns the task that ends it.
  struct GatherCall {
    CommStream channel;
    std::string label;
    std::int64_t elements = 0;
    std::int64_t narrow = 0;  // of these, in the type of fp8 GEMMs
    std::int64_t parts = 1;
    bool second_copy = false;
    bool copied = false;  // into the buffer of the gather, and out of it
    bool quantized = false;
  };
  [[nodiscard]] TaskIndex gather(ProgramWriter& writer, const GatherCall& call, std::vector<TaskIndex> after);
  [[nodiscard]] TaskIndex gather_quantized(ProgramWriter& writer, const GatherCall& call,
                                           const std::vector<TaskIndex>& after);
  void prepare_shard(ProgramWriter& writer, const GatherCall& call, std::vector<TaskIndex>& after);
  [[nodiscard]] TaskIndex gather_into_list(ProgramWriter& writer, const GatherCall& call,
                                           std::vector<TaskIndex> after);
  void collect_gradients(ProgramWriter& writer);
  void accumulate(ProgramWriter& writer, const GatherSchedule::Step& step);
  void reduce(ProgramWriter& writer);
  [[nodiscard]] TaskIndex sum(ProgramWriter& writer, std::int64_t padded);
  [[nodiscard]] TaskIndex scatter_quantized(ProgramWriter& writer, std::int64_t padded);

  SectionTable& sections_;
  ShardingOptions options_;
  std::string name_;  // of the exchanges: "fsdp", "edp"
  ShardUnits units_;
  ScheduledUses uses_;
  ShardStreams channels_;
  HostTraffic& host_;
  struct UnitState {
    std::optional<TaskIndex> gathered;  // until a task has waited for it
    bool has_gradients = false;         // of earlier microbatches, unsharded
  };
  std::vector<UnitState> states_;  // by unit
  // Gradients in a bucket that is not full.
  struct Pending {
    std::int64_t padded = 0;  // elements
    bool last = true;         // none of them gets more in a later pass
    bool accumulated = false;  // with those of earlier microbatches
  };
  Pending pending_;
  std::vector<TaskIndex> reduced_;
  // Without overlap_comm DeepSpeed copies parameters and gradients on the stream that computes (__allgather_stream of
  // partitioned_param_coordinator.py, reduce_and_partition_stream of stage3.py): the last copy of gradients, for which
  // all that follows waits.
  std::optional<TaskIndex> stored_;
  ElementBytes element_;
};

}  // namespace ringwright::workload
