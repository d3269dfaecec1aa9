// NCCL's choices behind the tuner port, each made once, and the algorithm of steps that is closest to a choice.
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "collectives/nccl/cost/selector.h"
#include "collectives/steps/library_rings.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// Layouts of calls must outlive the tuner. Thread-safe.
class NcclTuner final : public ChannelTuner {
 public:
  // `graphs`: channels found earlier for the same setup, which outlive the tuner; null: none.
  explicit NcclTuner(NcclSetup setup, NcclGraphCache* graphs = nullptr) : selector_(std::move(setup), graphs) {}

  [[nodiscard]] CollectivePlan plan(const CollectiveCall& call) const override;
  // With an algorithm that is chosen elsewhere.
  [[nodiscard]] CollectivePlan plan(const CollectiveCall& call, NcclAlgorithm algorithm) const;
  [[nodiscard]] CollectivePlan plan_message(const MessageCall& call) const override {
    return selector_.plan_message(call);
  }
  [[nodiscard]] const NcclSelector& selector() const { return selector_; }

 private:
  struct Asked {
    const GroupLayout* layout = nullptr;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::int64_t bytes = 0;
    std::optional<NcclAlgorithm> algorithm = std::nullopt;  // empty: NCCL's choice
    auto operator<=>(const Asked&) const = default;
  };

  NcclSelector selector_;
  mutable std::mutex mutex_;
  mutable std::map<Asked, CollectivePlan> answers_;
};

// The rung of steps models neither slots nor protocols, but its algorithms send the same bytes over the same links: as
// many rings and trees as the plan has kinds of channels, in its orders.
[[nodiscard]] const CollectiveAlgorithm& nearest_in_steps(const CollectivePlan& plan, const CollectiveCall& call,
                                                          LibraryAlgorithms& library);

// The inverse: the kernel, by its name in CollectivePlan, with the same traffic as an algorithm of steps in this call;
// empty when the library has none.
[[nodiscard]] std::string_view kernel_of(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

}  // namespace ringwright::collectives
