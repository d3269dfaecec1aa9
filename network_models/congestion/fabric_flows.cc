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
    : capacities_(capacities), kinds_(kinds), settings_(settings), queues_(capacities, kinds, settings.buffers) {}

void FabricFlows::place(FlowSlot slot, std::span<const Hop> route, Duration feedback, std::vector<Hop>& in_hosts) {
  if (slot >= flows_.size()) flows_.resize(slot + 1);
  Flow& flow = flows_[slot];
  flow = {};
  in_hosts.clear();
  double line = std::numeric_limits<double>::infinity();
  double flows = 0.0;  // of the class
  for (const Hop& hop : route) {
    const LinkKind kind = kinds_.empty() ? LinkKind() : kinds_[hop.link.index()];
    if (flows <= 0.0) flows = hop.multiplicity * kind.stands_for;
    line = std::min(line, capacities_[hop.link.index()].count() / hop.share);
    if (kind.role == LinkRole::kLossless) {
      in_hosts.push_back(hop);
      continue;
    }
    flow.hops.push_back({.port = hop.link.value,  // its link, until tiers are known
                         .weight = hop.share * hop.multiplicity,
                         .fraction = hop.share * hop.multiplicity * kind.stands_for / flows,
                         .queues = kind.role == LinkRole::kSwitchPort || !flow.hops.empty()});
  }
  flow.delay = to_seconds(feedback);
  flow.stands_for = flows;
  flow.point = starting_at(line);
  flow.limit = std::numeric_limits<double>::infinity();
  find_tiers(flow);
}

// Hops that together take the whole flow stand side by side.
void FabricFlows::find_tiers(Flow& flow) {
  double sum = 0.0;
  for (std::uint32_t h = 0; h < flow.hops.size(); ++h) {
    if (sum <= 0.0) flow.first_of_tier.push_back(h);
    flow.hops[h].tier = static_cast<std::uint32_t>(flow.first_of_tier.size()) - 1;
    sum += flow.hops[h].fraction;
    if (sum >= kAll) sum = 0.0;
  }
  flow.first_of_tier.push_back(static_cast<std::uint32_t>(flow.hops.size()));
  for (std::uint32_t t = 0; t < flow.tiers(); ++t) {
    double whole = 0.0;
    for (const FlowHop& hop : flow.tier(t)) whole += hop.fraction;
    for (FlowHop& hop : flow.tier(t)) {
      hop.fraction /= whole;
      hop.port = queues_.open(hop.port, flow.tiers() - 1 - t);
      if (t == 0) hop.queues = flow.hops.front().queues;
    }
  }
}

void FabricFlows::enter(FlowSlot slot, double bytes) {
  Flow& flow = flows_[slot];
  flow.bytes = bytes;
  flow.sent = flow.arrived = 0.0;
  moving_.insert(std::ranges::lower_bound(moving_, slot), slot);
}

void FabricFlows::forget(FlowSlot slot) {
  if (slot < flows_.size()) flows_[slot].hops.clear();
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

// Bytes that have left the tier before.
void FabricFlows::pass_on(FlowSlot slot, std::uint32_t tier, double bytes) {
  Flow& flow = flows_[slot];
  if (tier < flow.tiers() && !flow.tier(tier).front().queues) ++tier;  // a NIC's port: its rate is shared already
  if (tier >= flow.tiers()) {
    flow.arrived += bytes;
    return;
  }
  for (std::uint32_t h = flow.first_of_tier[tier]; h < flow.first_of_tier[tier + 1]; ++h) {
    FlowHop& hop = flow.hops[h];
    if (hop.arriving <= 0.0) {
      queues_.arrive(hop.port, {.flow = slot, .hop = h, .bytes = 0.0, .weight = hop.weight / hop.fraction});
      ++flow.waiting;
    }
    hop.arriving += bytes * hop.fraction;
  }
}

void FabricFlows::serve(PortQueues::PortNumber port, double seconds) {
  for (Parcel& parcel : queues_.arriving(port)) {
    Flow& flow = flows_[parcel.flow];
    parcel.bytes = std::exchange(flow.hops[parcel.hop].arriving, 0.0);
    count_at_entry(flow, parcel, parcel.bytes);
  }
  queues_.serve(port, seconds, [this](const Parcel& parcel, double bytes, bool gone) {
    Flow& flow = flows_[parcel.flow];
    count_at_entry(flow, parcel, -bytes);
    if (gone) --flow.waiting;
    pass_on(parcel.flow, flow.hops[parcel.hop].tier + 1, bytes);
  });
}

// What waits at a switch counts for the ports over which it entered.
void FabricFlows::count_at_entry(const Flow& flow, const Parcel& parcel, double bytes) {
  const std::uint32_t tier = flow.hops[parcel.hop].tier;
  if (tier == 0) return;
  for (const FlowHop& before : flow.tier(tier - 1)) queues_.buffer(before.port, bytes * before.weight);
}

double FabricFlows::marked(const Flow& flow) const {
  double unmarked = 1.0;
  for (std::uint32_t t = 0; t < flow.tiers(); ++t) {
    double of_tier = 0.0;
    for (const FlowHop& hop : flow.tier(t)) {
      if (hop.queues) of_tier += hop.fraction * queues_.marked(hop.port);
    }
    unmarked *= 1.0 - std::min(of_tier, 1.0);
  }
  return 1.0 - unmarked;
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
  constexpr std::int64_t kLongest = 4;     // steps in one, where rates hardly change
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
      for (const FlowHop& hop : flow.tier(0)) {
        if (!hop.queues) visit(slot, flow, hop);
      }
    }
  };
  for_each_nic_port([this](FlowSlot, Flow& flow, const FlowHop& hop) {
    if (queues_.paused(hop.port)) flow.sending = 0.0;
    loads_[hop.port] += flow.sending * hop.weight;
  });
  for_each_nic_port([&](FlowSlot slot, Flow& flow, const FlowHop& hop) {
    if (loads_[hop.port] * kAll <= queues_.capacity(hop.port)) return;
    demands.push_back({.port = hop.port, .rate = flow.sending, .flow = slot, .weight = hop.weight});
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
    for (const FlowHop& hop : flow.hops) {
      if (hop.queues) loads_[hop.port] += flow.sending * hop.weight;
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
