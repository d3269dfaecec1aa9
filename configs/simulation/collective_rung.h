// How the collectives of a simulation are carried out: as formulas, as steps of messages, or as kernels run them; and
// what kernels cost in addition to formulas and steps.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collectives/closed_form.h"
#include "collectives/library_calls.h"
#include "collectives/msccl/file_chooser.h"
#include "collectives/scalar_sums.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/call_overheads.h"
#include "configs/simulation/collective_choices.h"
#include "core/plan/task_graph.h"
#include "core/run/kernels/chunk_player.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

// Members refer to each other: not movable.
class CollectiveRung {
 public:
  struct Inputs {
    const Scenario& scenario;
    const TaskGraph& graph;
    const network_models::Network& network;
    const CollectiveChoices& choices;
    MemberProgress progress = MemberProgress::kEach;
    KnownOverheads* known = nullptr;  // null: it finds them itself
    PairPaths* pairs = nullptr;       // as in CallOverheads
    AskedCalls* asked = nullptr;      // the same
  };
  explicit CollectiveRung(const Inputs& inputs);
  CollectiveRung(const CollectiveRung&) = delete;
  CollectiveRung& operator=(const CollectiveRung&) = delete;

  // Null unless collectives are simulated as formulas.
  [[nodiscard]] const CollectiveTime* time() const {
    return with_overhead_ ? &*with_overhead_ : formula();
  }
  // The same without the cost of kernels or of a library.
  [[nodiscard]] const CollectiveTime* formula() const {
    return asked_formula_ ? &*asked_formula_ : static_cast<const CollectiveTime*>(closed_form_.get());
  }
  // As a run in steps carries calls out: by the choice for each; sums of one number as if all members left together.
  [[nodiscard]] const CollectiveChooser& steps() const {
    return scalar_sums_ ? static_cast<const CollectiveChooser&>(*scalar_sums_) : choices_.steps();
  }
  // Null unless collectives are simulated as kernels run them.
  [[nodiscard]] const ChannelInputs* channels() const { return channels_ ? &*channels_ : nullptr; }
  // Files of algorithms that run no call of the plan.
  [[nodiscard]] std::vector<IgnoredKey> idle_files(const TaskGraph& graph) const;
  // Null unless the cost of kernels, or of another library, is added to collectives in steps or as formulas.
  [[nodiscard]] const CallOverhead* overhead() const {
    return library_ ? &*library_ : static_cast<const CallOverhead*>(overheads_.get());
  }
  // The same in addition to the messages of the algorithm that is chosen for a call, where the run sends none of them.
  [[nodiscard]] const CallOverhead* overhead_of_messages() const {
    return beyond_messages_ ? static_cast<const CallOverhead*>(beyond_messages_.get()) : overhead();
  }
  // Whether it holds the cost of kernels.
  [[nodiscard]] bool adds_kernels() const { return overheads_ != nullptr; }

 private:
  void wire_overheads(const Inputs& inputs);
  void wire_library(const Inputs& inputs);

  const CollectiveChoices& choices_;
  std::optional<collectives::ScalarSums> scalar_sums_;  // where kernels' times are known
  std::unique_ptr<collectives::ClosedForm> closed_form_;
  std::optional<AskedFormula> asked_formula_;  // where earlier steps may know its times
  std::unique_ptr<collectives::FileChooser> files_;
  std::optional<ChannelInputs> channels_;
  KnownOverheads own_overheads_;
  std::unique_ptr<CallOverheads> overheads_;
  std::unique_ptr<CallOverheads> beyond_messages_;  // null: overheads_ are
  std::optional<collectives::LibraryCalls> library_;
  std::optional<TimeWithOverhead> with_overhead_;  // formulas
};

}  // namespace ringwright::configs
