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

// Whether the network simulates all messages of a member at once: those of a ring that no other traffic disturbs, since
// it stays within a host.
bool goes_at_once(const CollectiveCall& call, const CollectiveAlgorithm& algorithm) {
  return call.layout->hosts.size() == 1 && algorithm.ring_steps(call).has_value();
}

MessagesOf messages_of_members(const StepsOfJob& job, bool fast_forward) {
  MessagesOf messages;
  CollectiveStep step;
  for_each_call(job.graph, [&](const CollectiveCall& call, std::uint32_t program, std::uint64_t tasks) {
    const CollectiveAlgorithm& algorithm = job.chooser.choose(call);
    const int steps = algorithm.steps(call);
    if (steps == 0) return;
    if (fast_forward && goes_at_once(call, algorithm)) {
      messages[{program, call.dimension.index(), call.layout}] += static_cast<double>(tasks);
      return;
    }
    algorithm.step(call, 0, 0, step);
    const auto sends = static_cast<double>(std::max<std::size_t>(step.sends.size(), 1));
    messages[{program, call.dimension.index(), call.layout}] += static_cast<double>(tasks) * steps * sends;
  });
  return messages;
}

// Folding compares all steps of all members once for each distinct call, unless it knows that members are equal.
double steps_to_compare(const StepsOfJob& job) {
  std::map<std::tuple<std::size_t, CollectiveKind, Bytes, const GroupLayout*>, double> steps;
  for_each_call(job.graph, [&](const CollectiveCall& call, std::uint32_t /*program*/, std::uint64_t /*tasks*/) {
    const CollectiveAlgorithm& algorithm = job.chooser.choose(call);
    const int members = algorithm.rotation_symmetric(call) ? 1 : call.size();
    steps[{call.dimension.index(), call.kind, call.bytes, call.layout}] =
        static_cast<double>(algorithm.steps(call)) * members;
  });
  double sum = 0.0;
  for (const auto& [call, of_call] : steps) sum += of_call;
  return sum;
}

}  // namespace

ProgressChoice choose_progress(const Scenario& scenario, const StepsOfJob& job) {
  const Rung rung = scenario.collectives.rung;
  if (!scenario.simulate.network->shares_links || !scenario.simulate.network->max_min) return {};
  if (rung == Rung::kCoupled) return {.progress = MemberProgress::kTogether};
  if (rung != Rung::kAuto) return {};
  const double compared = steps_to_compare(job);
  if (compared > kMostStepsCompared) return {.progress = MemberProgress::kTogether, .steps_compared = compared};
  const Folding folding = ringwright::fold(job.graph, job.chooser, job.router);
  const double messages = messages_in_steps(job, folding.ranks, scenario.simulate.fast_forward);
  return {.progress = messages > kMostMessagesInSteps ? MemberProgress::kTogether : MemberProgress::kEach,
          .messages = messages};
}

double messages_in_steps(const StepsOfJob& job, const RankClasses& classes, bool fast_forward) {
  const MessagesOf messages = messages_of_members(job, fast_forward);
  const TaskGraph& graph = job.graph;
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

namespace {

std::string why(const ProgressChoice& choice) {
  if (choice.steps_compared) {
    return fmt::format("; auto: folding would compare {} steps of members, more than {}",
                       with_commas(std::llround(*choice.steps_compared)),
                       with_commas(std::llround(kMostStepsCompared)));
  }
  if (!choice.messages) return {};
  return fmt::format("; auto: {} messages in steps one by one, {} {}", with_commas(std::llround(*choice.messages)),
                     choice.progress == MemberProgress::kTogether ? "more than" : "within",
                     with_commas(std::llround(kMostMessagesInSteps)));
}

}  // namespace

void state_rung(const Scenario& scenario, const Simulation& simulation, StepFacts& facts) {
  const bool together = simulation.progress() == MemberProgress::kTogether;
  const bool is_open = scenario.collectives.rung == Rung::kAuto;
  const Rung rung = together ? Rung::kCoupled : is_open ? Rung::kSteps : scenario.collectives.rung;
  facts.engine.collectives = to_string(rung);
  if (!is_open && !together) return;
  std::string source = together ? "coupled: members of a call progress together, an approximation of steps" : "steps";
  source += why(simulation.progress_choice());
  facts.evidence.push_back({.input = "collectives", .level = Evidence::kAssumed, .source = std::move(source)});
}

}  // namespace ringwright::configs
