#include "workload/step_streams.h"

#include <utility>

#include "workload/stage_parts.h"

namespace ringwright::workload {
namespace {

Channel add_dimension(StepStreams& streams, Dimension dimension) {
  streams.dimensions.push_back(std::move(dimension));
  return {.dimension = DimensionId(streams.dimensions.size() - 1),
          .stream = static_cast<StreamIndex>(streams.stream_count++)};
}

Channel second_stream(StepStreams& streams, const Channel& channel) {
  return {.dimension = channel.dimension, .stream = static_cast<StreamIndex>(streams.stream_count++)};
}

void add_context(const RankLayout& layout, const ParallelOptions& parallel, StepStreams& streams) {
  if (parallel.cp == 1) return;
  if (parallel.context_exchange == ContextExchange::kAllGather || parallel.ring() == 1) {
    streams.context = add_dimension(streams, layout.context_dimension());
    return;
  }
  if (parallel.ulysses > 1) streams.context = add_dimension(streams, layout.ulysses_dimension());
  const Channel values =
      add_dimension(streams, parallel.ulysses > 1 ? layout.ring_dimension() : layout.context_dimension());
  streams.ring = RingChannels{.values = values, .gradients = second_stream(streams, values)};
}

void add_experts(const RankLayout& layout, const ParallelOptions& parallel, StepStreams& streams) {
  const ExpertOptions& experts = parallel.experts;
  if (experts.ep > 1 && experts.dispatcher == Dispatcher::kFlex) {
    if (experts.inner() > 1) streams.inner_expert = add_dimension(streams, layout.inner_expert_dimension());
    if (experts.outer() > 1) streams.outer_expert = add_dimension(streams, layout.outer_expert_dimension());
  } else if (experts.ep > 1) {
    streams.expert = add_dimension(streams, layout.expert_dimension());
  }
  if (experts.etp > 1) streams.expert_tensor = add_dimension(streams, layout.expert_tensor_dimension());
  if (parallel.expert_replicas() > 1) streams.expert_data = add_dimension(streams, layout.expert_data_dimension());
}

}  // namespace

StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel) {
  const RankLayout layout(parallel);
  StepStreams streams;
  if (parallel.tp > 1) streams.tensor = add_dimension(streams, layout.tensor_dimension());
  add_context(layout, parallel, streams);
  if (shape.experts) add_experts(layout, parallel, streams);
  if (parallel.replicas() > 1) streams.data = add_dimension(streams, layout.data_dimension());
  if (parallel.pp > 1) {
    const Channel forward = add_dimension(streams, layout.pipeline_dimension());
    const Channel backward{.dimension = forward.dimension, .stream = static_cast<StreamIndex>(streams.stream_count++)};
    streams.pipeline = PipelineChannels{.forward = forward, .backward = backward};
  }
  if (parallel.tp * parallel.pp > 1) streams.model = add_dimension(streams, layout.model_dimension());
  if (shares_embedding(shape, parallel)) streams.embedding = add_dimension(streams, layout.embedding_dimension());
  return streams;
}

}  // namespace ringwright::workload
