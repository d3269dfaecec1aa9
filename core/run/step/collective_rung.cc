#include "core/run/step/collective_rung.h"

#include <utility>

#include "core/run/collectives/collective_player.h"
#include "core/run/collectives/coupled_collectives.h"
#include "core/run/collectives/timed_collectives.h"
#include "core/run/alone/calls_at_once.h"
#include "core/run/kernels/chunk_player.h"

namespace ringwright {

std::unique_ptr<CollectiveRunner> make_collective_runner(PlayedJob& job, const ExecutorInputs& inputs) {
  if (inputs.collective_time != nullptr) return std::make_unique<TimedCollectives>(job, *inputs.collective_time);
  if (inputs.channels != nullptr && inputs.lone != nullptr) {
    auto chunks = std::make_unique<ChunkPlayer>(job, *inputs.channels);
    return std::make_unique<CallsAtOnce>(job, std::move(chunks), *inputs.lone, CallsAtOnce::Which::kAll);
  }
  if (inputs.channels != nullptr) return std::make_unique<ChunkPlayer>(job, *inputs.channels);
  if (inputs.progress == MemberProgress::kTogether) {
    return std::make_unique<CoupledCollectives>(job, inputs.chooser, inputs.call_overhead);
  }
  auto steps = std::make_unique<CollectivePlayer>(job, inputs.chooser, inputs.step_costs, inputs.call_overhead);
  if (inputs.lone == nullptr) return steps;
  return std::make_unique<CallsAtOnce>(job, std::move(steps), *inputs.lone, CallsAtOnce::Which::kWithinHosts);
}

}  // namespace ringwright
