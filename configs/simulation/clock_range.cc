#include "configs/simulation/clock_range.h"

#include <fmt/format.h>

namespace ringwright::configs {

Diagnostics ends_too_late(const SimulateSettings& simulate, const RunResult& run) {
  const double days = to_seconds(kClockEnd) / 86'400.0;
  if (run.iterations_in_time == 0) {
    return failure("E148",
                   fmt::format("one training step takes longer than the {:.1f} days of the simulated clock", days),
                   {.file = simulate.steps_at.file},
                   "a rate is too low, a latency too high or the batch too large; --show-origin prints all values");
  }
  const int fit = run.iterations_in_time - simulate.warmup;
  return failure(
      "E148",
      fmt::format("'simulate.steps' is {}{}, but only {} training steps end within the {:.1f} days of the "
                  "simulated clock",
                  simulate.steps, simulate.warmup > 0 ? fmt::format(" after {} of warm-up", simulate.warmup) : "",
                  run.iterations_in_time, days),
      simulate.steps_at,
      fit > 0 ? fmt::format("set simulate.steps to at most {}", fit) : "set simulate.steps and simulate.warmup lower");
}

}  // namespace ringwright::configs
