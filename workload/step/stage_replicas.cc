#include "workload/step/stage_replicas.h"

namespace ringwright::workload {
namespace {

// Among ranks with the same experts: the gradients' sum, or their shards.
DataStreams expert_streams(const ParallelOptions& parallel, const StepStreams& streams) {
  if (!parallel.shards_experts_apart()) return {.replicas = streams.expert_data, .shards = {}};
  const ShardStreams shards{.shard = streams.expert_data, .replicate = {}, .secondary = {}, .node = {}, .across = {}};
  return {.replicas = {}, .shards = shards};
}

}  // namespace

StageReplicas::StageReplicas(SectionTable& sections, const ParallelOptions& parallel,
                             const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots,
                             const StepStreams& streams, HostTraffic& host)
    : dense_(sections, parallel, parts, slots, streams.data, host),
      experts_(sections, parallel, parts, slots, expert_streams(parallel, streams), host, Holding::kExpert),
      outer_(sections, owned_elements(), streams.workers) {}

void StageReplicas::begin_step(ProgramWriter& writer) {
  outer_.begin_step(writer);
  dense_.begin_step(writer);
  experts_.begin_step(writer);
}

void StageReplicas::before_forward(ProgramWriter& writer, int chunk, std::size_t point) {
  dense_.before_forward(writer, chunk, point);
  experts_.before_forward(writer, chunk, point);
}

void StageReplicas::after_forward(ProgramWriter& writer, int chunk, std::size_t point) {
  dense_.after_forward(writer, chunk, point);
  experts_.after_forward(writer, chunk, point);
}

void StageReplicas::before_backward(ProgramWriter& writer, int chunk, std::size_t point) {
  dense_.before_backward(writer, chunk, point);
  experts_.before_backward(writer, chunk, point);
}

void StageReplicas::after_backward(ProgramWriter& writer, int chunk, std::size_t point, DataParallel::Turn turn) {
  dense_.after_backward(writer, chunk, point, turn);
  experts_.after_backward(writer, chunk, point, turn);
}

void StageReplicas::finish_gradients(ProgramWriter& writer) {
  dense_.finish_gradients(writer);
  experts_.finish_gradients(writer);
}

void StageReplicas::reduce_norm(ProgramWriter& writer, Bytes bytes, std::string_view what) {
  dense_.reduce_norm(writer, bytes, what);
  experts_.reduce_norm(writer, bytes, what);
}

void StageReplicas::end_step(ProgramWriter& writer) {
  outer_.end_step(writer);
  dense_.end_step(writer);
  experts_.end_step(writer);
}

}  // namespace ringwright::workload
