// The classes of ranks and links that a simulation plays, and the paths between them; with what earlier foldings on the
// same network have found.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "configs/simulation/farthest_pairs.h"
#include "core/ports/router.h"
#include "core/symmetry/fold_memory.h"
#include "core/symmetry/folding.h"
#include "network_models/congestion/link_kinds.h"
#include "network_models/topologies/fault_schedule.h"
#include "network_models/topologies/faulty_router.h"

namespace ringwright::configs {

class FoldedNetwork {
 public:
  FoldedNetwork() = default;
  // Of an earlier simulation.
  FoldedNetwork(std::unique_ptr<Router> bottlenecks, FoldMemory folds)
      : bottlenecks_(std::move(bottlenecks)), folds_(std::move(folds)) {}

  // Every rank and every link is a class of its own.
  void leave_unfolded(std::size_t ranks, std::size_t links);
  struct Inputs {
    const TaskGraph& graph;
    const Choosers& choosers;
    const Router& router;
    const network_models::FaultSchedule& faults;
    const network_models::FaultPaths& fault_paths;
    std::span<const network_models::LinkKind> kinds = {};  // that links of one class share; empty: any
    bool times_only = false;  // the traffic of links may be lost, and no transfer shares one
    FarthestPairs* farthest = nullptr;  // paths that stand for those of messages, where only times matter; null: none
    std::size_t per_host = 1;           // GPUs
    std::size_t gpus = 0;
  };
  // `known`: of a step with the same classes, but other cycles left out.
  void fold(const Inputs& inputs, std::optional<Folding> known);

  [[nodiscard]] const Folding& folding() const { return folding_; }
  // Of link classes; null when unfolded.
  [[nodiscard]] const Router* router() const { return router_.get(); }

  [[nodiscard]] std::unique_ptr<Router> take_bottlenecks() && { return std::move(bottlenecks_); }
  [[nodiscard]] FoldMemory take_memory() && { return std::move(folds_); }
  [[nodiscard]] Folding take_folding() && { return std::move(folding_); }

 private:
  std::unique_ptr<Router> bottlenecks_;  // null unless only times matter and no transfer shares a link
  FoldMemory folds_;
  Folding folding_;
  std::unique_ptr<Router> router_;
};

}  // namespace ringwright::configs
