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
// at its current position.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/engine/engine.h"
#include "network_models/builtin.h"
#include "network_models/flow/completion_queue.h"
#include "network_models/flow/latency_queues.h"
#include "network_models/flow/link_meters.h"
#include "network_models/solver/priority_max_min.h"

namespace ringwright::network_models {

class FlowModel final : public NetworkModel {
 public:
  explicit FlowModel(const ModelInputs& inputs)
      : engine_(inputs.engine),
        router_(inputs.router),
        options_(inputs.options),
        shares_(inputs.router.capacities()),
        meters_(inputs.router.capacities().size()),
        batch_on_(inputs.router.capacities().size(), kNoBatch) {}

  void start(const Transfer& transfer, TransferListener& listener) override;
  void set_capacity(LinkId link, Bandwidth capacity) override;
  void reroute() override {
    reroute_due_ = true;  // at the end of the instant, when flows that end now have ended on their old path
    expect_end_of_instant();
  }
  [[nodiscard]] std::optional<GivenUp> given_up() const override { return given_up_; }
  [[nodiscard]] bool set_aside(std::span<const LinkId> links, TimePoint until) override;
  [[nodiscard]] bool trespassed() const override { return meters_.trespassed(); }
  [[nodiscard]] std::optional<std::uint64_t> state_digest() const override;
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
    std::uint32_t repeats = 1;    // remaining, including the current one
    std::uint32_t copies = 1;
    bool pays_latency = true;
    bool moving = false;  // its latency is paid, its bytes have not all arrived
    bool batched = false;  // all repeats at once, from `settled` on
    bool stands = false;  // stalled, its NICs retry; it is among `ends_` with the time at which they give it up
    Duration period;      // of a batch: latency and streaming of one repetition
    TimePoint stands_since;
    RouteQuery query = {};
  };
  static constexpr FlowSlot kNoBatch = std::numeric_limits<FlowSlot>::max();

  struct Arrival {
    std::uint64_t order;
    TransferListener* listener;
    std::uint64_t token;
  };

  Duration find_route(const RouteQuery& query, std::uint32_t copies);
  FlowSlot free_slot();
  void expect_end_of_instant();
  void end_instant();
  void settle(FlowSlot flow);
  [[nodiscard]] bool may_be_given_up(const Row& row) const;
  void stand_still(FlowSlot flow);
  void look_at_entered();
  void give_up(FlowSlot flow);
  void wake_up_next();
  void wake();
  void begin(FlowSlot flow);
  void set_out(FlowSlot flow);
  void stream(FlowSlot flow);
  void finish(FlowSlot flow);
  void end_repetition(FlowSlot flow);
  void arrive(FlowSlot flow);
  [[nodiscard]] bool may_start_batch(FlowSlot flow) const;
  void join_batch(FlowSlot flow);
  void split_batch(FlowSlot flow);
  void leave_rails(FlowSlot flow, std::uint32_t repeats_done);
  void take_new_routes();
  void change_route(FlowSlot flow);
  [[nodiscard]] double remaining_now(const Row& row) const;

  Engine& engine_;
  const Router& router_;
  ModelOptions options_;
  PriorityMaxMin shares_;
  CompletionQueue ends_;
  LatencyQueues latency_queues_;
  LinkMeters meters_;
  std::vector<FlowSlot> batch_on_;  // by link: the batch that uses it alone

  std::vector<Row> rows_;  // by flow slot
  std::vector<FlowSlot> free_slots_;
  std::uint64_t started_ = 0;
  std::uint64_t fast_forwarded_ = 0;  // repetitions that were not simulated one by one
  std::size_t in_flight_ = 0;
  std::size_t most_in_flight_ = 0;
  double largest_error_ = 0.0;

  std::optional<GivenUp> given_up_;
  std::uint64_t order_given_up_ = 0;  // of the flow that was given up

  bool ending_instant_ = false;
  bool reroute_due_ = false;
  TimePoint wake_at_ = kNever;
  EventId wake_event_;

  std::vector<Hop> route_;              // scratch of start
  std::vector<FlowSlot> due_;         // scratch of wake
  std::vector<FlowSlot> again_;       // of this instant: repetitions that follow
  std::vector<FlowSlot> entered_;     // of this instant, where flows may be given up
  std::vector<Arrival> arrivals_;     // of this instant
};

}  // namespace ringwright::network_models
