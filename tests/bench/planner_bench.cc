// One configuration after another on one machine, as a planner asks for them: from a job's settings to its step time.
#include <string>

#include <benchmark/benchmark.h>

#include "configs/planner.h"
#include "core/base/check.h"
#include "tests/bench/figures.h"

namespace ringwright::bench {
namespace {

constexpr const char* kCluster =
    "cluster:\n  nodes: 128\n  node: {preset: dgx-h100}\n  fabric: {type: rail_optimized, rails: 8, scalable_unit: 32, "
    "leaf: {ports: 64, speed: 400Gbps}, spine: {ports: 64, speed: 400Gbps}, routing: {policy: static}}\n"
    "collectives: {model: closed_form}\nsimulate: {steps: 1, network: alpha_beta}\n";

// A model of which a replica takes 64 GPUs, on 1,024 of them.
void predict(benchmark::State& state, const std::string& model, int microbatches) {
  const std::string text =
      "model: {preset: " + model + "}\ntraining: {global_batch: " + std::to_string(16 * microbatches) +
      ", micro_batch: 1}\nparallel: {tp: 8, pp: 8, dp: auto, sequence_parallel: true}\n" + kCluster;
  const auto scenario = configs::load_scenario_text("planner.yaml", text);
  CHECK(scenario.has_value(), "the planner's scenario can be read");
  configs::Planner planner(*scenario);
  Figures figures{.ranks = 1024};
  for (auto _ : state) {
    const auto prediction = planner.predict(*scenario);
    CHECK(prediction.has_value() && prediction->has_value(), "the planner's scenario can be played");
    figures.simulated_seconds = to_seconds((*prediction)->step_time.mean);
  }
  report(state, figures);
}

void as_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}

BENCHMARK_CAPTURE(predict, llama3_70b_m64, "llama3-70b", 64)->Apply(as_case);
BENCHMARK_CAPTURE(predict, llama3_70b_m128, "llama3-70b", 128)->Apply(as_case);
BENCHMARK_CAPTURE(predict, gpt3_175b_m512, "gpt3-175b", 512)->Apply(as_case);

}  // namespace
}  // namespace ringwright::bench
