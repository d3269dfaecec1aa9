// Measured training runs played: each row as a scenario, its predicted step beside the measured one, and where the
// predicted time goes.
#pragma once

#include <string>
#include <vector>

#include "validation/training/training_conventions.h"
#include "validation/training/training_row.h"

namespace ringwright::validation {

enum class MeasuredAs { kNothing, kStepTime, kTokens, kFlops };
[[nodiscard]] std::string_view to_string(MeasuredAs quantity);

struct TermSeconds {
  std::string name;  // "compute", "tp", "dp", ..., "idle"
  double seconds = 0.0;
};

struct PlayedRow {
  TrainingRow row;
  std::string source;                // key of its rule, or the name of the table
  std::string reason;                // why it could not be played or scored; empty when it was
  std::string reason_column;         // of the table, that the reason is about; empty: no single one
  std::vector<std::string> assumed;  // what neither the row nor the conventions say
  MeasuredAs measured_as = MeasuredAs::kNothing;
  double measured_seconds = 0.0;  // a step, from whatever the row gives
  double predicted_seconds = 0.0;
  std::vector<TermSeconds> terms;   // of the predicted step, means over ranks; they add up to it
  double bottleneck_compute = 0.0;  // seconds of computing on the stage that computes longest
  double tokens = 0.0;              // of a step, all GPUs
  double measured_gib = 0.0;        // 0: not measured
  double predicted_gib = 0.0;

  [[nodiscard]] bool played() const { return reason.empty(); }
};

// Whether rows of more GPUs than their source's `most_gpus` are played: where the shipped tables are asked for as a
// whole, a few that take minutes each would be most of the time.
enum class LargeRows { kPlayed, kLeftOut };

struct CaseOptions {
  std::vector<std::string> overrides;  // on top of every scenario
  LargeRows large = LargeRows::kPlayed;
};

// In the order of the rows, those of split `exclude` left out. Scenarios that are the same are played once, on all
// cores.
[[nodiscard]] std::vector<PlayedRow> play_rows(const std::vector<TrainingRow>& rows,
                                               const TrainingConventions& conventions, const CaseOptions& options);

}  // namespace ringwright::validation
