// The predicted step of one scenario of a training run.
#pragma once

#include <string>
#include <vector>

#include "configs/scenario/known_files.h"
#include "configs/simulation/machine_overheads.h"
#include "validation/left_out/left_out_steps.h"

namespace ringwright::validation {

struct TermSeconds {
  std::string name;  // "compute", "tp", "dp", ..., "idle"
  double seconds = 0.0;
};

struct StepPrediction {
  std::string reason;  // why there is none; else empty
  StepKind kind;
  bool fits = true;      // into the GPU's memory
  std::string shortage;  // where it does not fit, the fullest stage: "stage 0 needs 90 GiB of 74.5 GiB"
  double seconds = 0.0;
  double tokens = 0.0;
  double model_flops = 0.0;
  double hardware_flops = 0.0;
  double peak_flop_rate = 0.0;  // of all GPUs, in their narrowest type
  double bottleneck_compute = 0.0;
  std::vector<TermSeconds> terms;
  double gib[3] = {0.0, 0.0, 0.0};  // by MemoryMeaning, of the fullest stage

  [[nodiscard]] bool usable() const { return reason.empty() && fits; }
};

// What a machine's collectives cost beyond their messages, found once for all rows on it, and the files that describe
// machines and libraries, read once.
struct KnownMachines {
  configs::KnownFiles files;
  configs::MachineOverheads overheads;
};

struct StepScenario {
  std::string name;  // in messages
  std::string yaml;
  std::vector<std::string> overrides;
};

[[nodiscard]] StepPrediction predict_step(const StepScenario& step, KnownMachines& machines);

// Collectives and network as formulas, as the first stage of a search predicts steps: many times faster.
[[nodiscard]] StepPrediction predict_by_formulas(const StepScenario& step, KnownMachines& machines);

}  // namespace ringwright::validation
