// Runs the phases of collectives that are given as graphs, one graph per position of the group.
//
// Nodes start as soon as all they depend on is done, without limit; a send is done when it arrives.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/engine/tick_queue.h"
#include "core/plan/node_graph.h"
#include "core/run/astra/chunk_graphs.h"
#include "core/run/astra/node_messages.h"
#include "core/run/astra/rank_events.h"

namespace ringwright {

class GraphPhases final : public ChunkGraphs {
 public:
  GraphPhases(const std::vector<std::vector<NodeGraph>>& sets, NodeMessages& messages, TickQueue& queue,
              RankEvents& events)
      : sets_(sets), messages_(messages), queue_(queue), events_(events) {}

  void start(std::uint32_t chunk, ChunkStreams& streams) override;
  void on_node_done(std::uint32_t chunk, std::uint32_t node, ChunkStreams& streams);

  // Nodes of graphs among those that NodeMessages knows.
  [[nodiscard]] static bool owns(std::uint64_t node) { return (node >> 63U) != 0; }
  void on_message(std::uint64_t node, ChunkStreams& streams) {
    on_node_done(static_cast<std::uint32_t>(node >> 32U) & (UINT32_MAX >> 1U), static_cast<std::uint32_t>(node),
                 streams);
  }

 private:
  struct Progress {
    const NodeGraph* graph = nullptr;
    std::vector<std::uint32_t> waits_for;  // by node
    std::size_t left = 0;
  };

  void begin(std::uint32_t chunk, std::uint32_t node, const ChunkStreams& streams);

  const std::vector<std::vector<NodeGraph>>& sets_;
  NodeMessages& messages_;
  TickQueue& queue_;
  RankEvents& events_;
  std::map<std::uint32_t, Progress> running_;  // by chunk
};

}  // namespace ringwright
