// Measured training runs simulated: each row as a scenario, its predicted step against the measured one, and the
// breakdown of the predicted time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "validation/left_out/left_out_steps.h"
#include "validation/training/conventions.h"
#include "validation/training/row.h"
#include "validation/training/step_prediction.h"

namespace ringwright::validation {

enum class MeasuredAs { kNothing, kStepTime, kTokens, kFlops };
[[nodiscard]] std::string_view to_string(MeasuredAs quantity);

struct PlayedRow {
  TrainingRow row;
  std::string source;                // key of its rule, or the name of the table
  std::string reason;                // why it could not be simulated or scored; else empty
  std::string reason_column;         // of the table, that the reason is about; empty: no single one
  StepKind kind;                     // of the simulated step
  std::string scenario;              // YAML of that step, without overrides
  std::vector<std::string> assumed;  // assumptions: set neither by the row nor by the conventions
  MeasuredAs measured_as = MeasuredAs::kNothing;
  double measured_seconds = 0.0;  // a step, from the time or rate of the row
  double predicted_seconds = 0.0;
  std::vector<TermSeconds> terms;   // of the predicted step, means over ranks; their sum is the step
  double bottleneck_compute = 0.0;  // seconds of computing on the stage that computes longest
  double tokens = 0.0;              // of a step, all GPUs
  double measured_gib = 0.0;        // 0: not measured
  double predicted_gib = 0.0;
  std::string shortage;         // of GPU memory in the simulated step; empty: it fits
  double tokens_seconds = 0.0;  // a step from tok_s_gpu, where another column decides; 0: not given

  [[nodiscard]] bool played() const { return reason.empty(); }
};

// Whether rows of more GPUs than their source's `most_gpus` are simulated: in a run over all shipped tables, a few
// that take minutes each would dominate the time.
enum class LargeRows { kPlayed, kLeftOut };

struct CaseOptions {
  std::vector<std::string> overrides;  // on top of every scenario
  LargeRows large = LargeRows::kPlayed;
  std::function<void(std::size_t done, std::size_t all)> progress = {};  // of the distinct scenarios; any thread
};

// In the order of the rows, those of split `exclude` left out. Identical scenarios are simulated once, on all cores.
[[nodiscard]] std::vector<PlayedRow> play_rows(const std::vector<TrainingRow>& rows,
                                               const TrainingConventions& conventions, const CaseOptions& options);

}  // namespace ringwright::validation
