// Scenarios from YAML to the end of the run, and how long running takes: shipped ones, and some that were slow.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulate.h"
#include "core/base/check.h"
#include "tests/bench/figures.h"
#include "tests/bench/table_cases.h"
#include "tests/paths.h"

namespace ringwright::bench {
namespace {

// What the engine counted of one name; 0 if the network model has no such counter.
std::uint64_t counter(const Report& report, const std::string& name) {
  for (const auto& counter : report.facts.engine.counters) {
    if (counter.name == name) return counter.value;
  }
  return 0;
}

using Overrides = std::vector<std::string>;

void run_scenario(benchmark::State& state, const std::string& file, const Overrides& overrides = {}) {
  Figures figures;
  double running = 0.0;
  for (auto _ : state) {
    const auto scenario = configs::load_scenario(file, {.overrides = overrides, .share_folders = {}});
    CHECK(scenario.has_value(), "a shipped scenario can be read");
    const double since_loaded = cpu_seconds();
    const auto outcome = configs::simulate(*scenario, configs::FoldMode::kFold);
    CHECK(outcome.has_value() && outcome->report.has_value(), "a shipped scenario runs to its end");
    running = cpu_seconds() - since_loaded;
    const EngineFacts& engine = outcome->report->facts.engine;
    figures = {.ranks = static_cast<std::uint64_t>(scenario->cluster.gpus()),
               .classes = engine.classes,
               .flows = counter(*outcome->report, "flows"),
               .events = engine.events,
               .simulated_seconds = to_seconds(outcome->report->step_time.mean)};
  }
  report(state, figures);
  state.counters["run_s"] = running;
}

// One collective on hosts of DGX H100, as `ringwright collective` plays it.
void run_collective(benchmark::State& state, const Overrides& overrides, Bytes bytes) {
  const auto machine = configs::load_machine_text("machine", "cluster: {node: {preset: dgx-h100}}\n",
                                                  {.overrides = overrides, .share_folders = {}});
  CHECK(machine.has_value(), "a machine of the benchmark can be read");
  Figures figures;
  for (auto _ : state) {
    configs::CollectiveBench bench(*machine);
    const auto result = bench.run({.operation = configs::CollectiveOperation::kAllToAll, .bytes = bytes});
    CHECK(result.has_value(), "a collective on a whole machine ends");
    figures = {.ranks = static_cast<std::uint64_t>(bench.ranks(0)),
               .events = result->events,
               .simulated_seconds = to_seconds(result->time)};
  }
  report(state, figures);
}

void as_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}

// With interference and receives by the thousand: linear in microbatches.
void register_interference() {
  const std::string file = ringwright::share_dir() + "/scenarios/llama3-70b-tp-overlap-64-h100.yaml";
  for (const int batch : {8, 16, 32, 64}) {
    const Overrides overrides = {"interference.model=share", "training.global_batch=" + std::to_string(batch)};
    as_case(benchmark::RegisterBenchmark(
        ("interference/batch-" + std::to_string(batch)).c_str(),
        [file, overrides](benchmark::State& state) { run_scenario(state, file, overrides); }));
  }
}

// All-to-all on chunks whose routes are hashed: nothing folds.
void register_hashed_exchanges() {
  for (const int hosts : {4, 8, 16, 32}) {
    const Overrides overrides = {"cluster.nodes=" + std::to_string(hosts), "cluster.fabric.type=fat_tree",
                                 "cluster.fabric.routing.policy=ecmp", "collectives.model=chunks"};
    as_case(benchmark::RegisterBenchmark(
        ("alltoall-ecmp/" + std::to_string(8 * hosts)).c_str(),
        [overrides](benchmark::State& state) { run_collective(state, overrides, Bytes(16 << 20)); }));
  }
}

}  // namespace

void register_scenarios() {
  register_interference();
  register_hashed_exchanges();
  for (const std::string name : {"llama3-8b-8-h100", "gpt3-175b-1024-a100", "llama3-405b-16k-h100", "scale-1m-h100"}) {
    const std::string file = ringwright::share_dir() + "/scenarios/" + name + ".yaml";
    as_case(benchmark::RegisterBenchmark(("scenario/" + name).c_str(),
                                         [file](benchmark::State& state) { run_scenario(state, file); }));
  }
}

}  // namespace ringwright::bench
