// The dimensions of a layout with more than one member, and the communication stream of each.
#pragma once

#include <optional>
#include <vector>

#include "workload/layout/known_groups.h"
#include "workload/layout/rank_layout.h"
#include "workload/parallel/context.h"
#include "workload/parallel/data.h"
#include "workload/parallel/pipeline.h"

namespace ringwright::workload {

struct StepStreams {
  std::optional<CommStream> tensor;
  std::optional<CommStream> tensor_tiles;  // of kernels that are fused with their exchange
  DataStreams data;
  std::optional<HostStreams> host;         // host memory and drives of each GPU
  std::optional<CommStream> context;       // of collectives among context-parallel ranks
  std::optional<RingStreams> ring;         // of their ring
  std::optional<CommStream> heads;         // of their exchanges of heads in layers with a state
  std::optional<CommStream> expert;        // ep
  std::optional<CommStream> inner_expert;  // ep within a host and beyond, if the dispatcher distinguishes them
  std::optional<CommStream> outer_expert;
  std::optional<CommStream> expert_tensor;      // etp
  std::optional<CommStream> expert_data;        // copies of experts
  std::optional<PipelineStreams> pipeline;  // activations and gradients do not wait for each other
  std::optional<CommStream> model;              // tp x pp
  std::optional<CommStream> embedding;          // first and last stage, if they share weights
  std::optional<CommStream> mirror;             // two stages with the same two model chunks (DualPipe)
  std::optional<CommStream> workers;            // the same rank of workers that train on their own
  int stream_count = 1;
  std::vector<Dimension> dimensions;
};

// With meshes, dimensions are those of all stages, and streams those that some stage uses.
[[nodiscard]] StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel);
// The same with the groups of an earlier step, and their layouts, where they are equal.
[[nodiscard]] StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel, KnownGroups& known,
                                       GroupLayouts& layouts);
// The same streams; the dimensions have no groups, which take the most time.
[[nodiscard]] StepStreams streams_without_groups(const ModelShape& shape, const ParallelOptions& parallel);
// The number of its dimensions with communicators: without that of copies between a GPU and its host. Cheap, since no
// groups are made.
[[nodiscard]] std::size_t count_dimensions(const ModelShape& shape, const ParallelOptions& parallel);
// Without those of groups that the ranks of a stage are alone in; `own`: its layout.
[[nodiscard]] StepStreams streams_of_mesh(StepStreams streams, const ParallelOptions& own);

}  // namespace ringwright::workload
