// Chakra traces as graphs of nodes, with the durations and slots that ASTRA-sim gives them.
#pragma once

#include <optional>

#include "configs/astra/astra_calls.h"
#include "configs/astra/astra_settings.h"
#include "core/plan/node_graph.h"
#include "traces/chakra/trace.h"

namespace ringwright::configs {

// The graph of a rank. Mistakes are reported per node; the graph is then of no use.
[[nodiscard]] NodeGraph astra_rank_graph(const traces::ChakraTrace& trace, const AstraSettings& settings,
                                         AstraCalls& calls, AstraProblems& problems);

// The graph of a position of a collective: sends and receives name positions below `positions`.
[[nodiscard]] NodeGraph astra_collective_graph(const traces::ChakraTrace& trace, std::uint32_t positions,
                                               AstraProblems& problems);

}  // namespace ringwright::configs
