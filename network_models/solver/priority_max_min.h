// Max-min fair shares in two classes of strict priority: high is filled first, low shares the remainder.
//
// The high class is allocated as if it were alone. A link then offers the low class its capacity less the high class's
// load, and the low class is max-min fair on that (strict priority queues; Bertsekas and Gallager, Data Networks,
// section 6.5.2, once per class). Without flows of low priority this is IncrementalMaxMin, and costs as much.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/ports/network_model.h"
#include "network_models/solver/incremental_max_min.h"

namespace ringwright::network_models {

// As IncrementalMaxMin, with a class for each flow.
class PriorityMaxMin {
 public:
  explicit PriorityMaxMin(std::span<const Bandwidth> capacities)
      : capacities_(capacities.begin(), capacities.end()), high_(capacities) {}

  void place(FlowSlot flow, std::span<const Hop> route, Priority priority = Priority::kHigh);
  [[nodiscard]] Priority priority(FlowSlot flow) const {
    return flow < is_low_.size() && is_low_[flow] ? Priority::kLow : Priority::kHigh;
  }
  [[nodiscard]] bool is_of(FlowSlot flow, Priority asked) const {
    return low_ ? priority(flow) == asked : asked == Priority::kHigh;
  }
  [[nodiscard]] std::span<const LinkShare> route(FlowSlot flow) const { return of(flow).route(flow); }
  void prefetch(FlowSlot flow) const { high_.prefetch(flow); }
  [[nodiscard]] bool is_route(FlowSlot flow, std::span<const Hop> route) const {
    return of(flow).is_route(flow, route);
  }
  void enter(FlowSlot flow) { of(flow).enter(flow); }
  void leave(FlowSlot flow);
  void forget(FlowSlot flow) { of(flow).forget(flow); }
  void set_capacity(LinkId link, Bandwidth capacity);
  [[nodiscard]] Bandwidth capacity(std::uint32_t link) const { return capacities_[link]; }
  // Of the present capacities of all links: another number, perhaps other capacities. Never 0.
  [[nodiscard]] std::uint32_t capacities_number() const { return capacities_number_; }
  [[nodiscard]] bool carries(std::uint32_t link) const { return capacities_[link] > Bandwidth(0.0); }

  // Of flows of both classes.
  [[nodiscard]] bool route_is_empty(FlowSlot flow) const;
  [[nodiscard]] bool is_alone(FlowSlot flow) const;  // that has entered
  [[nodiscard]] double rate_alone(FlowSlot flow) const;

  std::span<const FlowSlot> solve();
  [[nodiscard]] double rate(FlowSlot flow) const { return of(flow).rate(flow); }
  [[nodiscard]] double largest_error() const;
  [[nodiscard]] IncrementalMaxMin::Work work() const;

 private:
  [[nodiscard]] const IncrementalMaxMin& of(FlowSlot flow) const {
    return low_ && priority(flow) == Priority::kLow ? *low_ : high_;
  }
  [[nodiscard]] IncrementalMaxMin& of(FlowSlot flow) {
    return low_ && priority(flow) == Priority::kLow ? *low_ : high_;
  }
  void touch_route(FlowSlot flow);
  void offer_rest(std::uint32_t link);

  std::vector<Bandwidth> capacities_;  // by link
  std::uint32_t capacities_number_ = 1;
  IncrementalMaxMin high_;
  std::unique_ptr<IncrementalMaxMin> low_;  // null until the first flow of low priority
  std::vector<bool> is_low_;                // by flow slot; shorter where the rest is high
  std::vector<std::uint32_t> touched_;      // links whose load by the high class may have changed
  std::vector<FlowSlot> changed_;           // scratch of solve
};

}  // namespace ringwright::network_models
