#include "core/run/collectives/coupled_plan.h"

namespace ringwright {

int count_phases(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  int phases = 0;
  for (int step = 0; step < algorithm.steps(call); step = algorithm.same_until(call, step)) ++phases;
  return phases;
}

CollectiveCall CoupledPlans::call_of(const CollectiveRequest& request) const {
  const CollectiveSpec& spec = job_.graph.collectives[request.spec];
  return {.kind = spec.kind,
          .bytes = spec.bytes,
          .layout = &job_.graph.layouts[job_.layout_of(request.rank_class, request.dimension)],
          .dimension = request.dimension};
}

const CoupledPlan& CoupledPlans::of(const CollectiveRequest& request, std::span<const ClassId> classes) {
  const auto [entry, is_new] = plans_.try_emplace({request.spec, request.dimension, classes.front()});
  CoupledPlan& plan = entry->second;
  if (!is_new) return plan;
  const CollectiveCall call = call_of(request);
  const CollectiveAlgorithm& algorithm = chooser_.choose(call);
  const int steps = algorithm.steps(call);
  for (int step = 0; step < steps;) {
    const int end = algorithm.same_until(call, step);
    plan.phases.push_back({.messages = {}, .steps = static_cast<std::uint32_t>(end - step)});
    step = end;
  }
  for (const ClassId c : classes) add_member(request, c, plan);
  return plan;
}

// The member that represents its class, in its own group.
void CoupledPlans::add_member(const CollectiveRequest& request, ClassId c, CoupledPlan& plan) {
  CollectiveRequest own = request;
  own.rank_class = c;
  const CollectiveCall call = call_of(own);
  const RankId self = job_.rank_of(c);
  const std::vector<RankId>& group = job_.group_of(c, request.dimension);
  const Steps& steps = steps_of(call, chooser_.choose(call), request.spec, job_.index_in_group(c, request.dimension));
  CoupledMember member{.rank_class = c};
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    CoupledPhase& phase = plan.phases[i];
    for (const CollectiveSend& send : steps[i]) {
      const RankId peer = group[static_cast<std::size_t>(send.peer)];
      const bool down = send.route_kind == RouteKind::kDownFromSwitch;
      phase.messages.push_back({.query = {.from = down ? peer : self,
                                          .to = down ? self : peer,
                                          .route_kind = send.route_kind,
                                          .nics = send.nics,
                                          .label = collective_label(request.dimension)},
                                .size = send.size});
      member.messages += phase.steps;
      if (!down) member.sent += send.size * phase.steps;
    }
  }
  plan.members.push_back(member);
}

const CoupledPlans::Steps& CoupledPlans::steps_of(const CollectiveCall& call, const CollectiveAlgorithm& algorithm,
                                                  std::uint32_t spec, int member) {
  const auto [entry, is_new] = steps_.try_emplace({spec, call.dimension, call.layout, member});
  if (!is_new) return entry->second;
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); index = algorithm.same_until(call, index)) {
    algorithm.step(call, member, index, step);
    entry->second.push_back(step.sends);
  }
  return entry->second;
}

}  // namespace ringwright
