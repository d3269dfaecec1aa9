#include "core/run/astra/graph_phases.h"

#include "core/run/astra/chunk_streams.h"

namespace ringwright {

void GraphPhases::start(std::uint32_t chunk, ChunkStreams& streams) {
  const ChunkState& state = streams.chunks()[chunk];
  const NodeGraph& graph = sets_[streams.phase_of(state).graph_set][state.position];
  if (graph.nodes.empty()) {
    streams.finish_phase(chunk);
    return;
  }
  running_[chunk] = {.graph = &graph, .waits_for = graph.dependencies, .left = graph.nodes.size()};
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.dependencies[node] == 0) begin(chunk, node, streams);
  }
}

void GraphPhases::begin(std::uint32_t chunk, std::uint32_t index, const ChunkStreams& streams) {
  const GraphNode& node = running_[chunk].graph->nodes[index];
  const ChunkState& state = streams.chunks()[chunk];
  const OpenCollective& open = streams.collective(state.collective);
  const auto rank_at = [&](std::uint32_t position) { return open.members.empty() ? position : open.members[position]; };
  const std::uint64_t name = std::uint64_t{1} << 63U | std::uint64_t{chunk} << 32U | index;
  const std::uint32_t chunk_index = (chunk - open.first_chunk) % open.plan->chunks;
  NodeMessage message{.tag = node.tag, .graph = open.first_chunk + chunk_index, .bytes = node.bytes};
  const RankEvent done{.kind = RankEventKind::kGraphNodeDone, .index = chunk, .extra = static_cast<Tick>(index)};
  switch (node.work) {
    case NodeWork::kSend:
      message.from = state.rank;
      message.to = rank_at(node.peer);
      messages_.send(message, name);
      break;
    case NodeWork::kReceive:
      message.from = rank_at(node.peer);
      message.to = state.rank;
      if (messages_.receive(message, name)) events_.after(state.rank, 0, done);
      break;
    case NodeWork::kLasting:
    case NodeWork::kCollective:
    case NodeWork::kMemory:
    case NodeWork::kSkipped: events_.after(state.rank, node.duration, done); break;
  }
}

void GraphPhases::on_node_done(std::uint32_t chunk, std::uint32_t node, ChunkStreams& streams) {
  Progress& progress = running_.at(chunk);
  for (const std::uint32_t child : progress.graph->children_of(node)) {
    if (--progress.waits_for[child] == 0) begin(chunk, child, streams);
  }
  if (--progress.left > 0) return;
  running_.erase(chunk);
  streams.finish_phase(chunk);
}

}  // namespace ringwright
