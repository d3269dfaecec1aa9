#include "core/run/collectives/coupled_plan.h"

#include "core/base/check.h"

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
  CollectiveRequest of_first = request;
  of_first.rank_class = classes.front();
  for (const ClassId c : classes) plan.members.push_back({.rank_class = c});
  add_members(of_first, plan);
  return plan;
}

// The members of the group of the request's class.
void CoupledPlans::add_members(const CollectiveRequest& request, CoupledPlan& plan) {
  const CollectiveCall call = call_of(request);
  const CollectiveAlgorithm& algorithm = chooser_.choose(call);
  const std::vector<RankId>& group = job_.group_of(request.rank_class, request.dimension);
  struct OfClass {
    std::uint32_t ranks = 0;
    CoupledMember* member = nullptr;
  };
  std::map<ClassId, OfClass> of_class;
  for (CoupledMember& member : plan.members) of_class[member.rank_class].member = &member;
  for (const RankId rank : group) ++of_class[job_.classes.class_of[rank.index()]].ranks;
  for (std::size_t index = 0; index < group.size(); ++index) {
    const RankId self = group[index];
    const ClassId c = job_.classes.class_of[self.index()];
    const Steps& steps = steps_of(call, algorithm, request.spec, static_cast<int>(index));
    const OfClass& own = of_class[c];
    CHECK(own.member != nullptr, "groups of one class consist of the same classes");
    CoupledMember sends{.rank_class = c};
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
                                  .size = call.bytes > kCoupledLatencyOnly ? send.size : Bytes(0),
                                  .among = own.ranks});
        sends.messages += phase.steps;
        if (!down) sends.sent += send.size * phase.steps;
      }
    }
    *own.member = sends;  // equal for all members of a class
  }
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
