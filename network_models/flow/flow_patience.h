// The patience of NICs: flows that stand still for as long as their NICs retry are given up, which ends the run.
//
// NICs retransmit unacknowledged data; within a host nothing waits for an acknowledgement, and low priority has to wait
// for high.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "network_models/builtin.h"
#include "network_models/flow/flow_state.h"

namespace ringwright::network_models {

class FlowPatience {
 public:
  FlowPatience(FlowState& state, const ModelOptions& options)
      : state_(state), patience_(options.patience), ranks_per_host_(options.ranks_per_host) {}

  // The flow has no rate from now on: its end is the time at which it will be given up, if ever.
  void stand_still(FlowSlot flow);
  // A flow has entered links at this instant.
  void note_entered(FlowSlot flow) {
    if (patience_ > Duration()) entered_.push_back(flow);
  }
  // At the end of the instant, when all rates are known.
  void look_at_entered() {
    if (!entered_.empty()) look();
  }
  void give_up(FlowSlot flow);
  // The flow that was given up first.
  [[nodiscard]] const std::optional<GivenUp>& given_up() const { return given_up_; }

 private:
  [[nodiscard]] bool may_be_given_up(FlowSlot flow) const;
  void look();

  FlowState& state_;
  Duration patience_;  // 0: forever
  std::uint32_t ranks_per_host_;
  std::vector<FlowSlot> entered_;  // at this instant
  std::optional<GivenUp> given_up_;
  std::uint64_t order_given_up_ = 0;  // of the flow that was given up
};

}  // namespace ringwright::network_models
