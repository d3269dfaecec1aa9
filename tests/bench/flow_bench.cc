// Benchmarks of the flow model: the solver, the completion queue, and the peers' cases as a whole.
//
// Times are user CPU seconds of the process; "peak_MiB" is the process's largest resident set so far, so run one case
// at a time (--benchmark_filter) for the memory of that case.
#include <sys/resource.h>

#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/base/random.h"
#include "network_models/completion_queue.h"
#include "network_models/max_min_solver.h"
#include "tests/peers/flow/play.h"

namespace ringwright::peers {
namespace {

using network_models::CompletionQueue;
using network_models::MaxMinProblem;
using network_models::MaxMinSolution;
using network_models::MaxMinSolver;

double peak_mebibytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void report(benchmark::State& state, const Played& played) {
  const auto runs = static_cast<double>(state.iterations());
  const auto per_second = benchmark::Counter::kIsRate;
  state.counters["flows/s"] = benchmark::Counter(runs * static_cast<double>(played.counter("flows")), per_second);
  // A flow is two events: its latency is paid, its last byte arrives.
  state.counters["events/s"] = benchmark::Counter(runs * 2.0 * static_cast<double>(played.counter("flows")), per_second);
  state.counters["instants"] = static_cast<double>(played.events);
  state.counters["solves"] = static_cast<double>(played.counter("solves"));
  state.counters["resolved/flow"] = static_cast<double>(played.counter("flows re-solved")) /
                                    static_cast<double>(played.counter("flows"));
  state.counters["simulated_s"] = played.seconds;
  state.counters["peak_MiB"] = peak_mebibytes();
}

constexpr FabricShape kFabric256 = {.gpus = 256};
constexpr FabricShape kFabric1024 = {.gpus = 1024};
constexpr FabricShape kFabric4096 = {.gpus = 4096, .pods_per_superpod = 8, .core_uplinks = 32};

template <class MakePattern>
void run_pattern(benchmark::State& state, const FabricShape& fabric, MakePattern make_pattern) {
  Played played;
  for (auto _ : state) played = play(fabric, make_pattern);
  report(state, played);
}

void ring_256(benchmark::State& state) {
  run_pattern(state, kFabric256, [](const Stage& stage) { return Ring(stage, Bytes(1 << 30), 510); });
}
void ring_4096(benchmark::State& state) {
  run_pattern(state, kFabric4096, [](const Stage& stage) { return Ring(stage, Bytes(1 << 30), 128); });
}
void all_to_all_256(benchmark::State& state) {
  run_pattern(state, kFabric256, [](const Stage& stage) { return AllToAll(stage, Bytes(1 << 20)); });
}
// SimGrid did not finish this one in 400 s.
void all_to_all_1024(benchmark::State& state) {
  run_pattern(state, kFabric1024, [](const Stage& stage) { return AllToAll(stage, Bytes(1 << 20)); });
}
void all_to_all_with_barrier_1024(benchmark::State& state) {
  run_pattern(state, kFabric1024, [](const Stage& stage) { return AllToAllWithBarrier(stage, Bytes(1 << 20), 255); });
}
void permutations_1024(benchmark::State& state) {
  run_pattern(state, kFabric1024, [](const Stage& stage) { return Permutations(stage, 4); });
}
void permutations_4096(benchmark::State& state) {
  run_pattern(state, kFabric4096, [](const Stage& stage) { return Permutations(stage, 4); });
}

StepShape step_shape(std::uint32_t stages, std::uint32_t replicas, std::int64_t gradients) {
  return {.stages = stages,
          .replicas = replicas,
          .microbatches = 2 * stages,
          .activations = Bytes(16 << 20),
          .gradients = Bytes(gradients),
          .forward = Duration(2'000'000'000),
          .backward = Duration(4'000'000'000)};
}

void run_step(benchmark::State& state, const FabricShape& fabric, const StepShape& step) {
  Played played;
  for (auto _ : state) played = play_training_step(fabric, step);
  report(state, played);
}

void step_2048(benchmark::State& state, RouteRule rule) {
  run_step(state,
           {.gpus = 2048, .uplinks = 8, .pods_per_superpod = 4, .core_uplinks = 16, .rule = rule},
           step_shape(8, 32, 270'532'608));
}
void step_16384(benchmark::State& state, RouteRule rule) {
  run_step(state,
           {.gpus = 16384, .hosts_per_pod = 32, .uplinks = 16, .pods_per_superpod = 8, .core_uplinks = 32, .rule = rule},
           step_shape(16, 128, 2'700'000'000));
}
// 276 million flows, unfolded.
void step_131072(benchmark::State& state) {
  run_step(state, {.gpus = 131072, .hosts_per_pod = 32, .uplinks = 16, .pods_per_superpod = 8, .core_uplinks = 32},
           step_shape(16, 1024, 2'700'000'000));
}

BENCHMARK(ring_256)->Unit(benchmark::kMillisecond);
BENCHMARK(ring_4096)->Unit(benchmark::kMillisecond);
BENCHMARK(all_to_all_256)->Unit(benchmark::kMillisecond);
BENCHMARK(all_to_all_1024)->Unit(benchmark::kMillisecond);
BENCHMARK(all_to_all_with_barrier_1024)->Unit(benchmark::kMillisecond);
BENCHMARK(permutations_1024)->Unit(benchmark::kMillisecond);
BENCHMARK(permutations_4096)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step_2048, d_mod_k, RouteRule::kDModK)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step_2048, hash, RouteRule::kHash)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step_16384, d_mod_k, RouteRule::kDModK)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step_16384, node_mod, RouteRule::kNodeMod)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step_16384, hash, RouteRule::kHash)->Unit(benchmark::kMillisecond);
BENCHMARK(step_131072)->Unit(benchmark::kMillisecond)->Iterations(1);

// A whole solve of one flow from every GPU to a random other one.
void full_solve(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const ReferenceFabric fabric({.gpus = gpus, .hosts_per_pod = 32, .uplinks = 16, .pods_per_superpod = 8, .core_uplinks = 32});
  std::vector<std::uint32_t> first_hop = {0};
  std::vector<std::uint32_t> hop_link;
  std::vector<double> hop_share;
  RandomStream random(1, "targets");
  std::vector<Hop> way;
  for (std::uint32_t from = 0; from < gpus; ++from) {
    const auto to = static_cast<std::uint32_t>(random.next_below(gpus - 1));
    fabric.route({.from = RankId(from), .to = RankId(to < from ? to : to + 1)}, way);
    for (const Hop& hop : way) {
      hop_link.push_back(hop.link.value);
      hop_share.push_back(hop.share);
    }
    first_hop.push_back(static_cast<std::uint32_t>(hop_link.size()));
  }
  std::vector<double> capacity;
  for (const Bandwidth bandwidth : fabric.capacities()) capacity.push_back(bandwidth.count());
  MaxMinSolver solver;
  MaxMinSolution solution;
  for (auto _ : state) {
    solver.solve({.first_hop = first_hop, .hop_link = hop_link, .hop_share = hop_share, .capacity = capacity}, solution);
    benchmark::DoNotOptimize(solution.rate.data());
  }
  state.SetItemsProcessed(state.iterations() * gpus);
}
BENCHMARK(full_solve)->Arg(1024)->Arg(16384)->Unit(benchmark::kMicrosecond);

// Take out the earliest group, put it back a round later: as in lock-step traffic (64 or 450), as in free-running (1).
void completion_queue_hold(benchmark::State& state) {
  constexpr std::uint32_t kPending = 16384;
  const auto group = static_cast<std::uint32_t>(state.range(0));
  CompletionQueue queue;
  RandomStream random(1, "queue");
  std::int64_t moment = 0;
  for (std::uint32_t item = 0; item < kPending; ++item) {
    if (item % group == 0) moment = static_cast<std::int64_t>(random.next_below(1'000'000'000));
    queue.set(item, TimePoint(Duration(moment)));
  }
  std::vector<std::uint32_t> due;
  std::int64_t events = 0;
  for (auto _ : state) {
    const TimePoint now = queue.earliest();
    due.clear();
    queue.pop_earliest(due);
    const Duration later(static_cast<std::int64_t>(random.next_below(1'000'000'000)));
    for (const std::uint32_t item : due) queue.set(item, now + later);
    events += static_cast<std::int64_t>(due.size());
  }
  state.SetItemsProcessed(events);
}
BENCHMARK(completion_queue_hold)->Arg(1)->Arg(8)->Arg(64)->Arg(450);

}  // namespace
}  // namespace ringwright::peers

BENCHMARK_MAIN();
