#include "configs/simulation/step_messages.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/plan_calls.h"
#include "configs/simulation/simulation.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

using collectives::Rung;

// Of one member in all calls of a program, by its group's dimension and layout; one iteration.
using MessagesOf = std::map<std::tuple<std::size_t, std::size_t, const GroupLayout*>, double>;

MessagesOf messages_of_members(const Simulation& simulation) {
  MessagesOf messages;
  CollectiveStep step;
  for_each_call(simulation.plan().graph, [&](const CollectiveCall& call, std::uint32_t program, std::uint64_t tasks) {
    const CollectiveAlgorithm& algorithm = simulation.chooser().choose(call);
    const int steps = algorithm.steps(call);
    if (steps == 0) return;
    algorithm.step(call, 0, 0, step);
    const auto sends = static_cast<double>(std::max<std::size_t>(step.sends.size(), 1));
    messages[{program, call.dimension.index(), call.layout}] += static_cast<double>(tasks) * steps * sends;
  });
  return messages;
}

}  // namespace

bool may_couple(const Scenario& scenario) {
  const Rung rung = scenario.collectives.rung;
  return (rung == Rung::kCoupled || rung == Rung::kAuto) && scenario.simulate.network->shares_links;
}

double messages_in_steps(const Simulation& simulation) {
  const MessagesOf messages = messages_of_members(simulation);
  const TaskGraph& graph = simulation.plan().graph;
  const RankClasses& classes = simulation.folding().ranks;
  double sum = 0.0;
  for (std::size_t c = 0; c < classes.count(); ++c) {
    const RankId rank = classes.representative[c];
    for (std::size_t dimension = 0; dimension < graph.dimensions.size(); ++dimension) {
      const Dimension& d = graph.dimensions[dimension];
      const std::uint32_t group = d.group_of[rank.index()];
      const auto found =
          messages.find({graph.program_of[rank.index()].index(), dimension, &graph.layouts[d.layout_of_group[group]]});
      if (found == messages.end()) continue;
      const bool equal = std::ranges::all_of(
          d.groups[group], [&](RankId member) { return classes.class_of[member.index()].index() == c; });
      if (!equal) sum += found->second;
    }
  }
  return sum * graph.iterations;
}

void state_rung(const Scenario& scenario, const Simulation& simulation, StepFacts& facts) {
  const bool together = simulation.progress() == MemberProgress::kTogether;
  const bool is_open = scenario.collectives.rung == Rung::kAuto;
  const Rung rung = together ? Rung::kCoupled : is_open ? Rung::kSteps : scenario.collectives.rung;
  facts.engine.collectives = to_string(rung);
  if (!is_open && !together) return;
  std::string source = together ? "coupled: members of a call progress together, an approximation of steps" : "steps";
  if (is_open && simulation.is_folded()) {
    source += fmt::format("; auto: {} messages in steps one by one, {} {}",
                          with_commas(std::llround(messages_in_steps(simulation))),
                          together ? "more than" : "within", with_commas(std::llround(kMostMessagesInSteps)));
  }
  facts.evidence.push_back({.input = "collectives", .level = Evidence::kAssumed, .source = std::move(source)});
}

}  // namespace ringwright::configs
