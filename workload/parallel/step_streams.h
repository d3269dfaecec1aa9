// The dimensions of a layout that have more than one member, and the stream on which each of them talks.
#pragma once

#include <optional>
#include <vector>

#include "workload/layout/rank_layout.h"
#include "workload/parallel/context.h"
#include "workload/parallel/data.h"
#include "workload/parallel/pipeline.h"

namespace ringwright::workload {

struct StepStreams {
  std::optional<Channel> tensor;
  DataChannels data;
  std::optional<HostChannels> host;  // memory and drives beside each GPU
  std::optional<Channel> context;       // of collectives among context-parallel ranks
  std::optional<RingChannels> ring;     // of their ring
  std::optional<Channel> expert;        // ep
  std::optional<Channel> inner_expert;  // ep within a host and beyond, where the dispatcher tells them apart
  std::optional<Channel> outer_expert;
  std::optional<Channel> expert_tensor;      // etp
  std::optional<Channel> expert_data;        // copies of experts
  std::optional<PipelineChannels> pipeline;  // activations and gradients do not wait for each other
  std::optional<Channel> model;              // tp x pp
  std::optional<Channel> embedding;          // first and last stage, when they share weights
  std::optional<Channel> mirror;             // two stages that hold the same two parts (DualPipe)
  int stream_count = 1;
  std::vector<Dimension> dimensions;
};

[[nodiscard]] StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel);

}  // namespace ringwright::workload
