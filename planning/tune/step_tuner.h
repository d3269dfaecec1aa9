// The fastest settings of NCCL's kernels for a training step, in which they and computing take multiprocessors and
// memory from each other: what AutoCCL (NSDI 2025) tunes for, and tuning collectives alone misses.
//
// Settings are variables of the process, for all collectives of the job. Every algorithm with every protocol is the
// start of a descent (setting_descent.h) by the time of the step; another one goes by the time that communication takes
// when kernels do not disturb it. The second result is measured in a step as well, for comparison.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "planning/study/workers.h"
#include "planning/tune/call_setting.h"

namespace ringwright::planning {

// The scenario with further settings ("comm.env.NCCL_ALGO=ring").
using LoadStep = std::function<Result<configs::Scenario>(const std::vector<std::string>& settings)>;

struct StepTuneOptions {
  double least_gain = 0.001;  // of the step with NCCL's own choice
  int most_channels = 32;
  bool kernels = false;  // threads and buffers, too
  Workers workers;
};

struct TunedStep {
  CallSetting setting;     // of the collective that moves most bytes, where it is NCCL's own choice
  Duration step;           // with computing
  Duration communication;  // of all calls of a rank, without computing
};

struct StepTuneResult {
  std::string scenario;
  TunedStep own;    // NCCL's choice
  TunedStep alone;  // the fastest communication
  TunedStep best;   // the fastest step
  int tried = 0;    // steps that were simulated

  [[nodiscard]] double gain() const { return ratio(own.step, best.step); }
  [[nodiscard]] double gain_over_alone() const { return ratio(alone.step, best.step); }
};

// Settings of a scenario for which this tuning makes sense: NCCL's kernels, and what they and computing take from each
// other. The user's own come after them.
[[nodiscard]] std::vector<std::string> step_tuning_settings();

// Fails where the step cannot be simulated, or NCCL's kernels are not what carries out its collectives (E520).
[[nodiscard]] Result<StepTuneResult> tune_step(const LoadStep& load, const StepTuneOptions& options);

[[nodiscard]] std::string render_step_tune_text(const StepTuneResult& result);
// Schema "ringwright.tune_step/1" (docs/tune.md).
[[nodiscard]] std::string render_step_tune_json(const StepTuneResult& result);

}  // namespace ringwright::planning
