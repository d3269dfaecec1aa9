#include "configs/simulation/planner.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "configs/simulation/data_wait.h"
#include "configs/simulation/outer_steps.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"
#include "configs/simulation/step_facts.h"
#include "configs/simulation/step_plan.h"

namespace ringwright::configs {
namespace {

Prediction tell(const Scenario& scenario, const Simulation& simulation, RunRecord& record,
                std::optional<Duration> with_exchange) {
  const workload::StepPlan& plan = simulation.plan();
  StepFacts facts;
  facts.tokens_per_step = plan.tokens;
  facts.model_flops =
      scenario.attention_flops == AttentionFlops::kCausal ? plan.model_flops : plan.model_flops_full_attention;
  facts.peak_flop_rate = mean_peak(scenario.cluster, precision_of(scenario.job));
  facts.warmup_iterations = scenario.simulate.warmup;
  facts.data = wait_for_data(scenario, record.iteration_end);
  if (with_exchange) facts.outer = add_outer_steps(scenario, *with_exchange, record.iteration_end);
  Report report =
      summarise({.record = record, .graph = plan.graph, .classes = simulation.folding().ranks}, std::move(facts));
  return {.step_time = report.step_time,
          .everywhere = std::move(report.everywhere),
          .tokens_per_second_per_gpu = report.tokens_per_second_per_gpu,
          .model_flop_utilisation = report.model_flop_utilisation};
}

// Steps whose calls and messages take known times are evaluated without events, unless cycles are left out. A task then
// costs about a third as much, its plan included, so that all of three times as many cycles cost no more.
std::vector<workload::Passes> passes_of(const Scenario& scenario) {
  constexpr std::int64_t kMostFills = 3;
  const Job& job = scenario.job;
  const bool without_events = scenario.collectives.rung == collectives::Rung::kClosedForm &&
                              !scenario.simulate.network->shares_links && !scenario.interference.counts;
  if (without_events && job.trains_transformer()) {
    const std::int64_t fill = job.parallel.pp + std::int64_t{8};
    if (job.parallel.microbatches(job.training) <= kMostFills * fill) return {workload::Passes::kAsSegments};
  }
  return passes_to_try(scenario);
}

}  // namespace

Result<Planner::Played> Planner::play(const Scenario& scenario, workload::Passes passes,
                                      const Exchange& exchange) {
  const bool is_new = !network_.has_value();
  network_models::Network network =
      is_new ? machine_.cluster.topology->build() : *std::exchange(network_, std::nullopt);
  if (is_new) kept_ = {};
  kept_.overheads = overheads_;
  workload::StepPlan plan = plan_step(scenario, passes, Checkpointing::kAsGiven, exchange.outer_step, &kept_.groups);
  auto simulation = Simulation::assemble(scenario, std::move(plan), std::move(network),
                                         FoldMode::kTimesOnly, std::exchange(kept_, {}));
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  PlayedPlan played_plan = play_plan(scenario, **simulation, {.figures = RunFigures::kTimes});
  Played played{.outcome = played_plan.run.outcome, .events = played_plan.events, .prediction = {}};
  if (played.outcome == RunOutcome::kFinished) {
    played.prediction = tell(scenario, **simulation, played_plan.run.record, exchange.with);
  }
  network_ = std::move(**simulation).take_network();
  kept_ = std::move(**simulation).take_kept();
  kept_.groups.keep(scenario.job.parallel, std::move(**simulation).plan_to_take().graph);
  return played;
}

Result<std::optional<Prediction>> Planner::step_of(const Scenario& scenario, const Exchange& exchange) {
  Result<Played> played;
  for (const workload::Passes passes : passes_of(scenario)) {
    played = play(scenario, passes, exchange);
    if (!played) return tl::unexpected(std::move(played.error()));
    if (played->outcome != RunOutcome::kUnproven) break;
  }
  return std::move(played->prediction);
}

Result<std::optional<Prediction>> Planner::predict(const Scenario& scenario) {
  if (!scenario.job.trains_transformer() || !scenario.job.training.local_sgd.on()) return step_of(scenario, {});
  auto outer_step = step_of(scenario, {.outer_step = OuterStep::kInEveryStep});
  if (!outer_step || !*outer_step) return outer_step;
  return step_of(scenario, {.with = (*outer_step)->step_time.mean});
}

}  // namespace ringwright::configs
