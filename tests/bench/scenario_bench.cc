// Shipped scenarios from YAML to the end of the run, and how long running takes.
#include <string>

#include <benchmark/benchmark.h>

#include "configs/scenario.h"
#include "configs/simulate.h"
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

void run_scenario(benchmark::State& state, const std::string& file) {
  Figures figures;
  double running = 0.0;
  for (auto _ : state) {
    const auto scenario = configs::load_scenario(file);
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

}  // namespace

void register_scenarios() {
  for (const std::string name : {"llama3-8b-8-h100", "gpt3-175b-1024-a100", "llama3-405b-16k-h100", "scale-1m-h100"}) {
    const std::string file = ringwright::share_dir() + "/scenarios/" + name + ".yaml";
    benchmark::RegisterBenchmark(("scenario/" + name).c_str(),
                                 [file](benchmark::State& state) { run_scenario(state, file); })
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime();
  }
}

}  // namespace ringwright::bench
