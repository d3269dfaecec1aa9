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

}  // namespace

StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel) {
  const RankLayout layout(parallel);
  StepStreams streams;
  if (parallel.tp > 1) streams.tensor = add_dimension(streams, layout.tensor_dimension());
  if (parallel.dp > 1) streams.data = add_dimension(streams, layout.data_dimension());
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
