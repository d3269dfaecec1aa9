// Figures of a simulated step or job, by the names that the table of systems uses.
//
//   step_s, tflops, mfu, memory_gb      of the step; TFLOP/s per GPU of model FLOPs; memory of the fullest GPU
//   mean_step_s                         of steps of which every N-th saves a checkpoint
//   bubble_of_step, bubble_of_ideal     of the first stage (pipeline_bubble.h)
//   held_at_peak, weight_versions       of the first stage
//   memory_gb NAME                      an item of the first stage's memory, such as `memory_gb weights`
//   bytes_gb DIMENSION [OPERATION]      sizes of a step's collectives as their calls state them, summed over calls
//   exposed_s DIMENSION                 communication of `tp` and the like that no computation hides, mean over ranks
//   ettr, faults, wall_hours, expected_mtbf_hours   of a job with failures
//   time_us OPERATION SIZE, busbw OPERATION SIZE    of one collective: `busbw all_reduce 64MiB`, in GB/s
//
// GB is 1e9 bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "validation/systems/system_rows.h"

namespace ringwright::validation {

// The call of a collective's figure; empty when the figure is not of a collective.
struct SystemCall {
  std::string operation;  // "all_reduce"
  Bytes bytes;
};
[[nodiscard]] std::optional<SystemCall> system_call(std::string_view figure);

[[nodiscard]] bool is_system_figure(SystemRun run, std::string_view name);
[[nodiscard]] std::string system_figure_names(SystemRun run);  // "one of step_s, ..."

// The figure of one run, or of a ratio: that of `base` over that of `settings`. E561 where the run has no such figure.
[[nodiscard]] Result<double> simulated_figure(const SystemRow& row, const std::vector<std::string>& overrides);

}  // namespace ringwright::validation
