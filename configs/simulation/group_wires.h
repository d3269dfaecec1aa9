// The wires between members of a group, as two numbers per kind of hop: the input of the closed forms of collectives.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/closed_form.h"
#include "core/plan/task_graph.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/router.h"

namespace ringwright::configs {

// Examines the paths of the first group with the call's layout in its dimension: from one member to the next on a host,
// and from all members of one host to their counterparts on the next host at once.
class GroupWires {
 public:
  // Both must outlive this.
  GroupWires(const TaskGraph& graph, const Router& router) : graph_(graph), router_(router) {}

  [[nodiscard]] collectives::WireCosts operator()(const CollectiveCall& call) const;
  // Also with the time of a step, all members sending at once, where the algorithm's formula asks for it.
  [[nodiscard]] collectives::WireCosts operator()(const CollectiveCall& call,
                                                  const CollectiveAlgorithm& algorithm) const;

 private:
  struct StepCost {
    collectives::HopCost inside;
    collectives::HopCost between;
  };
  [[nodiscard]] const std::vector<RankId>& some_group(const CollectiveCall& call) const;
  [[nodiscard]] collectives::WireCosts look_at(const CollectiveCall& call) const;
  [[nodiscard]] StepCost step_of_rings(CollectiveCall call, const CollectiveAlgorithm& algorithm) const;
  [[nodiscard]] StepCost step_of(const CollectiveCall& call, const CollectiveAlgorithm& algorithm, int index) const;

  const TaskGraph& graph_;
  const Router& router_;
  // Calls of one dimension and layout have the same wires, and there are many of them.
  mutable std::map<std::pair<DimensionId, const GroupLayout*>, collectives::WireCosts> known_;
  // By kind and bytes, too, where a step depends on them; else by all-gather and 0.
  mutable std::map<
      std::tuple<DimensionId, const GroupLayout*, const CollectiveAlgorithm*, CollectiveKind, Bytes>, StepCost>
      known_steps_;
};

}  // namespace ringwright::configs
