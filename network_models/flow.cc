// Flow model: a transfer pays its way's latency, then streams at its max-min fair share of every link until it is done.
//
// The standard fluid model of flow-level simulation (Casanova et al., "Versatile, scalable, and accurate simulation of
// distributed applications and platforms", JPDC 2014, section 4.2, with raw fair sharing). Rates are constant between
// solves, so a flow's remaining work is only brought up to date when its rate changes, and its end is known in advance:
// end = now + remaining / rate, rounded to the nearest picosecond. All starts and ends of one instant lead to one
// solve, at the end of the instant. The engine holds one event of this model: the next instant at which a latency has
// been paid or a flow ends.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/engine.h"
#include "network_models/builtin.h"
#include "network_models/completion_queue.h"
#include "network_models/incremental_max_min.h"
#include "network_models/latency_lanes.h"
#include "network_models/link_meters.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs);

namespace {

class FlowModel final : public NetworkModel {
 public:
  explicit FlowModel(const ModelInputs& inputs)
      : engine_(inputs.engine),
        router_(inputs.router),
        options_(inputs.options),
        shares_(inputs.router.capacities()),
        meters_(inputs.router.capacities().size()) {}

  void start(const Transfer& transfer, TransferListener& listener) override;
  [[nodiscard]] std::vector<LinkUsage> usage() const override;
  [[nodiscard]] std::vector<Counter> counters() const override;

 private:
  struct alignas(64) Row {
    double bytes = 0.0;
    double remaining = 0.0;  // as of `settled`
    double rate = 0.0;       // bytes per second, since `settled`
    TimePoint settled;
    std::uint64_t order = 0;  // of starting
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    bool moving = false;  // its latency is paid, its bytes are not all there
  };
  struct Arrival {
    std::uint64_t order;
    TransferListener* listener;
    std::uint64_t token;
  };

  FlowSlot free_slot();
  void expect_end_of_instant();
  void end_instant();
  void settle(FlowSlot flow);
  void wake_up_next();
  void wake();
  void begin(FlowSlot flow);
  void finish(FlowSlot flow);
  void arrive(FlowSlot flow);
  [[nodiscard]] double remaining_now(const Row& row) const;

  Engine& engine_;
  const Router& router_;
  ModelOptions options_;
  IncrementalMaxMin shares_;
  CompletionQueue ends_;
  LatencyLanes lanes_;
  LinkMeters meters_;

  std::vector<Row> rows_;  // by flow slot
  std::vector<FlowSlot> free_slots_;
  std::uint64_t started_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t most_in_flight_ = 0;
  double largest_error_ = 0.0;

  bool ending_instant_ = false;
  TimePoint wake_at_ = kNever;
  EventId wake_event_;

