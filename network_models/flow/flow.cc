// Flow model: the life of a flow from its start to its end. The model is described in flow_model.h.
#include "network_models/flow/flow_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "core/base/random.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs);

void FlowModel::start(const Transfer& transfer, TransferListener& listener) {
  const RouteQuery query{.from = transfer.from,
                         .to = transfer.to,
                         .route_kind = transfer.route_kind,
                         .nics = transfer.nics,
                         .label = transfer.label};
  const Duration latency = find_route(query, transfer.copies);
  const FlowSlot flow = free_slot();
  shares_.place(flow, route_, transfer.priority);
  // Field by field: building a row and copying it in wide words stalls on store forwarding of its narrow fields, which
  // took a sixth of a ring's time.
  Row& row = rows_[flow];
  row.bytes = row.remaining = static_cast<double>(transfer.size.count());
  row.rate = 0.0;
  row.settled = engine_.now();
  row.order = started_;
  row.listener = &listener;
  row.token = transfer.token;
  row.latency = transfer.pays_latency ? latency : Duration();
  row.repeats = transfer.repeats;
  row.copies = transfer.copies;
  row.pays_latency = transfer.pays_latency;
  row.moving = row.batched = row.stands = false;
  row.period = Duration();
  row.query = query;
  started_ += transfer.repeats;
  most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
  set_out(flow);
  expect_end_of_instant();
}

// Writes `route_`; returns its latency.
Duration FlowModel::find_route(const RouteQuery& query, std::uint32_t copies) {
  const Duration latency = router_.route(query, route_);
  if (copies == 1) return latency;
  for (Hop& hop : route_) hop.multiplicity *= copies;
  return latency;
}

// Starts a repetition, or all remaining ones as a batch.
void FlowModel::set_out(FlowSlot flow) {
  if (may_start_batch(flow)) {
    join_batch(flow);
    return;
  }
  rows_[flow].settled = engine_.now();
  latency_queues_.push(flow, engine_.now(), rows_[flow].latency);
}

FlowSlot FlowModel::free_slot() {
  if (free_slots_.empty()) {
    rows_.emplace_back();
    return static_cast<FlowSlot>(rows_.size() - 1);
  }
  const FlowSlot flow = free_slots_.back();
  free_slots_.pop_back();
  return flow;
}

void FlowModel::expect_end_of_instant() {
  if (ending_instant_) return;
  ending_instant_ = true;
  engine_.at_end_of_instant([this] { end_instant(); });
}

void FlowModel::end_instant() {
  ending_instant_ = false;
  if (reroute_due_) take_new_routes();
  for (const FlowSlot flow : shares_.solve()) settle(flow);
  if (!entered_.empty()) look_at_entered();
  if (options_.verify_fairness) largest_error_ = std::max(largest_error_, shares_.largest_error());
  wake_up_next();
}

double FlowModel::remaining_now(const Row& row) const {
  return std::max(row.remaining - row.rate * to_seconds(engine_.now() - row.settled), 0.0);
}

// The flow has a new rate from now on. Without one it stalls; an end beyond the clock's range is the clock's end.
void FlowModel::settle(FlowSlot flow) {
  Row& row = rows_[flow];
  row.remaining = remaining_now(row);
  row.settled = engine_.now();
  row.rate = shares_.rate(flow);
  if (row.remaining > 0.0 && row.rate <= 0.0) return stand_still(flow);
  row.stands = false;
  ends_.set(flow, engine_.now() + from_seconds(row.remaining > 0.0 ? row.remaining / row.rate : 0.0));
}

void FlowModel::wake_up_next() {
  const TimePoint next = std::min(latency_queues_.earliest(), ends_.earliest());
  if (next == wake_at_) return;
  if (wake_at_ != kNever) engine_.cancel(wake_event_);
  wake_at_ = next;
  if (next != kNever) wake_event_ = engine_.at(next, [this] { wake(); });
}

void FlowModel::wake() {
  wake_at_ = kNever;
  arrivals_.clear();
  again_.clear();
  due_.clear();
  if (latency_queues_.earliest() == engine_.now()) {
    latency_queues_.pop_earliest(due_);
    for (const FlowSlot flow : due_) begin(flow);
  }
  due_.clear();
  if (ends_.earliest() == engine_.now()) {
    ends_.pop_earliest(due_);
    for (const FlowSlot flow : due_) {
      if (rows_[flow].stands) {
        give_up(flow);
        continue;
      }
      const bool ends = rows_[flow].moving || rows_[flow].batched;
      ends ? finish(flow) : begin(flow);  // a split batch may wait here for the rest of its latency
    }
  }
  for (const FlowSlot flow : again_) set_out(flow);
  // The order of starting, so that the order of notifications does not depend on how the queue stores flows.
  const auto by_order = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
  if (!std::ranges::is_sorted(arrivals_, by_order)) std::ranges::sort(arrivals_, by_order);
  expect_end_of_instant();
  for (const Arrival& arrival : arrivals_) arrival.listener->on_arrived(arrival.token);
}

