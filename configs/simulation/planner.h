// Many configurations on one machine, one after another in one process: the interface for searches.
//
// The machine's network is built once. Of a configuration only times are reported, not the traffic of links; where
// neither collectives nor messages share links (`closed_form` on `alpha_beta`), one configuration of a thousand GPUs
// takes about as long as a look-up in a file.
#pragma once

#include <cstdint>
#include <optional>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "configs/simulation/step_plan.h"
#include "core/base/diagnostic.h"
#include "core/report/report.h"
#include "core/run/step/executor.h"
#include "network_models/builtin.h"
#include "workload/step/step_builder.h"

namespace ringwright::configs {

// As a report of `run` has them.
struct Prediction {
  StepTimes step_time;
  TimeBreakdown everywhere;
  double tokens_per_second_per_gpu = 0.0;
  std::optional<double> model_flop_utilisation;
};

class Planner {
 public:
  // The machine of this scenario; it must outlive the planner. `known`: overheads of calls found on this very machine,
  // shared by several planners; null: only those that this one finds itself.
  explicit Planner(const Scenario& machine, KnownOverheads* known = nullptr)
      : machine_(machine), overheads_(known != nullptr ? known : &own_overheads_) {}

  // Of a scenario with the same `cluster`, `comm` and `collectives`: of the machine's own, for example, after its job
  // was changed. Empty when the run does not end; mistakes when the configuration cannot be simulated.
  [[nodiscard]] Result<std::optional<Prediction>> predict(const Scenario& scenario);

 private:
  struct Played {
    RunOutcome outcome = RunOutcome::kFinished;
    std::uint64_t events = 0;
    std::optional<Prediction> prediction;  // when it finished
  };
  // Of workers that train on their own: whether they meet in the step, or how long a step in which they do takes.
  struct Exchange {
    OuterStep outer_step = OuterStep::kLeftOut;
    std::optional<Duration> with = {};
  };
  [[nodiscard]] Result<Played> play(const Scenario& scenario, workload::Passes passes, const Exchange& exchange);
  [[nodiscard]] Result<std::optional<Prediction>> step_of(const Scenario& scenario, const Exchange& exchange);

  const Scenario& machine_;
  KnownOverheads own_overheads_;
  KnownOverheads* overheads_;
  // While no configuration is loaded.
  std::optional<network_models::Network> network_;
  Simulation::Kept kept_;
};

}  // namespace ringwright::configs
