#include "core/run/step/executor.h"

#include <optional>
#include <utility>

#include "core/run/step/step_player.h"
#include "core/run/step/timed_step.h"

namespace ringwright {

RunResult execute(const ExecutorInputs& inputs, const ExecutorOptions& options) {
  if (TimedStep::covers(inputs, options)) {
    if (std::optional<RunResult> result = TimedStep(inputs, options).evaluate()) return std::move(*result);
  }
  return StepPlayer(inputs, options).run();
}

}  // namespace ringwright
