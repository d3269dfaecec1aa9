// Which channel algorithm runs a call: the tuner's choice, or a fallback where that one does not support the call.
#pragma once

#include <cstdint>
#include <string_view>

#include "collectives/builtin_channels.h"
#include "collectives/comm_settings.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

// Whether the switches between hosts reduce (SHARP).
enum class NetworkSums : std::uint8_t { kNo, kYes };

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
  explicit PlannedChooser(const ChannelTuner& tuner, NetworkSums sums = NetworkSums::kNo)
      : tuner_(tuner), sums_(sums) {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& call) const override;
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    return {.algorithm = &channel_send(), .plan = tuner_.plan_message(call)};
  }

 private:
  const ChannelTuner& tuner_;
  NetworkSums sums_;
};

// Whether an algorithm, by NCCL's name, reduces over hosts in the network switches.
[[nodiscard]] bool sums_in_network(std::string_view algorithm, int hosts);

}  // namespace ringwright::collectives
