// The two analytical networks of ASTRA-sim for jobs of node graphs. Their rules for the transfers of any scenario are
// the network models `astra_unaware` and `astra_aware` of the table.
#pragma once

#include <memory>

#include "core/ports/message_network.h"
#include "network_models/topologies/dimensions/astra_topology.h"

namespace ringwright::network_models {

// Messages do not share links: each takes hops * latency + size / bandwidth.
[[nodiscard]] std::unique_ptr<MessageNetworks> make_astra_unaware(const AstraTopology& topology);

// Whole messages wait for each link of their path in order of arrival, and are stored and forwarded between links. One
// dimension only.
[[nodiscard]] std::unique_ptr<MessageNetworks> make_astra_aware(const AstraTopology& topology);

}  // namespace ringwright::network_models
