// Fabric flows: the bytes of transfers that cross switches, as a fluid in steps of time.
//
// While no port queues and every sender may send at its line rate, rates are constant and the next end is known: one
// step leads there. Otherwise a step is short. In a step each sender sends at the least of its rate (ReactionPoint),
// its share of the links of its host and its NIC's port, on which flows share max-min fairly; nothing while the port is
// paused. Ports of switches serve in the order of paths (PortQueues), so that what a switch passes on reaches the next
// one within the same step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/ports/router.h"
#include "network_models/congestion/congestion_settings.h"
#include "network_models/congestion/connection_rates.h"
#include "network_models/congestion/flow_spread.h"
#include "network_models/congestion/link_kinds.h"
#include "network_models/congestion/port_queues.h"
#include "network_models/congestion/reaction_point.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

class FabricFlows {
 public:
  FabricFlows(std::span<const Bandwidth> capacities, std::span<const LinkKind> kinds,
              const CongestionSettings& settings);

  // The path of a flow that is not moving: its hops of the fabric are taken, the others left in `in_hosts`. `feedback`:
  // the time from a mark to its sender.
  void place(FlowSlot flow, const Connection& connection, std::span<const Hop> route, Duration feedback,
             std::vector<Hop>& in_hosts);
  [[nodiscard]] bool crosses(FlowSlot flow) const { return flow < flows_.size() && !flows_[flow].spread.empty(); }
  // Its first byte enters now.
  void enter(FlowSlot flow, double bytes, TimePoint now);
  void forget(FlowSlot flow);
  // What the links of its hosts allow.
  void limit(FlowSlot flow, double rate) { flows_[flow].limit = rate; }

  // Brings all flows up to date; appends those of which all bytes have arrived.
  void advance(TimePoint now, std::vector<FlowSlot>& ended);
  // Fixes the rates from now on; returns when to advance next.
  [[nodiscard]] TimePoint plan(TimePoint now);

  struct Crossed {
    std::uint32_t link = 0;
    double weight = 1.0;  // bytes on it for each byte of the flow
  };
  // Hands each link that the flow crosses to `visit`.
  template <class Visit>
  void for_each_link(FlowSlot flow, Visit&& visit) const {
    for (const FlowSpread::Hop& hop : flows_[flow].spread.hops()) {
      visit(Crossed{.link = hop.link, .weight = hop.weight});
    }
  }
  [[nodiscard]] double arrived(FlowSlot flow, TimePoint now) const;

  struct Counts {
    std::uint64_t steps = 0;
    double cnps = 0.0;
    PortQueues::Counts ports;
  };
  [[nodiscard]] Counts counts() const;
  // What its sender may send, bytes per second; what waits for a link, bytes.
  [[nodiscard]] double rate(FlowSlot flow) const { return flows_[flow].point.rate; }
  [[nodiscard]] double queue(std::uint32_t link) const { return queues_.queue(link); }

 private:
  struct Port {
    PortQueues::PortNumber number = 0;
    double arriving = 0.0;  // bytes of the flow, in this step
  };
  struct Flow {
    FlowSpread spread;
    std::vector<Port> ports;  // by hop of the spread
    double bytes = 0.0;
    double sent = 0.0;
    double arrived = 0.0;
    double limit = 0.0;
    double sending = 0.0;       // bytes per second
    double delay = 0.0;         // of feedback, s
    double stands_for = 0.0;    // flows of its class
    std::uint32_t waiting = 0;  // its parcels at ports
    std::uint32_t connection = 0;
    ReactionPoint point;

    [[nodiscard]] double unsent() const { return bytes - sent; }
  };

  void flow_on(double seconds);
  void step(double seconds);
  void pass_on(FlowSlot slot, std::uint32_t junction, double bytes);
  void serve(PortQueues::PortNumber port, double seconds);
  void count_at_entry(const Flow& flow, const Parcel& parcel, double bytes);
  void react(double seconds);
  void share_nic_ports();
  [[nodiscard]] double marked(const Flow& flow) const;
  [[nodiscard]] bool is_calm();

  std::span<const Bandwidth> capacities_;
  std::span<const LinkKind> kinds_;
  CongestionSettings settings_;
  PortQueues queues_;
  ConnectionRates connections_;
  std::vector<Flow> flows_;
  std::vector<FlowSlot> moving_;
  std::vector<double> loads_;  // scratch, by port: bytes per second
  TimePoint since_;            // of the last advance
  bool calm_ = true;
  int steady_ = 0;  // steps in a row in which rates hardly changed
  Counts counts_;
};

}  // namespace ringwright::network_models