  std::vector<Hop> way_;              // scratch of start
  std::vector<FlowSlot> due_;         // scratch of wake
  std::vector<Arrival> arrivals_;     // of this instant
};

void FlowModel::start(const Transfer& transfer, TransferListener& listener) {
  const Duration latency = router_.route(
      {.from = transfer.from, .to = transfer.to, .reach = transfer.reach, .label = transfer.label}, way_);
  const FlowSlot flow = free_slot();
  shares_.place(flow, way_);
  rows_[flow] = {.bytes = static_cast<double>(transfer.size.count()),
                 .remaining = static_cast<double>(transfer.size.count()),
                 .settled = engine_.now(),
                 .order = started_++,
                 .listener = &listener,
                 .token = transfer.token};
  most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
  lanes_.push(flow, engine_.now(), latency);
  expect_end_of_instant();
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
  for (const FlowSlot flow : shares_.solve()) settle(flow);
  if (options_.verify_fairness) largest_error_ = std::max(largest_error_, shares_.largest_error());
  wake_up_next();
}

double FlowModel::remaining_now(const Row& row) const {
  return std::max(row.remaining - row.rate * to_seconds(engine_.now() - row.settled), 0.0);
}

// The flow has a new rate from now on.
void FlowModel::settle(FlowSlot flow) {
  constexpr double kEndOfClock = 9e6;  // seconds; what ends later than the clock can say stands still
  Row& row = rows_[flow];
  row.remaining = remaining_now(row);
  row.settled = engine_.now();
  row.rate = shares_.rate(flow);
  const double seconds = row.remaining > 0.0 ? row.remaining / row.rate : 0.0;
  if (seconds < kEndOfClock - to_seconds(engine_.now().since_start())) {
    ends_.set(flow, engine_.now() + from_seconds(seconds));
    return;
  }
  ends_.erase(flow);
}

void FlowModel::wake_up_next() {
  const TimePoint next = std::min(lanes_.earliest(), ends_.earliest());
  if (next == wake_at_) return;
  if (wake_at_ != kNever) engine_.cancel(wake_event_);
  wake_at_ = next;
  if (next != kNever) wake_event_ = engine_.at(next, [this] { wake(); });
}

void FlowModel::wake() {
  wake_at_ = kNever;
  arrivals_.clear();
  due_.clear();
  if (lanes_.earliest() == engine_.now()) {
    lanes_.pop_earliest(due_);
    for (const FlowSlot flow : due_) begin(flow);
  }
  due_.clear();
  if (ends_.earliest() == engine_.now()) {
    ends_.pop_earliest(due_);
    for (const FlowSlot flow : due_) finish(flow);
  }
  // The order of starting, so that the order of news does not depend on how the queue keeps flows.
  const auto by_order = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
  if (!std::ranges::is_sorted(arrivals_, by_order)) std::ranges::sort(arrivals_, by_order);
  expect_end_of_instant();
  for (const Arrival& arrival : arrivals_) arrival.listener->on_arrived(arrival.token);
}

void FlowModel::begin(FlowSlot flow) {
  Row& row = rows_[flow];
  if (row.bytes <= 0.0 || shares_.way(flow).empty()) {
    shares_.forget(flow);
    arrive(flow);
    return;
  }
  row.moving = true;
  row.settled = engine_.now();
  for (const LinkShare& hop : shares_.way(flow)) meters_.enter(hop.link, engine_.now());
  shares_.enter(flow);
}

void FlowModel::finish(FlowSlot flow) {
  const Row& row = rows_[flow];
  for (const LinkShare& hop : shares_.way(flow)) {
    meters_.carry(hop.link, hop.share * row.bytes);
    meters_.leave(hop.link, engine_.now());
  }
  shares_.leave(flow);
  arrive(flow);
}

void FlowModel::arrive(FlowSlot flow) {
  const Row& row = rows_[flow];
  arrivals_.push_back({.order = row.order, .listener = row.listener, .token = row.token});
  rows_[flow].moving = false;
  free_slots_.push_back(flow);
  --in_flight_;
}

std::vector<LinkUsage> FlowModel::usage() const {
  std::vector<LinkUsage> usage = meters_.usage(engine_.now());
  for (std::size_t f = 0; f < rows_.size(); ++f) {
    if (!rows_[f].moving) continue;
    const double moved = rows_[f].bytes - remaining_now(rows_[f]);
    for (const LinkShare& hop : shares_.way(static_cast<FlowSlot>(f))) usage[hop.link].bytes += hop.share * moved;
  }
  return usage;
}

std::vector<NetworkModel::Counter> FlowModel::counters() const {
  std::vector<Counter> counters = {{.name = "flows", .value = started_},
                                   {.name = "most flows at a time", .value = most_in_flight_},
                                   {.name = "solves", .value = shares_.work().solves},
                                   {.name = "full solves", .value = shares_.work().full_solves},
                                   {.name = "flows re-solved", .value = shares_.work().flows_resolved}};
  if (options_.verify_fairness) {
    counters.push_back({.name = "largest fairness error (parts in 1e18)",
                        .value = static_cast<std::uint64_t>(std::llround(largest_error_ * 1e18))});
  }
  return counters;
}

}  // namespace

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs) { return std::make_unique<FlowModel>(inputs); }

}  // namespace ringwright::network_models
