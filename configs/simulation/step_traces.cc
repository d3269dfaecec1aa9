#include "configs/simulation/step_traces.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "configs/simulation/goal_calls.h"
#include "configs/simulation/play_spans.h"
#include "configs/simulation/run_cost.h"
#include "core/plan/segments.h"

namespace ringwright::configs {

StepTraces::StepTraces() = default;
StepTraces::~StepTraces() = default;

Result<std::unique_ptr<StepTraces>> StepTraces::record(const Scenario& scenario, FoldMode fold) {
  auto simulation = Simulation::assemble(scenario, fold);
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  if (Diagnostics costly = too_costly(scenario, cost_of_playing(scenario, **simulation)); costly.has_errors()) {
    return tl::unexpected(std::move(costly));
  }
  if (scenario.interference.counts) {
    return tl::unexpected(failure("E254", "a step in which communication slows computing cannot be written as traces",
                                  {}, "interference: {model: none}"));
  }
  PlayedPlan played = play_with_spans(scenario, **simulation);
  if (played.run.outcome != RunOutcome::kFinished) {
    return tl::unexpected(failure("E254", "the run does not end, so there is no step to write as traces"));
  }
  std::unique_ptr<StepTraces> step(new StepTraces);
  step->simulation_ = std::move(*simulation);
  const TaskGraph& graph = step->simulation_->plan().graph;
  step->programs_ = write_out_programs(graph);
  for (const Work& work : graph.works) step->work_time_.push_back(duration(*scenario.job.compute, work));
  step->spans_ = std::move(played.run.record.spans);
  auto made = traces::ChakraExport::make({.graph = graph,
                                          .programs = step->programs_,
                                          .classes = step->simulation_->folding().ranks,
                                          .work_time = step->work_time_,
                                          .spans = step->spans_});
  if (!made) return tl::unexpected(std::move(made.error()));
  step->export_.emplace(std::move(*made));
  step->lost_in_goal_ = configs::lost_in_goal(scenario, *step->simulation_);
  return step;
}

Diagnostics StepTraces::refused_as_chakra() const {
  const std::vector<Dimension>& dimensions = simulation_->plan().graph.dimensions;
  if (std::ranges::none_of(dimensions, [](const Dimension& d) { return d.servers.count > 0; })) return {};
  return failure("E254", "Chakra traces have no node for the exchange with parameter servers", {},
                 "write a GOAL schedule with --goal, or remove layer_table.parameter_server");
}

Result<LossyGoal> StepTraces::goal() const {
  SimulatedGoalCalls calls(*simulation_);
  auto schedule = traces::export_goal(*export_, calls);
  if (!schedule) return tl::unexpected(std::move(schedule.error()));
  LossyGoal goal{.schedule = std::move(*schedule), .lost = lost_in_goal_};
  const Diagnostics by_calls = configs::lost_in_goal(calls, *simulation_);
  for (const Diagnostic& lost : by_calls.all()) goal.lost.add(lost);
  return goal;
}

}  // namespace ringwright::configs
