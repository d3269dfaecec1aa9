// Flow model: a transfer pays its way's latency, then streams at its max-min fair share of every link until it is done.
//
// The standard fluid model of flow-level simulation (Casanova et al., "Versatile, scalable, and accurate simulation of
// distributed applications and platforms", JPDC 2014, section 4.2, with raw fair sharing). Rates are constant between
// solves, so a flow's remaining work is only brought up to date when its rate changes, and its end is known in advance:
// end = now + remaining / rate, rounded to the nearest picosecond. All starts and ends of one instant lead to one
// solve, at the end of the instant. The engine holds one event of this model: the next instant at which a latency has
// been paid or a flow ends.
//
// Fast-forward: a repeated transfer that has its way to itself repeats itself to the picosecond, so its repetitions are
// played as one *train* with one end. When another flow enters one of its links, the train is taken apart where it is.
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
        meters_(inputs.router.capacities().size()),
        train_on_(inputs.router.capacities().size(), kNoTrain) {}

  void start(const Transfer& transfer, TransferListener& listener) override;
  void set_capacity(LinkId link, Bandwidth capacity) override;
  void reroute() override {
    reroute_due_ = true;  // at the end of the instant, when what ends now has ended on its old way
    expect_end_of_instant();
  }
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
    Duration latency;
    std::uint32_t repeats = 1;    // still to come, the present one included
    bool moving = false;  // its latency is paid, its bytes are not all there
    bool train = false;   // all repeats at once, from `settled` on
    Duration period;      // of a train: latency and streaming of one repetition
    RouteQuery query = {};
  };
  static constexpr FlowSlot kNoTrain = std::numeric_limits<FlowSlot>::max();

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
  void set_out(FlowSlot flow);
  void stream(FlowSlot flow);
  void finish(FlowSlot flow);
  void end_repetition(FlowSlot flow);
  void arrive(FlowSlot flow);
  [[nodiscard]] bool may_board(FlowSlot flow) const;
  void board(FlowSlot flow);
  void derail(FlowSlot flow);
  void leave_rails(FlowSlot flow, std::uint32_t repeats_done);
  void take_new_ways();
  void change_way(FlowSlot flow);
  [[nodiscard]] double remaining_now(const Row& row) const;

  Engine& engine_;
  const Router& router_;
  ModelOptions options_;
  IncrementalMaxMin shares_;
  CompletionQueue ends_;
  LatencyLanes lanes_;
  LinkMeters meters_;
  std::vector<FlowSlot> train_on_;  // by link: the train that has it to itself

  std::vector<Row> rows_;  // by flow slot
  std::vector<FlowSlot> free_slots_;
  std::uint64_t started_ = 0;
  std::uint64_t fast_forwarded_ = 0;  // repetitions that were not played one by one
  std::size_t in_flight_ = 0;
  std::size_t most_in_flight_ = 0;
  double largest_error_ = 0.0;

  bool ending_instant_ = false;
  bool reroute_due_ = false;
  TimePoint wake_at_ = kNever;
  EventId wake_event_;

  std::vector<Hop> way_;              // scratch of start
  std::vector<FlowSlot> due_;         // scratch of wake
  std::vector<FlowSlot> again_;       // of this instant: repetitions that follow
  std::vector<Arrival> arrivals_;     // of this instant
};

void FlowModel::start(const Transfer& transfer, TransferListener& listener) {
  const RouteQuery query{.from = transfer.from, .to = transfer.to, .reach = transfer.reach, .label = transfer.label};
  const Duration latency = router_.route(query, way_);
  const FlowSlot flow = free_slot();
  shares_.place(flow, way_);
  rows_[flow] = {.bytes = static_cast<double>(transfer.size.count()),
                 .remaining = static_cast<double>(transfer.size.count()),
                 .settled = engine_.now(),
                 .order = started_,
                 .listener = &listener,
                 .token = transfer.token,
                 .latency = latency,
                 .repeats = transfer.repeats,
                 .query = query};
  started_ += transfer.repeats;
  most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
  set_out(flow);
  expect_end_of_instant();
}

// Starts a repetition, or all that are left at once.
void FlowModel::set_out(FlowSlot flow) {
  if (may_board(flow)) {
    board(flow);
    return;
  }
  lanes_.push(flow, engine_.now(), rows_[flow].latency);
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
  if (reroute_due_) take_new_ways();
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
  again_.clear();
  due_.clear();
  if (lanes_.earliest() == engine_.now()) {
    lanes_.pop_earliest(due_);
    for (const FlowSlot flow : due_) begin(flow);
  }
  due_.clear();
  if (ends_.earliest() == engine_.now()) {
    ends_.pop_earliest(due_);
    for (const FlowSlot flow : due_) {
      const bool ends = rows_[flow].moving || rows_[flow].train;
      ends ? finish(flow) : begin(flow);  // a derailed train may wait here for the rest of its latency
    }
  }
  for (const FlowSlot flow : again_) set_out(flow);
  // The order of starting, so that the order of news does not depend on how the queue keeps flows.
  const auto by_order = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
  if (!std::ranges::is_sorted(arrivals_, by_order)) std::ranges::sort(arrivals_, by_order);
  expect_end_of_instant();
  for (const Arrival& arrival : arrivals_) arrival.listener->on_arrived(arrival.token);
}

void FlowModel::begin(FlowSlot flow) {
  Row& row = rows_[flow];
  if (row.bytes <= 0.0 || shares_.way(flow).empty()) {
    end_repetition(flow);
    return;
  }
  row.remaining = row.bytes;
  row.settled = engine_.now();
  stream(flow);
}

