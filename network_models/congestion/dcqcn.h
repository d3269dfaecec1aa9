// DCQCN: transfers between hosts as a fluid under congestion control, with queues that mark packets, senders that cut
// their rates, and buffers that pause ports. Inside a host, transfers share links as in the flow model.
//
// Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015). A transfer between hosts also takes
// part in the sharing of its hosts' links (PCIe, NVLink); what it leaves there because its rate is cut is not given to
// others. A connection starts at its line rate and keeps its rate from message to message (connection_rates.h).
// Priorities make no difference, and one rate stands for all queue pairs of a transfer.
#pragma once

#include <vector>

#include "network_models/builtin.h"
#include "network_models/congestion/fabric_flows.h"
#include "network_models/flow/arrivals.h"
#include "network_models/flow/flow_routes.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/instant_events.h"
#include "network_models/flow/latency_queues.h"

namespace ringwright::network_models {

class Dcqcn final : public NetworkModel {
 public:
  explicit Dcqcn(const ModelInputs& inputs)
      : routes_(inputs.router),
        state_(inputs.engine, inputs.router.capacities()),
        fabric_(inputs.router.capacities(), inputs.links, inputs.options.congestion),
        events_(inputs.engine) {}

  void start(const Transfer& transfer, TransferListener& listener) override;
  [[nodiscard]] bool set_aside(std::span<const LinkId> links, TimePoint until) override {
    return state_.meters.set_aside(links, state_.engine.now(), until);
  }
  void end_aside(std::span<const LinkId> links, TimePoint until) override { state_.meters.end_aside(links, until); }
  [[nodiscard]] bool trespassed() const override { return state_.meters.trespassed(); }
  [[nodiscard]] bool trespassed_on(std::span<const LinkId> links, TimePoint since) const override {
    return state_.meters.trespassed_on(links, since);
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const override;
  [[nodiscard]] std::vector<Counter> counters() const override;

 private:
  void end_instant();
  void wake();
  void begin(FlowSlot flow);
  void finish(FlowSlot flow);
  void end_repetition(FlowSlot flow);

  // Each link that the flow crosses, with the bytes on it for each byte of the flow.
  template <class Visit>
  void for_each_link(FlowSlot flow, Visit&& visit) const {
    for (const LinkShare& hop : state_.shares.route(flow)) visit(hop.link, hop.share);
    if (fabric_.crosses(flow)) {
      fabric_.for_each_link(flow, [&](const FabricFlows::Crossed& on) { visit(on.link, on.weight); });
    }
  }

  FlowRoutes routes_;
  FlowState state_;
  FabricFlows fabric_;
  LatencyQueues latency_queues_;
  InstantEvents events_;
  Arrivals arrivals_;             // of this instant
  std::vector<FlowSlot> again_;   // of this instant: repetitions that follow
  std::vector<FlowSlot> due_;     // scratch of wake
  std::vector<Hop> in_hosts_;     // scratch of start
};

}  // namespace ringwright::network_models
