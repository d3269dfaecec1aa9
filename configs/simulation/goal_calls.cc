#include "configs/simulation/goal_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/ports/call_overhead.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::configs {

bool SimulatedGoalCalls::leaves_own_path(const RouteQuery& query) {
  const Router& router = *simulation_.network().router;
  const Duration latency = router.route(query, named_);
  if (router.route({.from = query.from, .to = query.to}, own_) != latency) return true;
  return !std::ranges::equal(named_, own_, {}, &Hop::link, &Hop::link);
}

tl::expected<std::vector<traces::GoalStep>, std::string> SimulatedGoalCalls::steps(const CollectiveCall& call,
                                                                                   const std::vector<RankId>& group,
                                                                                   std::size_t member) {
  if (call.size() < 2) return std::vector<traces::GoalStep>();
  const CollectiveAlgorithm& algorithm = simulation_.chooser().choose(call);
  std::vector<traces::GoalStep> result(static_cast<std::size_t>(algorithm.steps(call)));
  CollectiveStep own, theirs;
  for (int index = 0; index < static_cast<int>(result.size()); ++index) {
    traces::GoalStep& step = result[static_cast<std::size_t>(index)];
    algorithm.step(call, static_cast<int>(member), index, own);
    const bool direct = std::ranges::all_of(
        own.sends, [](const CollectiveSend& send) { return send.route_kind == RouteKind::kWhole; });
    if (!direct || own.await_everyone) {
      return tl::unexpected(fmt::format("the algorithm {} {}", algorithm.name(),
                                        direct ? "has barriers of all members" : "adds or copies in switches"));
    }
    for (const CollectiveSend& send : own.sends) {
      step.sends.push_back({.peer = static_cast<std::uint32_t>(send.peer), .size = send.size});
      if (send.nics == MessageNics() || with_other_nics_.contains(call.dimension)) continue;
      const RankId to = group[static_cast<std::size_t>(send.peer)];
      if (!leaves_own_path({.from = group[member], .to = to, .nics = send.nics})) continue;
      with_other_nics_.insert(call.dimension);
    }
    // Messages of one peer match in the order in which they are sent.
    std::ranges::stable_sort(own.awaits, {}, &CollectiveAwait::send);
    for (const CollectiveAwait& await : own.awaits) {
      algorithm.step(call, await.peer, index, theirs);
      step.receives.push_back({.peer = static_cast<std::uint32_t>(await.peer),
                               .size = theirs.sends[static_cast<std::size_t>(await.send)].size});
    }
  }
  return result;
}

Duration SimulatedGoalCalls::before(const CollectiveCall& call) const {
  const CallOverhead* const overhead = simulation_.overhead_of_messages();
  return overhead != nullptr && call.size() > 1 ? overhead->of(call) : Duration();
}

Duration SimulatedGoalCalls::before(const MessageCall& message, RankId sender, RankId receiver) const {
  const CallOverhead* const overhead = simulation_.call_overhead();
  return overhead != nullptr ? overhead->of({.call = message, .sender = sender, .receiver = receiver}) : Duration();
}

namespace {

bool hashes_paths(const Scenario& scenario) {
  return std::ranges::any_of(scenario.document.log().values(), [](const ValueRead& value) {
    return value.path == "cluster.fabric.routing.policy" && value.text == "ecmp";
  });
}

}  // namespace

Diagnostics lost_in_goal(const Scenario& scenario, const Simulation& simulation) {
  Diagnostics lost;
  const auto lose = [&](bool counts, std::string message, std::string hint) {
    if (!counts) return;
    lost.add(
        {.severity = Severity::kWarning, .code = "W624", .message = std::move(message), .hint = std::move(hint)});
  };
  const auto warn = [&](bool counts, const std::string& message, std::string hint) {
    lose(counts, message + "; the schedule has their messages in steps, and takes another time", std::move(hint));
  };
  const bool formulas = simulation.collective_time() != nullptr;
  warn(simulation.channels() != nullptr, "the run simulates collectives as kernels run them",
       "collectives: {model: steps}");
  warn(formulas, "the run takes collectives as formulas", "collectives: {model: steps}");
  warn(!scenario.collectives.step_costs.free(), "the run adds a library's cost of each step to collectives", "");
  warn(!formulas && simulation.progress() == MemberProgress::kTogether,
       "members of a collective progress together in the run", "collectives: {model: steps}");
  lose(hashes_paths(scenario),
       "the run chooses paths by a hash of what a message belongs to, which a schedule does not state; its messages "
       "may take other paths, and another time",
       "cluster.fabric.routing.policy: static");
  return lost;
}

Diagnostics lost_in_goal(const SimulatedGoalCalls& calls, const Simulation& simulation) {
  Diagnostics lost;
  if (calls.with_other_nics().empty()) return lost;
  std::vector<std::string> names;
  for (const DimensionId dimension : calls.with_other_nics()) {
    names.push_back(simulation.plan().graph.dimensions[dimension.index()].name);
  }
  lost.add({.severity = Severity::kWarning,
            .code = "W624",
            .message = fmt::format("algorithms of {} name the NICs of messages, which a schedule does not state; in a "
                                   "replay each message takes the NIC of its GPU, and may take another time",
                                   join(names, ", ")),
            .hint = "collectives: {dp: {algorithm: ring}}"});
  return lost;
}

}  // namespace ringwright::configs
