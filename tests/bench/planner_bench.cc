// One configuration after another on one machine, as a planner asks for them: from a job's settings to its step time.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "configs/simulation/planner.h"
#include "core/base/check.h"
#include "tests/bench/figures.h"

namespace ringwright::bench {
namespace {

constexpr const char* kCluster =
    "cluster:\n  nodes: 128\n  node: {preset: dgx-h100}\n  fabric: {type: rail_optimized, rails: 8, scalable_unit: 32, "
    "leaf: {ports: 64, speed: 400Gbps}, spine: {ports: 64, speed: 400Gbps}, routing: {policy: static}}\n"
    "collectives: {model: closed_form}\nsimulate: {steps: 1, network: alpha_beta}\n";

// A model of which a replica takes 64 GPUs, on 1,024 of them.
configs::Scenario scenario_of(const std::string& model, int microbatches) {
  const std::string text =
      "model: {preset: " + model + "}\ntraining: {global_batch: " + std::to_string(16 * microbatches) +
      ", micro_batch: 1}\nparallel: {tp: 8, pp: 8, dp: auto, sequence_parallel: true}\n" + kCluster;
  auto scenario = configs::load_scenario_text("planner.yaml", text);
  CHECK(scenario.has_value(), "the planner's scenario can be read");
  return std::move(*scenario);
}

void predict(benchmark::State& state, const std::string& model, int microbatches) {
  const configs::Scenario read = scenario_of(model, microbatches);
  const configs::Scenario* const scenario = &read;
  configs::Planner planner(*scenario);
  Figures figures{.ranks = 1024};
  for (auto _ : state) {
    const auto prediction = planner.predict(*scenario);
    CHECK(prediction.has_value() && prediction->has_value(), "the planner's scenario can be played");
    figures.simulated_seconds = to_seconds((*prediction)->step_time.mean);
  }
  report(state, figures);
}

// A thousand configurations, no two equal: layouts, sizes of microbatches, recomputation, schedules, kinds of sharding.
std::vector<ConfigChanges> thousand_changes() {
  std::vector<ConfigChanges> changes;
  for (const char* tp : {"1", "2", "4", "8"}) {
    for (const char* pp : {"2", "4", "5", "8", "10", "16"}) {
      for (const char* micro_batch : {"1", "2", "4"}) {
        for (const char* recompute : {"none", "selective", "full"}) {
          for (const char* schedule : {"1f1b", "zb-h1"}) {
            for (const char* zero : {"0", "1"}) {
              for (const char* overlap : {"true", "false"}) {
                changes.push_back({.settings = {std::string("parallel.tp=") + tp, std::string("parallel.pp=") + pp,
                                                std::string("training.micro_batch=") + micro_batch,
                                                std::string("training.recompute=") + recompute,
                                                std::string("parallel.schedule=") + schedule,
                                                std::string("parallel.zero.stage=") + zero,
                                                std::string("parallel.overlap_p2p_comm=") + overlap}});
              }
            }
          }
        }
      }
    }
  }
  changes.resize(std::min<std::size_t>(changes.size(), 1000));
  return changes;
}

// Those of the thousand that are legal, from their changed settings to their step times.
void search(benchmark::State& state) {
  const configs::Scenario base = scenario_of("llama3-70b", 128);
  configs::Scenario scenario = scenario_of("llama3-70b", 128);
  const std::vector<ConfigChanges> changes = thousand_changes();
  double reading = 0.0;
  double predicting = 0.0;
  std::size_t predicted = 0;
  for (auto _ : state) {
    reading = predicting = 0.0;
    predicted = 0;
    configs::Planner planner(scenario);
    for (const ConfigChanges& change : changes) {
      const double begin = cpu_seconds();
      auto job = configs::changed_job(base, change);
      const double read = cpu_seconds();
      reading += read - begin;
      if (!job) continue;
      scenario.job = std::move(job->job);
      scenario.simulate = job->simulate;
      const auto prediction = planner.predict(scenario);
      predicting += cpu_seconds() - read;
      if (prediction && *prediction) ++predicted;
    }
  }
  report(state, {.ranks = 1024});
  state.counters["predicted"] = static_cast<double>(predicted);
  state.counters["read_ms"] = 1e3 * reading / static_cast<double>(changes.size());
  state.counters["predict_ms"] = 1e3 * predicting / static_cast<double>(std::max<std::size_t>(predicted, 1));
}

void as_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}

BENCHMARK_CAPTURE(predict, llama3_70b_m64, "llama3-70b", 64)->Apply(as_case);
BENCHMARK_CAPTURE(predict, llama3_70b_m128, "llama3-70b", 128)->Apply(as_case);
BENCHMARK_CAPTURE(predict, gpt3_175b_m512, "gpt3-175b", 512)->Apply(as_case);
BENCHMARK(search)->Name("planner_loop/1000")->Apply(as_case);

}  // namespace
}  // namespace ringwright::bench