void FlowModel::begin(FlowSlot flow) {
  Row& row = rows_[flow];
  if (row.bytes <= 0.0 || shares_.route(flow).empty()) {
    end_repetition(flow);
    return;
  }
  row.remaining = row.bytes;
  row.settled = engine_.now();
  stream(flow);
}

// Enters the links, now or (a split batch) in the middle of its bytes.
void FlowModel::stream(FlowSlot flow) {
  rows_[flow].moving = true;
  for (const LinkShare& hop : shares_.route(flow)) {
    if (batch_on_[hop.link] != kNoBatch) split_batch(batch_on_[hop.link]);
    meters_.enter(hop.link, engine_.now());
  }
  shares_.enter(flow);
  if (options_.patience > Duration()) entered_.push_back(flow);
}

void FlowModel::finish(FlowSlot flow) {
  Row& row = rows_[flow];
  if (row.batched) {
    leave_rails(flow, row.repeats);
    row.repeats = 1;
    end_repetition(flow);
    return;
  }
  for (const LinkShare& hop : shares_.route(flow)) {
    meters_.carry(hop.link, hop.share * row.bytes);
    meters_.leave(hop.link, engine_.now());
  }
  shares_.leave(flow);
  row.moving = false;
  end_repetition(flow);
}

void FlowModel::end_repetition(FlowSlot flow) {
  if (--rows_[flow].repeats > 0) {
    again_.push_back(flow);
    return;
  }
  shares_.forget(flow);
  arrive(flow);
}

void FlowModel::arrive(FlowSlot flow) {
  const Row& row = rows_[flow];
  arrivals_.push_back({.order = row.order, .listener = row.listener, .token = row.token});
  free_slots_.push_back(flow);
  --in_flight_;
}

// A sum over flows: the slot of a flow does not matter.
std::optional<std::uint64_t> FlowModel::state_digest() const {
  std::uint64_t sum = 0;
  for (std::size_t f = 0; f < rows_.size(); ++f) {
    const Row& row = rows_[f];
    if (row.repeats == 0) continue;  // a free slot
    const std::uint64_t since = static_cast<std::uint64_t>((engine_.now() - row.settled).count());
    std::uint64_t state = mix(row.listener->identity(row.token), since);
    state = mix(state, std::bit_cast<std::uint64_t>(row.remaining));
    state = mix(state, std::bit_cast<std::uint64_t>(row.rate));
    state = mix(state, static_cast<std::uint64_t>(shares_.priority(static_cast<FlowSlot>(f))));
    state = mix(state, std::uint64_t{row.repeats} * 4 + (row.moving ? 2 : 0) + (row.batched ? 1 : 0));
    for (const LinkShare& hop : shares_.route(static_cast<FlowSlot>(f))) state = mix(state, hop.link);
    sum += state;
  }
  return sum;
}

std::vector<LinkUsage> FlowModel::usage() const {
  std::vector<LinkUsage> usage = meters_.usage(engine_.now());
  for (std::size_t f = 0; f < rows_.size(); ++f) {
    const Row& row = rows_[f];
    if (!row.moving && !row.batched) continue;
    if (row.batched && row.period == Duration()) continue;  // it ends at this instant, and its bytes count then
    const double moved = row.batched ? row.bytes * ratio(engine_.now() - row.settled, row.period)
                                   : row.bytes - remaining_now(row);
    for (const LinkShare& hop : shares_.route(static_cast<FlowSlot>(f))) usage[hop.link].bytes += hop.share * moved;
  }
  return usage;
}

std::vector<NetworkModel::Counter> FlowModel::counters() const {
  std::vector<Counter> counters = {{.name = "flows", .value = started_},
                                   {.name = "most flows at a time", .value = most_in_flight_},
                                   {.name = "solves", .value = shares_.work().solves},
                                   {.name = "full solves", .value = shares_.work().full_solves},
                                   {.name = "flows re-solved", .value = shares_.work().flows_resolved},
                                   {.name = "flows fast-forwarded", .value = fast_forwarded_}};
  if (options_.verify_fairness) {
    counters.push_back({.name = "largest fairness error (parts in 1e18)",
                        .value = static_cast<std::uint64_t>(std::llround(largest_error_ * 1e18))});
  }
  return counters;
}

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs) { return std::make_unique<FlowModel>(inputs); }

}  // namespace ringwright::network_models
