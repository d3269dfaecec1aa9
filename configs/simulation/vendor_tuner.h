// The libraries of two vendors in one cluster: each chooses for communicators of its own GPUs.
#pragma once

#include <vector>

#include "collectives/nccl/tuner.h"
#include "configs/scenario/scenario.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::configs {

// A communicator of both vendors, which neither library has, is planned as the first one would.
class VendorTuner final : public ChannelTuner {
 public:
  // References must outlive it.
  VendorTuner(const collectives::NcclTuner& first, const collectives::NcclTuner& second, const Cluster& cluster);

  [[nodiscard]] CollectivePlan plan(const CollectiveCall& call) const override {
    return library_of(*call.layout).plan(call);
  }
  [[nodiscard]] CollectivePlan plan_message(const MessageCall& call) const override {
    return library_of(*call.layout).plan_message(call);
  }

 private:
  [[nodiscard]] const collectives::NcclTuner& library_of(const GroupLayout& layout) const;

  const collectives::NcclTuner& first_;
  const collectives::NcclTuner& second_;
  std::vector<bool> is_second_;  // by kind of host
};

}  // namespace ringwright::configs
