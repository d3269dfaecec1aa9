// Who chooses how each collective is carried out: the user's plan for all calls or NCCL's choice for each, unless the
// user names an algorithm for a dimension; and which kernels implement that choice.
#pragma once

#include <memory>
#include <vector>

#include "collectives/channel_chooser.h"
#include "collectives/chooser.h"
#include "collectives/chosen_kernels.h"
#include "collectives/nccl/tuner.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/asked_calls.h"
#include "core/base/diagnostic.h"
#include "core/plan/task_graph.h"

namespace ringwright::configs {

// Members refer to each other: not movable.
class CollectiveChoices {
 public:
  // `found`: graphs of NCCL's search that are known already, and reused; null: its own. The scenario outlives this.
  CollectiveChoices(const Scenario& scenario, const TaskGraph& graph, collectives::NcclGraphCache* found);
  CollectiveChoices(const CollectiveChoices&) = delete;
  CollectiveChoices& operator=(const CollectiveChoices&) = delete;

  [[nodiscard]] const collectives::SimpleChooser& steps() const { return *chooser_; }
  [[nodiscard]] const collectives::ChosenKernels& kernels() const { return *kernels_; }
  // NCCL's choice, even where another chooser decides here.
  [[nodiscard]] const collectives::NcclTuner& nccl() const { return nccl_; }

  // Algorithms that the user named and that cannot carry out a call of the plan; those whose kernels would have to
  // count and do not exist are added to `ignored`. Calls that an earlier step has asked for are not examined again.
  [[nodiscard]] Diagnostics check(const Scenario& scenario, const TaskGraph& graph, const AskedCalls& asked,
                                  std::vector<IgnoredKey>& ignored) const;

 private:
  collectives::NcclTuner nccl_;
  std::unique_ptr<ChannelTuner> plan_;  // of the user; null: NCCL's choice
  std::unique_ptr<collectives::NcclTuner> second_;  // of the other vendor's library; null: there is one vendor
  std::unique_ptr<ChannelTuner> of_vendors_;        // the choices of both; null with the above
  std::unique_ptr<collectives::PlannedChooser> planned_;
  std::unique_ptr<collectives::SimpleChooser> chooser_;
  std::unique_ptr<collectives::ChosenKernels> kernels_;
};

}  // namespace ringwright::configs
