#include "core/run/contention/gpu_contention.h"

namespace ringwright {

GpuContention::GpuContention(const Inputs& inputs)
    : footprint_(inputs.footprint),
      clocks_(inputs.engine, inputs.classes.count()),
      network_(inputs.network, inputs.classes, clocks_),
      compute_({.engine = inputs.engine,
                .graph = inputs.graph,
                .compute = inputs.compute,
                .clocks = clocks_,
                .listener = inputs.listener,
                .classes = inputs.classes}) {}

ContendedCompute::Claim GpuContention::claim_of(const PlayedJob& job, ClassId c, std::uint32_t task,
                                                const Task& entry) const {
  const TaskGraph& graph = job.graph;
  if (entry.kind != TaskKind::kCollective) {
    const MessageSpec& message = graph.messages[entry.detail];
    return {.dimension = entry.dimension,
            .task = task,
            .takes = footprint_.of(message, entry.dimension, job.rank_of(c)),
            .once_data_move = entry.kind == TaskKind::kReceive};
  }
  const CollectiveSpec& spec = graph.collectives[entry.detail];
  const CollectiveCall call{.kind = spec.kind,
                            .bytes = spec.bytes,
                            .layout = &graph.layouts[job.layout_of(c, entry.dimension)],
                            .dimension = entry.dimension};
  return {.dimension = entry.dimension, .task = task, .takes = footprint_.of(call)};
}

}  // namespace ringwright
