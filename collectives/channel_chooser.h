// Which channel algorithm plays a call: the one of the tuner's plan, or the next best where that one cannot.
#pragma once

#include "collectives/builtin_channels.h"
#include "collectives/comm_settings.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

// One plan for all calls.
class FixedTuner final : public ChannelTuner {
 public:
  explicit FixedTuner(const CollectivePlan& plan) : plan_(plan) {}
  [[nodiscard]] CollectivePlan plan(const CollectiveCall&) const override { return plan_; }
  [[nodiscard]] CollectivePlan plan_message(const MessageCall&) const override;

 private:
  CollectivePlan plan_;
};

class PlannedChooser final : public ChannelChooser {
 public:
  explicit PlannedChooser(const ChannelTuner& tuner) : tuner_(tuner) {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& call) const override;
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    return {.algorithm = &channel_send(), .plan = tuner_.plan_message(call)};
  }

 private:
  const ChannelTuner& tuner_;
};

}  // namespace ringwright::collectives
