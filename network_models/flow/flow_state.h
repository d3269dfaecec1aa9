// What the parts of the flow model share: its flows, their shares of links, their ends, and the meters of links.
#pragma once

#include <span>

#include "core/engine/engine.h"
#include "core/ports/router.h"
#include "network_models/flow/completion_queue.h"
#include "network_models/flow/flow_table.h"
#include "network_models/flow/link_meters.h"
#include "network_models/solver/priority_max_min.h"

namespace ringwright::network_models {

struct FlowState {
  FlowState(Engine& clock, std::span<const Bandwidth> capacities)
      : engine(clock), shares(capacities), meters(capacities.size()) {}

  // Asks for what is needed of a flow soon: its row, then its route and links.
  void prefetch_row(FlowSlot flow) const {
    const auto* const row = reinterpret_cast<const char*>(&flows[flow]);
    __builtin_prefetch(row);
    __builtin_prefetch(row + 64);
    shares.prefetch(flow);
    ends.prefetch(flow);
  }
  void prefetch_route(FlowSlot flow) const {
    for (const LinkShare& hop : shares.route(flow)) meters.prefetch(hop.link);
  }

  Engine& engine;
  FlowTable flows;
  PriorityMaxMin shares;
  CompletionQueue ends;
  LinkMeters meters;
};

}  // namespace ringwright::network_models
