// Flow model: a transfer pays its path's latency, then streams at its max-min fair share of every link until it is
// done.
//
// The standard fluid model of flow-level simulation (Casanova et al., "Versatile, scalable, and accurate simulation of
// distributed applications and platforms", JPDC 2014, section 4.2, with raw fair sharing). Rates are constant between
// solves, so a flow's remaining work is only brought up to date when its rate changes, and its end is known in advance:
// end = now + remaining / rate, rounded to the nearest picosecond. All starts and ends of one instant lead to one
// solve, at the end of the instant. The engine holds one event of this model: the next instant at which a latency has
// been paid or a flow ends.
//
// Fast-forward: a repeated transfer without other flows on its path repeats itself to the picosecond, so its
// repetitions are simulated as one *batch* with one end. When another flow enters one of its links, the batch is split
// at its current position. The same holds for rings (flow_rings.h), whose members wait for each other, and for
// exchanges (flow_exchanges.h), whose messages share links with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/engine.h"
#include "network_models/builtin.h"
#include "network_models/flow/arrivals.h"
#include "network_models/flow/flow_batches.h"
#include "network_models/flow/flow_exchanges.h"
#include "network_models/flow/flow_patience.h"
#include "network_models/flow/flow_rings.h"
#include "network_models/flow/flow_routes.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/idle_flows.h"
#include "network_models/flow/instant_events.h"
#include "network_models/flow/latency_queues.h"
#include "network_models/flow/moved_connections.h"

namespace ringwright::network_models {

class FlowModel final : public NetworkModel {
 public:
  explicit FlowModel(const ModelInputs& inputs)
      : routes_(inputs.router),
        state_(inputs.engine, inputs.router.capacities()),
        idle_(state_, routes_.known()),
        batches_(state_, inputs.options.fast_forward),
        rings_(state_, batches_),
        exchanges_(state_, batches_, routes_),
        patience_(state_, inputs.options),
        events_(inputs.engine),
        moves_(inputs.options) {
    if (inputs.options.verify_fairness) largest_error_ = 0.0;
  }

  void start(const Transfer& transfer, TransferListener& listener) override;
  void start_coupled(const CoupledTransfer& coupled, TransferListener& listener) override;
  [[nodiscard]] std::optional<std::uint32_t> open_ring(const RingShape& shape) override;
  void start_member(RingPlace place, const RingMember& member, TransferListener& listener) override;
  [[nodiscard]] std::uint32_t arrived_in(std::uint32_t ring, std::uint32_t edge) const override {
    return rings_.arrived_in(ring, edge);
  }
  [[nodiscard]] std::optional<std::uint32_t> open_exchange(const Exchange& exchange) override;
  void start_in_exchange(ExchangePlace place, std::uint64_t token, TransferListener& listener) override;
  [[nodiscard]] bool has_arrived(std::uint32_t exchange, std::uint32_t edge) const override {
    return exchanges_.has_arrived(exchange, edge);
  }
  void set_capacity(LinkId link, Bandwidth capacity) override;
  void reroute() override;
  [[nodiscard]] std::optional<GivenUp> given_up() const override { return patience_.given_up(); }
  [[nodiscard]] bool set_aside(std::span<const LinkId> links, TimePoint until) override;
  void end_aside(std::span<const LinkId> links, TimePoint until) override { state_.meters.end_aside(links, until); }
  [[nodiscard]] bool trespassed() const override { return state_.meters.trespassed(); }
  [[nodiscard]] bool trespassed_on(std::span<const LinkId> links, TimePoint since) const override {
    return state_.meters.trespassed_on(links, since);
  }
  [[nodiscard]] std::optional<std::uint64_t> state_digest() const override;
  [[nodiscard]] std::vector<LinkUsage> usage() const override;
  [[nodiscard]] std::vector<Counter> counters() const override;

 private:
  // How many flows ahead rows are prefetched where many flows end at one instant.
  static constexpr std::size_t kAhead = 4;

  // What becomes of flows whose latency is paid, or that end, at one instant.
  struct Instant {
    Arrivals arrivals;
    std::vector<FlowSlot> again;  // repetitions that follow
    std::vector<FlowSlot> due;    // scratch of wake
  };

  void expect_end_of_instant() {
    events_.at_end([this] { end_instant(); });
  }
  void end_instant();
  void settle(FlowSlot flow);
  void wake_up_next();
  void wake();
  void begin(FlowSlot flow);
  void end_wait(FlowSlot flow);
  void end_lone(FlowSlot flow);
  void set_out(FlowSlot flow);
  void pay_latency(FlowSlot flow);
  void stream(FlowSlot flow);
  void finish(FlowSlot flow);
  void end_repetition(FlowSlot flow);
  void split_batch(FlowSlot flow);
  void take_new_routes();
  void change_route(FlowSlot flow);

  FlowRoutes routes_;
  FlowState state_;
  IdleFlows idle_;
  FlowBatches batches_;
  FlowRings rings_;
  FlowExchanges exchanges_;
  FlowPatience patience_;
  LatencyQueues latency_queues_;
  InstantEvents events_;
  MovedConnections moves_;
  std::optional<double> largest_error_;  // of shares; empty: not verified
  Instant instant_;
};

}  // namespace ringwright::network_models
