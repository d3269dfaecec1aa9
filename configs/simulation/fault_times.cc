#include "configs/simulation/fault_times.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/simulation/simulate.h"

namespace ringwright::configs {
namespace {

// After so many steps; the last step's end when there are fewer.
TimePoint time_in_steps(double steps, const std::vector<TimePoint>& ends) {
  const auto whole = static_cast<std::size_t>(std::min(std::floor(steps), static_cast<double>(ends.size() - 1)));
  const TimePoint begin = whole == 0 ? TimePoint() : ends[whole - 1];
  return begin + scale(ends[whole] - begin, std::min(steps - static_cast<double>(whole), 1.0));
}

void begin_at(TimePoint begin, const StepFault& fault, Faults& faults) {
  for (network_models::LinkFault link : fault.links) {
    if (link.until != network_models::kForGood) link.until = begin + link.until.since_start();
    link.at = begin;
    faults.links.push_back(link);
  }
  OrderedFault& ordered = faults.ordered[fault.ordered];
  if (ordered.until != network_models::kForGood) ordered.until = begin + ordered.until.since_start();
  ordered.at = begin;
  ordered.text += " " + when_text(ordered.at, ordered.until);
}

Diagnostics refuse_beyond(const StepFault& fault, const Faults& faults, std::size_t steps) {
  const OrderedFault& ordered = faults.ordered[fault.ordered];
  Diagnostics problems;
  problems.add({.code = "E642",
                .place = ordered.place,
                .message = fmt::format("'at_step' is {:g}, but the run has {} {}, warm-up included", fault.at_step,
                                       steps, steps == 1 ? "step" : "steps"),
                .hint = "at_step: 40%, of the first step"});
  return problems;
}

}  // namespace

Diagnostics unsettled_faults(const Faults& faults) {
  if (faults.at_steps.empty()) return {};
  Diagnostics problems;
  problems.add({.code = "E642",
                .place = faults.ordered[faults.at_steps.front().ordered].place,
                .message = "a fault 'at_step' needs a simulated step, which only runs and studies of runs have",
                .hint = "at: 40ms"});
  return problems;
}

Diagnostics settle_fault_times(Scenario& scenario) {
  if (scenario.faults.at_steps.empty()) return {};
  const std::vector<StepFault> waiting = std::exchange(scenario.faults.at_steps, {});
  const auto simulation = Simulation::assemble(scenario, FoldMode::kFold);
  if (!simulation) return simulation.error();
  const PlayedPlan played = play_plan(scenario, **simulation);
  const std::vector<TimePoint>& ends = played.run.record.iteration_end;
  const bool finished = played.run.outcome == RunOutcome::kFinished;
  if (!finished) return failure("E642", "the step without the faults 'at_step' does not end");
  for (const StepFault& fault : waiting) {
    if (fault.at_step > static_cast<double>(ends.size())) return refuse_beyond(fault, scenario.faults, ends.size());
    begin_at(time_in_steps(fault.at_step, ends), fault, scenario.faults);
  }
  return {};
}

}  // namespace ringwright::configs
