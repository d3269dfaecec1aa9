// The two analytical networks of ASTRA-sim, as the port for messages wants them.
#pragma once

#include <memory>

#include "core/ports/message_network.h"
#include "network_models/astra/topology.h"

namespace ringwright::network_models {

// Messages do not share links: each takes hops * latency + size / bandwidth.
[[nodiscard]] std::unique_ptr<MessageNetworks> make_astra_unaware(const AstraTopology& topology);

// Whole messages wait for each link of their path in order of arrival, and are stored and forwarded between links. One
// dimension only.
[[nodiscard]] std::unique_ptr<MessageNetworks> make_astra_aware(const AstraTopology& topology);

}  // namespace ringwright::network_models
