#include "configs/simulation/step_plan.h"

#include <vector>

#include "workload/checkpoint/checkpoint_traffic.h"
#include "workload/layered/layered_step.h"
#include "workload/recommendation/recommendation_step.h"
#include "workload/step/partitioned_step.h"

namespace ringwright::configs {

workload::StepPlan plan_step(const Scenario& scenario, workload::Passes passes, Checkpointing checkpointing,
                             OuterStep outer_step, workload::KnownGroups* known) {
  const bool saves = scenario.checkpoint && checkpointing == Checkpointing::kAsGiven;
  if (saves) passes = workload::Passes::kAsSegments;
  workload::StepPlan plan;
  if (scenario.job.trace) {
    plan.graph = scenario.job.trace->graph;
    plan.hardware_flops = scenario.job.trace->operations;
  } else if (scenario.job.recommendation) {
    plan =
        workload::build_recommendation_step(scenario.job.recommendation->model, scenario.job.recommendation->placement);
  } else if (scenario.job.layered) {
    plan = workload::build_layered_step(scenario.job.layered->model, scenario.job.layered->layout);
  } else {
    workload::TrainingOptions training = scenario.job.training;
    training.local_sgd.meets = training.local_sgd.on() && outer_step == OuterStep::kInEveryStep;
    plan = workload::build_step({.shape = scenario.job.model, .training = training, .parallel = scenario.job.parallel},
                                passes, known);
    workload::partition_step(plan, scenario.job.partition, scenario.cluster.host.gpus);
  }
  if (saves) {
    const workload::CheckpointTraffic traffic = checkpoint_traffic(scenario);
    workload::add_checkpoint(plan.graph, traffic);
    for (std::vector<Bytes>& of_stage : plan.communication) of_stage.push_back(traffic.of_rank + traffic.to_peers());
  }
  plan.graph.iterations = scenario.simulate.warmup + scenario.simulate.steps;
  return plan;
}

}  // namespace ringwright::configs
