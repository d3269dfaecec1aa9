// Runs one pattern on a fresh engine, fabric and network model, and returns its end time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "core/engine/engine.h"
#include "network_models/builtin.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/peers/flow/traffic.h"
#include "tests/peers/flow/training_step.h"

namespace ringwright::peers {

[[nodiscard]] inline std::unique_ptr<NetworkModel> make_model(std::string_view name,
                                                              const network_models::ModelInputs& inputs) {
  for (const network_models::ModelEntry& entry : network_models::models()) {
    if (entry.name == name) return entry.make(inputs);
  }
  CHECK(false, "no such network model");
  return nullptr;
}

struct Played {
  double seconds = 0.0;
  double last_backward_seconds = 0.0;  // of a training step
  std::uint64_t events = 0;
  std::uint64_t fingerprint = 0;
  std::vector<NetworkModel::Counter> counters;

  [[nodiscard]] std::uint64_t counter(std::string_view name) const {
    for (const NetworkModel::Counter& candidate : counters) {
      if (candidate.name == name) return candidate.value;
    }
    CHECK(false, "no such counter");
    return 0;
  }
};

// `make_pattern` makes a pattern on a stage: an object with start() that listens to the network.
template <class MakePattern>
[[nodiscard]] Played play(const FabricShape& shape, MakePattern make_pattern,
                          network_models::ModelOptions options = {}) {
  const ReferenceFabric fabric(shape);
  Engine engine;
  const std::unique_ptr<NetworkModel> network =
      make_model("flow", {.engine = engine, .router = fabric, .options = options});
  auto pattern = make_pattern(Stage{.engine = engine, .network = *network, .ranks = shape.gpus});
  pattern.start();
  CHECK(engine.run() == RunEnd::kIdle, "a pattern must complete");
  Played played = {.seconds = to_seconds(engine.now().since_start()),
                   .events = engine.events_run(),
                   .fingerprint = engine.fingerprint(),
                   .counters = network->counters()};
  if constexpr (requires { pattern.last_backward_end(); }) {
    played.last_backward_seconds = to_seconds(pattern.last_backward_end().since_start());
  }
  return played;
}

[[nodiscard]] inline Played play_training_step(const FabricShape& fabric, const StepShape& step,
                                               network_models::ModelOptions options = {}) {
  return play(fabric, [&step](const Stage& stage) { return TrainingStep(stage, step); }, options);
}

}  // namespace ringwright::peers
