#include "workload/parallel/step_streams.h"

#include <algorithm>
#include <utility>

#include "workload/layout/stage_chunks.h"
#include "workload/layout/stage_meshes.h"

namespace ringwright::workload {
namespace {

CommStream add_dimension(StepStreams& streams, Dimension dimension) {
  streams.dimensions.push_back(std::move(dimension));
  return {.dimension = DimensionId(streams.dimensions.size() - 1),
          .stream = static_cast<StreamIndex>(streams.stream_count++)};
}

CommStream second_stream(StepStreams& streams, const CommStream& channel) {
  return {.dimension = channel.dimension, .stream = static_cast<StreamIndex>(streams.stream_count++)};
}

void add_context(const RankLayout& layout, const ParallelOptions& parallel, StepStreams& streams) {
  if (parallel.cp == 1) return;
  if (parallel.context_exchange == ContextExchange::kAllGather || parallel.ring() == 1) {
    streams.context = add_dimension(streams, layout.context_dimension());
    return;
  }
  if (parallel.context_exchange == ContextExchange::kGatheredBlocks) {  // of one communicator, in order
    streams.context = add_dimension(streams, layout.context_dimension());
    streams.ring = RingStreams{.values = *streams.context, .gradients = *streams.context};
    return;
  }
  if (parallel.ulysses > 1) streams.context = add_dimension(streams, layout.ulysses_dimension());
  const CommStream values =
      add_dimension(streams, parallel.ulysses > 1 ? layout.ring_dimension() : layout.context_dimension());
  streams.ring = RingStreams{.values = values, .gradients = second_stream(streams, values)};
}

bool has_states(const ModelShape& shape) {
  return shape.delta_net ||
         (shape.hybrid && (shape.hybrid->order + shape.hybrid->predictor).find('M') != std::string::npos);
}

// One communicator of all context-parallel ranks serves attention and layers with a state.
void add_heads(const RankLayout& layout, const ParallelOptions& parallel, StepStreams& streams) {
  if (parallel.cp == 1) return;
  if (parallel.ulysses > 1 && parallel.ring() > 1) {
    streams.heads = add_dimension(streams, layout.context_dimension());
  } else {
    streams.heads = streams.context ? *streams.context : streams.ring->values;
  }
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
  const bool with_others = parallel.sharding.parameters && !parallel.shards_experts_apart();
  const bool alone = parallel.expert_replicas() == 1 || with_others;
  if (!alone) streams.expert_data = add_dimension(streams, layout.expert_data_dimension());
}

// Groups of neighbours within the groups of a dimension.
Dimension neighbours(const Dimension& whole, const char* name, int size, std::size_t ranks) {
  Dimension dimension;
  dimension.name = name;
  for (const std::vector<RankId>& group : whole.groups) {
    for (std::size_t first = 0; first < group.size(); first += static_cast<std::size_t>(size)) {
      const auto begin = group.begin() + static_cast<std::ptrdiff_t>(first);
      dimension.groups.emplace_back(begin, begin + size);
    }
  }
  index_groups(dimension, ranks);
  return dimension;
}

// Groups of ranks at the same position among neighbours.
Dimension identical(const Dimension& whole, const char* name, int size, std::size_t ranks) {
  Dimension dimension;
  dimension.name = name;
  for (const std::vector<RankId>& group : whole.groups) {
    for (std::size_t place = 0; place < static_cast<std::size_t>(size); ++place) {
      std::vector<RankId>& members = dimension.groups.emplace_back();
      for (std::size_t i = place; i < group.size(); i += static_cast<std::size_t>(size)) members.push_back(group[i]);
    }
  }
  index_groups(dimension, ranks);
  return dimension;
}

ShardStreams add_shard_streams(StepStreams& streams, const RankLayout& layout, const ParallelOptions& parallel) {
  const ShardingOptions& sharding = parallel.sharding;
  const std::size_t ranks = layout.rank_count();
  const Dimension all = layout.data_dimension();
  const bool copies = sharding.shard < parallel.replicas();
  const Dimension shard = copies ? neighbours(all, "dp_shard", sharding.shard, ranks) : all;
  ShardStreams channels;
  if (parallel.replicas() > 1) channels.shard = add_dimension(streams, shard);
  if (copies) channels.replicate = add_dimension(streams, identical(all, "dp_replicate", sharding.shard, ranks));
  if (sharding.secondary > 1) {
    channels.secondary = add_dimension(streams, neighbours(shard, "dp_secondary", sharding.secondary, ranks));
  }
  if (channels.shard && sharding.master_in_shard) channels.casts = second_stream(streams, *channels.shard).stream;
  if (sharding.quantized_gradients && sharding.node > 1) {
    channels.node = add_dimension(streams, neighbours(shard, "dp_node", sharding.node, ranks));
  }
  if (sharding.quantized_gradients && sharding.node < sharding.shard) {
    channels.across = add_dimension(streams, identical(shard, "dp_across", sharding.node, ranks));
  }
  return channels;
}

void add_replicas(StepStreams& streams, const RankLayout& layout, const ParallelOptions& parallel) {
  const Dimension all = layout.data_dimension();
  const int sharers = parallel.state_sharers();
  if (parallel.optimizer_instances == 1) {
    streams.data.replicas = add_dimension(streams, all);
    return;
  }
  streams.data.replicas = add_dimension(streams, neighbours(all, "dp_shard", sharers, layout.rank_count()));
  streams.data.instances = add_dimension(streams, identical(all, "dp_replicate", sharers, layout.rank_count()));
}

// Every rank alone with its host.
HostStreams add_host(StepStreams& streams, std::size_t ranks) {
  Dimension dimension;
  dimension.name = "host";
  for (std::size_t rank = 0; rank < ranks; ++rank) dimension.groups.push_back({RankId(rank)});
  index_groups(dimension, ranks);
  const CommStream out = add_dimension(streams, std::move(dimension));
  const CommStream in = second_stream(streams, out);
  return {.out = out, .in = in, .cpu = second_stream(streams, out)};
}

bool has_tiles(const ParallelOptions& parallel) {
  return parallel.tensor_overlap.on && parallel.tensor_overlap.method == OverlapMethod::kFlux;
}

StepStreams streams_of_meshes(const ModelShape& shape, const ParallelOptions& parallel) {
  const StageMeshes meshes(parallel.meshes);
  StepStreams streams;
  if (parallel.tp > 1) streams.tensor = add_dimension(streams, meshes.tensor_dimension());
  if (streams.tensor && has_tiles(parallel)) streams.tensor_tiles = second_stream(streams, *streams.tensor);
  if (parallel.dp > 1) streams.data.replicas = add_dimension(streams, meshes.data_dimension());
  if (parallel.pp > 1) {
    std::size_t most = 1;  // messages of a rank to, or from, a neighbouring stage
    for (const StageEnds& ends : meshes.ends(Bytes(1))) most = std::max({most, ends.before.size(), ends.after.size()});
    streams.pipeline =
        PipelineStreams{.forward = {add_dimension(streams, meshes.pipeline_dimension())}, .backward = {}};
    std::vector<CommStream>& forward = streams.pipeline->forward;
    while (forward.size() < most) forward.push_back(second_stream(streams, forward.front()));
    while (streams.pipeline->backward.size() < most) {
      streams.pipeline->backward.push_back(second_stream(streams, forward.front()));
    }
  }
  if (parallel.tp * parallel.pp > 1) streams.model = add_dimension(streams, meshes.model_dimension());
  if (shares_embedding(shape, parallel)) streams.embedding = add_dimension(streams, meshes.embedding_dimension());
  return streams;
}

}  // namespace

StepStreams streams_of_mesh(StepStreams streams, const ParallelOptions& own) {
  if (own.tp == 1) streams.tensor = streams.tensor_tiles = std::nullopt;
  if (own.dp == 1) streams.data.replicas.reset();
  return streams;
}

namespace {

StepStreams streams_of(const RankLayout& layout, const ModelShape& shape, const ParallelOptions& parallel) {
  StepStreams streams;
  if (parallel.tp > 1) streams.tensor = add_dimension(streams, layout.tensor_dimension());
  if (streams.tensor && has_tiles(parallel)) streams.tensor_tiles = second_stream(streams, *streams.tensor);
  add_context(layout, parallel, streams);
  if (has_states(shape)) add_heads(layout, parallel, streams);
  if (shape.experts) add_experts(layout, parallel, streams);
  if (parallel.sharding.parameters) {
    streams.data.shards = add_shard_streams(streams, layout, parallel);
  } else if (parallel.replicas() > 1) {
    add_replicas(streams, layout, parallel);
  }
  if (parallel.pp > 1) {
    const CommStream forward = add_dimension(streams, layout.pipeline_dimension());
    const CommStream backward{.dimension = forward.dimension,
                              .stream = static_cast<StreamIndex>(streams.stream_count++)};
    streams.pipeline = PipelineStreams{.forward = {forward}, .backward = {backward}};
  }
  // If every stage updates its weights independently, there is no global norm.
  if (parallel.tp * parallel.pp > 1 && parallel.flushes())
    streams.model = add_dimension(streams, layout.model_dimension());
  if (shares_embedding(shape, parallel)) streams.embedding = add_dimension(streams, layout.embedding_dimension());
  if (parallel.placement == Placement::kBidirectional) {
    streams.mirror = add_dimension(streams, layout.mirror_dimension());
  }
  if (parallel.workers > 1) streams.workers = add_dimension(streams, layout.worker_dimension());
  if (parallel.offload.any()) streams.host = add_host(streams, layout.rank_count());
  return streams;
}

}  // namespace

StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel) {
  if (!parallel.meshes.empty()) return streams_of_meshes(shape, parallel);
  return streams_of(RankLayout(parallel), shape, parallel);
}

StepStreams make_streams(const ModelShape& shape, const ParallelOptions& parallel, KnownGroups& known,
                         GroupLayouts& layouts) {
  StepStreams streams = streams_without_groups(shape, parallel);
  return known.give(parallel, streams.dimensions, layouts) ? std::move(streams) : make_streams(shape, parallel);
}

StepStreams streams_without_groups(const ModelShape& shape, const ParallelOptions& parallel) {
  if (!parallel.meshes.empty()) return streams_of_meshes(shape, parallel);
  return streams_of(RankLayout(parallel, ListedRanks::kNone), shape, parallel);
}

std::size_t count_dimensions(const ModelShape& shape, const ParallelOptions& parallel) {
  const StepStreams streams = streams_without_groups(shape, parallel);
  return streams.dimensions.size() - (streams.host ? 1 : 0);
}

}  // namespace ringwright::workload
