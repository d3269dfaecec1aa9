#include "network_models/congestion/fabric_flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "network_models/flow/completion_queue.h"
#include "network_models/flow/flow_table.h"

namespace ringwright::network_models {
namespace {

constexpr double kPicosecond = 1e-12;
constexpr double kAll = 1.0 - 1e-9;

}  // namespace

FabricFlows::FabricFlows(std::span<const Bandwidth> capacities, std::span<const LinkKind> kinds,
                         const CongestionSettings& settings)
    : capacities_(capacities),
      kinds_(kinds),
      settings_(settings),
      queues_(capacities, kinds, settings.buffers),
      connections_(settings.rates) {}

void FabricFlows::place(FlowSlot slot, const Connection& connection, std::span<const Hop> route, Duration feedback,
                        std::vector<Hop>& in_hosts) {
  if (slot >= flows_.size()) flows_.resize(slot + 1);
  Flow& flow = flows_[slot];
  flow = {};
  in_hosts.clear();
  double line = std::numeric_limits<double>::infinity();
  for (const Hop& hop : route) {
    const LinkKind kind = kinds_.empty() ? LinkKind() : kinds_[hop.link.index()];
    if (flow.stands_for <= 0.0) flow.stands_for = hop.multiplicity * kind.stands_for;
    line = std::min(line, capacities_[hop.link.index()].count() / hop.share);
    if (kind.role == LinkRole::kLossless) in_hosts.push_back(hop);
  }
  flow.spread = FlowSpread(route, kinds_);
  for (const FlowSpread::Hop& hop : flow.spread.hops()) flow.ports.push_back({queues_.open(hop.link, hop.after)});
  flow.delay = to_seconds(feedback);
  if (!flow.spread.empty()) flow.connection = connections_.number(connection);
  flow.point = starting_at(line);
  flow.limit = std::numeric_limits<double>::infinity();
}

void FabricFlows::enter(FlowSlot slot, double bytes, TimePoint now) {
  Flow& flow = flows_[slot];
  flow.point = connections_.begin(flow.connection, flow.point.line, now);
  flow.bytes = bytes;
  flow.sent = flow.arrived = 0.0;
  moving_.insert(std::ranges::lower_bound(moving_, slot), slot);
}

void FabricFlows::forget(FlowSlot slot) {
  if (slot < flows_.size()) flows_[slot].spread = {};
}

void FabricFlows::advance(TimePoint now, std::vector<FlowSlot>& ended) {
  const double seconds = to_seconds(now - since_);
  since_ = now;
  if (seconds <= 0.0 || moving_.empty()) return;
  if (calm_) {
    flow_on(seconds);
  } else {
    step(seconds);
    if (settings_.rates.reacts) react(seconds);
    queues_.update_pauses(now);
  }
  std::erase_if(moving_, [&](FlowSlot slot) {
    Flow& flow = flows_[slot];
    if (flow.unsent() > 0.0 || flow.waiting > 0) return false;
    flow.arrived = flow.bytes;
    connections_.end(flow.connection, flow.point, now);
    ended.push_back(slot);
    return true;
  });
}

void FabricFlows::flow_on(double seconds) {
  const double forgets = std::exp(-settings_.rates.gain * seconds / to_seconds(settings_.rates.alpha_timer));
  for (const FlowSlot slot : moving_) {
    Flow& flow = flows_[slot];
    const double moved = flow.sending * seconds;
    flow.sent = flow.unsent() - moved <= flow.sending * kPicosecond ? flow.bytes : flow.sent + moved;
    flow.arrived = flow.sent;
    flow.point.alpha *= forgets;
  }
}

void FabricFlows::step(double seconds) {
  ++counts_.steps;
  for (const FlowSlot slot : moving_) {
    Flow& flow = flows_[slot];
    if (flow.unsent() <= 0.0 || flow.sending <= 0.0) continue;
    double bytes = std::min(flow.sending * seconds, flow.unsent());
    if (flow.unsent() - bytes <= flow.sending * kPicosecond) bytes = flow.unsent();
    flow.sent = bytes < flow.unsent() ? flow.sent + bytes : flow.bytes;
    pass_on(slot, 0, bytes);
  }
  for (const PortQueues::PortNumber port : queues_.in_order()) serve(port, seconds);
}

// Bytes that have come to a junction.
void FabricFlows::pass_on(FlowSlot slot, std::uint32_t junction, double bytes) {
  Flow& flow = flows_[slot];
  if (junction == FlowSpread::kEnd) {
    flow.arrived += bytes;
    return;
  }
  for (std::uint32_t h = flow.spread.first_from(junction); h < flow.spread.end_from(junction); ++h) {
    const FlowSpread::Hop& hop = flow.spread[h];
    if (!hop.queues) {  // a NIC's port: its rate is shared already
      pass_on(slot, hop.to, bytes * hop.fraction);
      continue;
    }
    Port& port = flow.ports[h];
    if (port.arriving <= 0.0) {
      queues_.arrive(port.number, {.flow = slot, .hop = h, .bytes = 0.0, .weight = hop.weight / hop.of_flow});
      ++flow.waiting;
    }
    port.arriving += bytes * hop.fraction;
  }
}

void FabricFlows::serve(PortQueues::PortNumber port, double seconds) {
  for (Parcel& parcel : queues_.arriving(port)) {
    Flow& flow = flows_[parcel.flow];
    parcel.bytes = std::exchange(flow.ports[parcel.hop].arriving, 0.0);
    count_at_entry(flow, parcel, parcel.bytes);
  }
  queues_.serve(port, seconds, [this](const Parcel& parcel, double bytes, bool gone) {
    Flow& flow = flows_[parcel.flow];
    count_at_entry(flow, parcel, -bytes);
    if (gone) --flow.waiting;
    pass_on(parcel.flow, flow.spread[parcel.hop].to, bytes);
  });
}

// What waits at a switch counts for the ports over which it entered.
void FabricFlows::count_at_entry(const Flow& flow, const Parcel& parcel, double bytes) {
  for (const std::uint32_t before : flow.spread.into(flow.spread[parcel.hop].from)) {
    queues_.buffer(flow.ports[before].number, bytes * flow.spread[before].entered);
  }
}

double FabricFlows::marked(const Flow& flow) const {
  return flow.spread.marked([&](std::uint32_t hop) { return queues_.marked(flow.ports[hop].number); });
}

void FabricFlows::react(double seconds) {
  constexpr double kHardly = 1e-3;
  double changed = 0.0;
  for (const FlowSlot slot : moving_) {
    Flow& flow = flows_[slot];
    if (flow.unsent() <= 0.0) continue;
    const double before = flow.point.rate;
    counts_.cnps += flow.stands_for *
                    ringwright::network_models::advance(flow.point, settings_.rates, marked(flow), flow.delay, seconds);
    changed = std::max(changed, std::abs(flow.point.rate - before) / before);
  }
  steady_ = changed < kHardly ? steady_ + 1 : 0;
}

TimePoint FabricFlows::plan(TimePoint now) {
  constexpr std::int64_t kLongest = 4;  // steps in one, where rates hardly change
  constexpr int kSteadySteps = 16;
  if (moving_.empty()) return kNever;
  for (const FlowSlot slot : moving_) {
    Flow& flow = flows_[slot];
    flow.sending = flow.unsent() > 0.0 ? std::min(flow.point.rate, flow.limit) : 0.0;
  }
  share_nic_ports();
  calm_ = is_calm();
  Duration next = calm_ ? kClockEnd : settings_.step * (steady_ >= kSteadySteps ? kLongest : 1);
  for (const FlowSlot slot : moving_) {
    const Flow& flow = flows_[slot];
    if (flow.sending <= 0.0) continue;
    next = std::min(next, std::max(moving_time(flow.unsent(), flow.sending), Duration(1)));
  }
  return calm_ && next == kClockEnd ? kNever : now + next;
}

// Max-min: no flow of a full port sends less than another could be cut to.
void FabricFlows::share_nic_ports() {
  struct Demand {
    PortQueues::PortNumber port;
    double rate;
    FlowSlot flow;
    double weight;
  };
  std::vector<Demand> demands;
  loads_.assign(queues_.size(), 0.0);
  const auto for_each_nic_port = [this](const auto& visit) {
    for (const FlowSlot slot : moving_) {
      Flow& flow = flows_[slot];
      if (flow.sending <= 0.0) continue;
      for (std::uint32_t h = 0; h < flow.spread.end_from(0); ++h) {
        if (!flow.spread[h].queues) visit(slot, flow, flow.ports[h].number, flow.spread[h].weight);
      }
    }
  };
  for_each_nic_port([this](FlowSlot, Flow& flow, PortQueues::PortNumber port, double weight) {
    if (queues_.paused(port)) flow.sending = 0.0;
    loads_[port] += flow.sending * weight;
  });
  for_each_nic_port([&](FlowSlot slot, Flow& flow, PortQueues::PortNumber port, double weight) {
    if (loads_[port] * kAll <= queues_.capacity(port)) return;
    demands.push_back({.port = port, .rate = flow.sending, .flow = slot, .weight = weight});
  });
  std::ranges::sort(demands, [](const Demand& a, const Demand& b) {
    return a.port != b.port ? a.port < b.port : a.rate != b.rate ? a.rate < b.rate : a.flow < b.flow;
  });
  for (std::size_t first = 0; first < demands.size();) {
    std::size_t end = first;
    double weights = 0.0;
    for (; end < demands.size() && demands[end].port == demands[first].port; ++end) weights += demands[end].weight;
    double left = queues_.capacity(demands[first].port);
    for (; first < end; ++first) {
      const Demand& demand = demands[first];
      const double rate = std::min(demand.rate, left / weights);
      left -= rate * demand.weight;
      weights -= demand.weight;
      flows_[demand.flow].sending = std::min(flows_[demand.flow].sending, rate);
    }
  }
}

// Rates are constant: no sender is held back by marks, and no port of a switch fills.
bool FabricFlows::is_calm() {
  if (!queues_.empty()) return false;
  loads_.assign(queues_.size(), 0.0);
  for (const FlowSlot slot : moving_) {
    const Flow& flow = flows_[slot];
    if (settings_.rates.reacts && flow.point.rate < flow.point.line * kAll) return false;
    for (std::uint32_t h = 0; h < flow.ports.size(); ++h) {
      if (flow.spread[h].queues) loads_[flow.ports[h].number] += flow.sending * flow.spread[h].weight;
    }
  }
  for (PortQueues::PortNumber port = 0; port < loads_.size(); ++port) {
    if (loads_[port] * kAll > queues_.capacity(port)) return false;
  }
  return true;
}

double FabricFlows::arrived(FlowSlot slot, TimePoint now) const {
  const Flow& flow = flows_[slot];
  const double since = flow.sending * to_seconds(now - since_);
  return std::min(flow.arrived + (flow.sent > flow.arrived && flow.sending <= 0.0 ? 0.0 : since), flow.bytes);
}

FabricFlows::Counts FabricFlows::counts() const {
  Counts counts = counts_;
  counts.ports = queues_.counts();
  return counts;
}

}  // namespace ringwright::network_models
