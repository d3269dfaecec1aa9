#include "network_models/congestion/dcqcn.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "network_models/flow/transfer_query.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_dcqcn(const ModelInputs& inputs);

void Dcqcn::start(const Transfer& transfer, TransferListener& listener) {
  const RouteQuery query = query_of(transfer);
  const Duration latency = routes_.find(query, transfer.copies);
  const FlowSlot flow = state_.flows.take(transfer.repeats);
  fabric_.place(flow,
                {.from = query.from,
                 .to = query.to,
                 .route_kind = query.route_kind,
                 .nics = query.nics,
                 .label = query.label},
                routes_.hops(), latency * 2, in_hosts_);
  state_.shares.place(flow, in_hosts_);
  FlowRow& row = state_.flows.begin(flow, state_.engine.now(), listener, transfer.token);
  row.bytes = row.remaining = static_cast<double>(transfer.size.count());
  row.latency = transfer.pays_latency ? latency : Duration();
  latency_queues_.push(flow, row.settled, row.latency);
  events_.at_end([this] { end_instant(); });
}

// Shares of the hosts' links first: they bound what a sender sends.
void Dcqcn::end_instant() {
  const TimePoint now = state_.engine.now();
  for (const FlowSlot flow : state_.shares.solve()) {
    FlowRow& row = state_.flows[flow];
    if (fabric_.crosses(flow)) {
      fabric_.limit(flow, state_.shares.rate(flow));
      continue;
    }
    row.remaining = row.remaining_at(now);
    row.settled = now;
    row.rate = state_.shares.rate(flow);
    if (row.remaining > 0.0 && row.rate <= 0.0) continue;
    state_.ends.set(flow, now + (row.remaining > 0.0 ? moving_time(row.remaining, row.rate) : Duration()));
  }
  const TimePoint next = std::min(latency_queues_.earliest(), state_.ends.earliest());
  events_.wake_at(std::min(next, fabric_.plan(now)), [this] { wake(); });
}

void Dcqcn::wake() {
  const TimePoint now = state_.engine.now();
  again_.clear();
  due_.clear();
  fabric_.advance(now, due_);
  for (const FlowSlot flow : due_) finish(flow);
  due_.clear();
  if (latency_queues_.earliest() == now) {
    latency_queues_.pop_earliest(due_);
    for (const FlowSlot flow : due_) begin(flow);
  }
  due_.clear();
  if (state_.ends.earliest() == now) {
    state_.ends.pop_earliest(due_);
    for (const FlowSlot flow : due_) finish(flow);
  }
  for (const FlowSlot flow : again_) latency_queues_.push(flow, now, state_.flows[flow].latency);
  events_.at_end([this] { end_instant(); });
  arrivals_.notify();
}

void Dcqcn::begin(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  const bool in_hosts = !state_.shares.route(flow).empty();
  if (row.bytes <= 0.0 || (!in_hosts && !fabric_.crosses(flow))) return end_repetition(flow);
  row.remaining = row.bytes;
  row.settled = state_.engine.now();
  row.rate = 0.0;
  row.moving = true;
  for_each_link(flow, [this](std::uint32_t link, double) { state_.meters.enter(link, state_.engine.now()); });
  if (in_hosts) state_.shares.enter(flow);
  if (fabric_.crosses(flow)) fabric_.enter(flow, row.bytes, state_.engine.now());
}

void Dcqcn::finish(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  for_each_link(flow, [&](std::uint32_t link, double weight) {
    state_.meters.carry(link, weight * row.bytes);
    state_.meters.leave(link, state_.engine.now());
  });
  if (!state_.shares.route(flow).empty()) state_.shares.leave(flow);
  row.moving = false;
  end_repetition(flow);
}

void Dcqcn::end_repetition(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (--row.repeats > 0) {
    again_.push_back(flow);
    return;
  }
  state_.shares.forget(flow);
  fabric_.forget(flow);
  arrivals_.add({.order = row.order, .listener = row.listener, .token = row.token});
  state_.flows.give_back(flow);
}

std::vector<LinkUsage> Dcqcn::usage() const {
  const TimePoint now = state_.engine.now();
  std::vector<LinkUsage> usage = state_.meters.usage(now);
  for (FlowSlot flow = 0; flow < state_.flows.size(); ++flow) {
    const FlowRow& row = state_.flows[flow];
    if (row.repeats == 0 || !row.moving) continue;
    const double moved = fabric_.crosses(flow) ? fabric_.arrived(flow, now) : row.bytes - row.remaining_at(now);
    for_each_link(flow, [&](std::uint32_t link, double weight) { usage[link].bytes += weight * moved; });
  }
  return usage;
}

std::vector<NetworkModel::Counter> Dcqcn::counters() const {
  const FabricFlows::Counts counts = fabric_.counts();
  const auto rounded = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  return {{.name = "flows", .value = state_.flows.started()},
          {.name = "most flows at a time", .value = state_.flows.most_in_flight()},
          {.name = "time steps", .value = counts.steps},
          {.name = "CNPs", .value = rounded(counts.cnps)},
          {.name = "largest queue (bytes)", .value = rounded(counts.ports.largest)},
          {.name = "PFC pauses", .value = rounded(counts.ports.pauses)},
          {.name = "PFC pause time of all ports (ns)", .value = rounded(to_seconds(counts.ports.paused) * 1e9)},
          {.name = "PFC pauses ended by the watchdog", .value = counts.ports.watchdogs}};
}

std::unique_ptr<NetworkModel> make_dcqcn(const ModelInputs& inputs) { return std::make_unique<Dcqcn>(inputs); }

}  // namespace ringwright::network_models
