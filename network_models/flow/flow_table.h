// The flows of the flow model that have started and not arrived: one row each, in slots that are reused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ports/network_model.h"
#include "core/ports/router.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

// To the nearest picosecond. Sizes and bandwidths are round numbers, so that times of exactly a half are frequent,
// while the rates of equal flows may differ in their last bit (a folded run sums shares in another order): the boundary
// is where no round numbers meet it.
[[nodiscard]] inline Duration moving_time(double bytes, double rate) {
  constexpr double kOffBoundary = 1.37e-14;  // s, a small part of a picosecond
  return from_seconds(bytes / rate + kOffBoundary);
}

// Of bytes that were left, after moving at a rate for some time.
[[nodiscard]] inline double bytes_left(double bytes, double rate, Duration time) {
  return std::max(bytes - rate * to_seconds(time), 0.0);
}

// How fast a flow is alone on its path.
struct TimeAlone {
  double bytes = 0.0;
  double rate = 0.0;  // bytes per second
  Duration time;      // of so many bytes
};

struct alignas(64) FlowRow {
  double bytes = 0.0;
  double remaining = 0.0;  // as of `settled`
  double rate = 0.0;       // bytes per second, since `settled`
  TimePoint settled;
  Duration latency;
  std::uint32_t repeats = 1;  // remaining, including the current one; 0: a free slot
  std::uint32_t rated = 0;    // by which capacities `alone` is known (PriorityMaxMin); 0: it is not
  bool pays_latency = true;
  bool moving = false;       // its latency is paid, its bytes have not all arrived
  bool batched = false;      // all repeats at once, from `settled` on
  bool stands = false;       // stalled, its NICs retry; its end is the time at which they give it up
  bool in_ring = false;      // an edge of a ring
  bool in_exchange = false;  // a message of an exchange; batched: the messages of a member, or of all
  // It goes on with the rate, the remaining bytes as of `settled` and the end that it had while it went at once; they
  // hold unless its rate changes.
  bool resumed = false;
  bool lone = false;  // batched, and no repeats follow (FlowBatches)
  std::uint64_t order = 0;  // of starting
  // The end of the first line of the cache.
  TransferListener* listener = nullptr;
  std::uint64_t token = 0;
  TimePoint stands_since;
  std::uint64_t route = 0;  // RouteCache::Route::number of its path when it started; 0: none
  TimeAlone alone;          // of `bytes`, while it is batched
  std::uint32_t copies = 1;

  [[nodiscard]] double remaining_at(TimePoint now) const { return bytes_left(remaining, rate, now - settled); }
  // Of a batch: latency and streaming of one repetition.
  [[nodiscard]] Duration period() const { return latency + alone.time; }
};

class FlowTable {
 public:
  // A row of a former flow, numbered in the order of starting; each of its repeats takes a number.
  [[nodiscard]] FlowSlot take(std::uint32_t repeats) { return take_slot(take_numbers(repeats), repeats); }
  // The first of so many numbers in a row.
  [[nodiscard]] std::uint64_t take_numbers(std::uint32_t count) {
    started_ += count;
    return started_ - count;
  }
  // A row whose numbers have been taken.
  [[nodiscard]] FlowSlot take_slot(std::uint64_t order, std::uint32_t repeats) {
    const FlowSlot flow = take_free();
    rows_[flow].rated = 0;
    rows_[flow].route = 0;
    rows_[flow].copies = 1;
    put_in_flight(flow, order, repeats);
    return flow;
  }
  // A row of no flow: what owns links, or waits for an end, in place of several flows.
  [[nodiscard]] FlowSlot take_for_several() {
    const FlowSlot row = take_free();
    rows_[row] = {.repeats = 0};
    return row;
  }
  // A row that rests, for the next flow over its path.
  void take_resting(FlowSlot flow, std::uint32_t repeats) { put_in_flight(flow, take_numbers(repeats), repeats); }
  // The row of a slot just taken, for bytes that set out now. Field by field: building a row and copying it in wide
  // words stalls on store forwarding of its narrow fields, which took a sixth of a ring's time.
  FlowRow& begin(FlowSlot flow, TimePoint now, TransferListener& listener, std::uint64_t token) {
    FlowRow& row = rows_[flow];
    row.rate = 0.0;
    row.settled = now;
    row.listener = &listener;
    row.token = token;
    row.pays_latency = true;
    row.moving = row.batched = row.stands = row.in_ring = row.in_exchange = row.resumed = row.lone = false;
    return row;
  }
  // Of a flow without repeats left: its row is in use no more.
  void give_back(FlowSlot flow) {
    rest();
    free(flow);
  }
  // The same, but the row keeps what it knows of its path until it is taken again or freed.
  void rest() { --in_flight_; }
  // Counts a flow in flight that has no row.
  void set_out() { most_in_flight_ = std::max(most_in_flight_, ++in_flight_); }
  void free(FlowSlot flow) { free_.push_back(flow); }

  [[nodiscard]] FlowRow& operator[](FlowSlot flow) { return rows_[flow]; }
  [[nodiscard]] const FlowRow& operator[](FlowSlot flow) const { return rows_[flow]; }
  // What asked for the flow's path.
  [[nodiscard]] RouteQuery& query(FlowSlot flow) { return queries_[flow]; }
  [[nodiscard]] const RouteQuery& query(FlowSlot flow) const { return queries_[flow]; }
  // Slots, free ones included.
  [[nodiscard]] FlowSlot size() const { return static_cast<FlowSlot>(rows_.size()); }

  // Each repeat is one.
  [[nodiscard]] std::uint64_t started() const { return started_; }
  [[nodiscard]] std::size_t most_in_flight() const { return most_in_flight_; }

 private:
  [[nodiscard]] FlowSlot take_free() {
    if (free_.empty()) {
      free_.push_back(size());
      rows_.emplace_back();
      queries_.emplace_back();
    }
    const FlowSlot flow = free_.back();
    free_.pop_back();
    return flow;
  }
  void put_in_flight(FlowSlot flow, std::uint64_t order, std::uint32_t repeats) {
    rows_[flow].order = order;
    rows_[flow].repeats = repeats;
    set_out();
  }

  std::vector<FlowRow> rows_;
  std::vector<RouteQuery> queries_;  // by row; needed when routes change
  std::vector<FlowSlot> free_;
  std::uint64_t started_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t most_in_flight_ = 0;
};

}  // namespace ringwright::network_models
