// NCCL's choices as the port asks for them, each made once; and the algorithm of steps that comes nearest to a choice.
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <string_view>

#include "collectives/nccl/selector.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// Layouts of calls must outlive the tuner. Safe to ask from several threads.
class NcclTuner final : public ChannelTuner {
 public:
  explicit NcclTuner(NcclSetup setup) : selector_(std::move(setup)) {}

  [[nodiscard]] CollectivePlan plan(const CollectiveCall& call) const override;
  [[nodiscard]] CollectivePlan plan_message(const MessageCall& call) const override {
    return selector_.plan_message(call);
  }
  [[nodiscard]] const NcclSelector& selector() const { return selector_; }

 private:
  struct Asked {
    const GroupLayout* layout = nullptr;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::int64_t bytes = 0;
    auto operator<=>(const Asked&) const = default;
  };

  NcclSelector selector_;
  mutable std::mutex mutex_;
  mutable std::map<Asked, CollectivePlan> answers_;
};

// The rung of steps knows neither channels nor protocols, but its algorithms send the same bytes over the same links.
[[nodiscard]] const CollectiveAlgorithm& nearest_in_steps(const CollectivePlan& plan, const CollectiveCall& call);

}  // namespace ringwright::collectives
