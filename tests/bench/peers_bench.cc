// The peers' cases, traffic and training steps, on the flow model alone: every flow is simulated, nothing is folded.
#include <benchmark/benchmark.h>

#include "tests/bench/figures.h"
#include "tests/bench/table_cases.h"
#include "tests/paths.h"
#include "tests/peers/flow/cases.h"

namespace ringwright::bench {
namespace {

using peers::CsvTable;
using peers::Played;

void report_played(benchmark::State& state, std::uint32_t gpus, const Played& played) {
  report(state, {.ranks = gpus,
                 .flows = played.counter("flows"),
                 .events = played.events,
                 .simulated_seconds = played.seconds});
  state.counters["solves"] = static_cast<double>(played.counter("solves"));
  state.counters["resolved/flow"] =
      static_cast<double>(played.counter("flows re-solved")) / static_cast<double>(played.counter("flows"));
}

void play_traffic(benchmark::State& state, const peers::TrafficCase& traffic) {
  Played played;
  for (auto _ : state) played = peers::play(traffic);
  report_played(state, traffic.fabric.gpus, played);
}

void play_step(benchmark::State& state, const peers::StepCase& step) {
  Played played;
  for (auto _ : state) played = peers::play_training_step(step.fabric, step.step);
  report_played(state, step.fabric.gpus, played);
}

template <class Play, class Case>
void add(const Play& play, const Case& peer_case) {
  benchmark::RegisterBenchmark(
      name_of(peer_case).c_str(), [play, peer_case](benchmark::State& state) { play(state, peer_case); })
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime();
}

}  // namespace

void register_peer_cases() {
  const std::string folder = ringwright::test_data() + "/peers/flow/";
  const CsvTable traffic(folder + "simgrid-scenarios.csv");
  for (std::size_t row = 0; row < traffic.size(); ++row) add(play_traffic, peers::traffic_case(traffic, row));
  // SimGrid did not finish this one in 400 s.
  add(play_traffic, peers::TrafficCase{.workload = "a2a", .fabric = {.gpus = 1024}, .bytes = Bytes(1 << 20)});
  const CsvTable steps(folder + "training-step-cases.csv");
  for (std::size_t row = 0; row < steps.size(); ++row) add(play_step, peers::step_case(steps, row));
}

}  // namespace ringwright::bench
