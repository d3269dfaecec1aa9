#include "configs/simulation/step_plan.h"

#include "workload/layered/layered_step.h"
#include "workload/recommendation/recommendation_step.h"

namespace ringwright::configs {

workload::StepPlan plan_step(const Scenario& scenario, workload::Passes passes) {
  workload::StepPlan plan;
  if (scenario.job.trace) {
    plan.graph = scenario.job.trace->graph;
    plan.hardware_flops = scenario.job.trace->operations;
  } else if (scenario.job.recommendation) {
    plan = workload::build_recommendation_step(scenario.job.recommendation->model,
                                               scenario.job.recommendation->placement);
  } else if (scenario.job.layered) {
    plan = workload::build_layered_step(scenario.job.layered->model, scenario.job.layered->ranks);
  } else {
    plan = workload::build_step(
        {.shape = scenario.job.model, .training = scenario.job.training, .parallel = scenario.job.parallel}, passes);
  }
  plan.graph.iterations = scenario.simulate.warmup + scenario.simulate.steps;
  return plan;
}

}  // namespace ringwright::configs