// Enters the links, now or (a derailed train) in the middle of its bytes.
void FlowModel::stream(FlowSlot flow) {
  rows_[flow].moving = true;
  for (const LinkShare& hop : shares_.way(flow)) {
    if (train_on_[hop.link] != kNoTrain) derail(train_on_[hop.link]);
    meters_.enter(hop.link, engine_.now());
  }
  shares_.enter(flow);
}

void FlowModel::finish(FlowSlot flow) {
  Row& row = rows_[flow];
  if (row.train) {
    leave_rails(flow, row.repeats);
    row.repeats = 1;
    end_repetition(flow);
    return;
  }
  for (const LinkShare& hop : shares_.way(flow)) {
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

bool FlowModel::may_board(FlowSlot flow) const {
  const Row& row = rows_[flow];
  if (row.repeats < 2 || row.bytes <= 0.0 || shares_.way(flow).empty() || !shares_.way_is_empty(flow)) return false;
  const auto free = [this](const LinkShare& hop) { return train_on_[hop.link] == kNoTrain; };
  return options_.fast_forward == FastForward::kOn && shares_.rate_alone(flow) > 0.0 &&
         std::ranges::all_of(shares_.way(flow), free);
}

void FlowModel::board(FlowSlot flow) {
  Row& row = rows_[flow];
  row.train = true;
  row.settled = engine_.now();
  row.rate = shares_.rate_alone(flow);
  row.period = row.latency + from_seconds(row.bytes / row.rate);
  for (const LinkShare& hop : shares_.way(flow)) train_on_[hop.link] = flow;
  ends_.set(flow, engine_.now() + row.period * row.repeats);
  fast_forwarded_ += row.repeats;
}

// Books what the train has done and frees its links.
void FlowModel::leave_rails(FlowSlot flow, std::uint32_t repeats_done) {
  Row& row = rows_[flow];
  for (const LinkShare& hop : shares_.way(flow)) {
    train_on_[hop.link] = kNoTrain;
    meters_.carry(hop.link, hop.share * row.bytes * repeats_done);
    meters_.add_busy(hop.link, (row.period - row.latency) * repeats_done);
  }
  row.train = false;
}

// Another flow enters: the train goes on as an ordinary flow from where it is.
void FlowModel::derail(FlowSlot flow) {
  Row& row = rows_[flow];
  const Duration travelled = engine_.now() - row.settled;
  const auto done = static_cast<std::uint32_t>(travelled.count() / row.period.count());
  if (done == row.repeats) return;  // it ends at this very instant and is about to be told so
  const Duration phase = travelled - row.period * done;
  leave_rails(flow, done);
  row.repeats -= done;
  fast_forwarded_ -= row.repeats;
  if (phase < row.latency) {
    ends_.set(flow, engine_.now() + (row.latency - phase));
    return;
  }
  ends_.erase(flow);
  for (const LinkShare& hop : shares_.way(flow)) meters_.add_busy(hop.link, phase - row.latency);
  row.settled = engine_.now() - (phase - row.latency);
  row.remaining = row.bytes;
  row.remaining = remaining_now(row);
  row.settled = engine_.now();
  stream(flow);
}

void FlowModel::arrive(FlowSlot flow) {
  const Row& row = rows_[flow];
  arrivals_.push_back({.order = row.order, .listener = row.listener, .token = row.token});
  free_slots_.push_back(flow);
  --in_flight_;
}

void FlowModel::set_capacity(LinkId link, Bandwidth capacity) {
  if (train_on_[link.index()] != kNoTrain) derail(train_on_[link.index()]);
  shares_.set_capacity(link, capacity);
  expect_end_of_instant();
}

void FlowModel::take_new_ways() {
  reroute_due_ = false;
  for (FlowSlot flow = 0; flow < rows_.size(); ++flow) {
    if (rows_[flow].repeats == 0) continue;  // a free slot
    if (rows_[flow].train) derail(flow);
    // Where the latency is being paid it stays that of the old way; repetitions to come pay the new one.
    rows_[flow].latency = router_.route(rows_[flow].query, way_);
    if (!shares_.is_way(flow, way_)) change_way(flow);
  }
}

// The bytes that have arrived stay with the old links, the rest goes over the new ones (`way_`).
void FlowModel::change_way(FlowSlot flow) {
  Row& row = rows_[flow];
  const double moved = row.moving ? row.bytes - remaining_now(row) : 0.0;
  for (const LinkShare& hop : shares_.way(flow)) {
    meters_.carry(hop.link, hop.share * moved);
    if (row.moving) meters_.leave(hop.link, engine_.now());
  }
  if (row.moving) shares_.leave(flow);
  shares_.replace(flow, way_);
  if (!row.moving) return;
  for (const LinkShare& hop : shares_.way(flow)) meters_.carry(hop.link, -hop.share * moved);  // finish() books all
  row.remaining = row.bytes - moved;
  row.settled = engine_.now();
  row.rate = 0.0;
  ends_.erase(flow);
  stream(flow);
}

std::vector<LinkUsage> FlowModel::usage() const {
  std::vector<LinkUsage> usage = meters_.usage(engine_.now());
  for (std::size_t f = 0; f < rows_.size(); ++f) {
    const Row& row = rows_[f];
    if (!row.moving && !row.train) continue;
    const double moved = row.train ? row.bytes * ratio(engine_.now() - row.settled, row.period)
                                   : row.bytes - remaining_now(row);
    for (const LinkShare& hop : shares_.way(static_cast<FlowSlot>(f))) usage[hop.link].bytes += hop.share * moved;
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

}  // namespace

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs) { return std::make_unique<FlowModel>(inputs); }

}  // namespace ringwright::network_models
