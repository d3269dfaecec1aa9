#include "core/run/step/executor.h"

#include "core/run/step/step_player.h"

namespace ringwright {

RunResult execute(const ExecutorInputs& inputs, const ExecutorOptions& options) {
  return StepPlayer(inputs, options).run();
}

}  // namespace ringwright
