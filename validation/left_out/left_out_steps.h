// The errors that leave-one-source-out found for training steps, by kind of step (left_out_training.csv): what to
// expect of a run whose source was held out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::validation {

// Of a step: the GPU's generation, how the model is spread, the type of its GEMMs.
struct StepKind {
  std::string generation = "any";  // "hopper"
  std::string strategy = "any";    // "experts", "context", "sharded", "tensor and pipeline", "data"
  std::string precision = "any";   // "16 bit", "fp8", "fp4"
  friend bool operator==(const StepKind&, const StepKind&) = default;
};
[[nodiscard]] StepKind step_kind_of(const configs::Scenario& scenario);

struct LeftOutSteps {
  StepKind kind;
  int rows = 0;
  int sources = 0;
  double error = 0.0;  // mean over sources of their mean absolute error, as a ratio
  double bias = 0.0;   // of the signed one: below 0 predictions are too fast
};

// The shipped ones; `tools/leave_one_out.py --training` makes them.
[[nodiscard]] Result<std::vector<LeftOutSteps>> read_left_out_steps();
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<std::vector<LeftOutSteps>> parse_left_out_steps(const std::string& name, std::string_view text);

// The closest kind that two sources have: equal in all three, else without the strategy, else the generation alone,
// else all steps. "7 % (mean -2) for hopper, experts, fp8; 60 runs of 3 sources, ..."; empty where there is none.
[[nodiscard]] std::string left_out_steps_text(const std::vector<LeftOutSteps>& errors, const StepKind& kind);

}  // namespace ringwright::validation
