// The peers' 16,384-GPU training step as a task graph, through folding and executor; and the same with 131,072 GPUs.
#include <memory>

#include <benchmark/benchmark.h>

#include "collectives/builtin.h"
#include "core/base/check.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"
#include "tests/bench/figures.h"
#include "tests/peers/flow/play.h"
#include "tests/support/doubles.h"
#include "tests/support/reference_step.h"

namespace ringwright::bench {
namespace {

using namespace ringwright::literals;
using peers::ReferenceFabric;
using peers::RouteRule;

// The cases of training-step-cases.csv; with 8 times the replicas, nothing else changes. A rank's gradients are rounded
// to whole bytes a replica: blocks of unequal size would set nearly all ranks apart.
test::ReferenceStep step_of(std::uint32_t gpus) {
  const std::int64_t replicas = gpus / 128;
  return {.stages = 16,
          .replicas = static_cast<int>(replicas),
          .microbatches = 32,
          .activation = Bytes(16 << 20),
          .gradient = Bytes((2'700'000'000 + replicas / 2) / replicas * replicas),
          .forward = 2_ms,
          .backward = 4_ms};
}
peers::FabricShape fabric_of(std::uint32_t gpus, RouteRule rule) {
  return {.gpus = gpus, .hosts_per_pod = 32, .uplinks = 16, .pods_per_superpod = gpus > 16384 ? 32U : 8U,
          .core_uplinks = 32, .rule = rule};
}

const CollectiveAlgorithm& ring() {
  for (const CollectiveAlgorithm* algorithm : collectives::algorithms()) {
    if (algorithm->name() == "ring") return *algorithm;
  }
  CHECK(false, "there is no ring");
  return *collectives::algorithms().front();
}

void fold_step(benchmark::State& state, std::uint32_t gpus, RouteRule rule) {
  const TaskGraph graph = test::make_reference_step(step_of(gpus));
  const ReferenceFabric fabric(fabric_of(gpus, rule));
  const test::AlwaysChoose chooser(ring());
  Folding folding;
  for (auto _ : state) folding = fold(graph, chooser, fabric);
  report(state, {.ranks = gpus, .classes = folding.ranks.count()});
  state.counters["rounds"] = folding.rounds;
}

Figures play(const TaskGraph& graph, const Router& router, const RankClasses& classes) {
  const test::AlwaysChoose chooser(ring());
  const test::PlainCompute compute;
  Engine engine;
  const auto network = peers::make_model("flow", {.engine = engine, .router = router});
  const RunResult result = execute({.engine = engine, .graph = graph, .classes = classes, .network = *network,
                                    .chooser = chooser, .compute = compute});
  CHECK(result.outcome == RunOutcome::kFinished, render(result.stall));
  return {.ranks = graph.rank_count(),
          .classes = classes.count(),
          .flows = network->counters().front().value,
          .events = engine.events_run(),
          .simulated_seconds = to_seconds(engine.now().since_start())};
}

void play_folded(benchmark::State& state, std::uint32_t gpus, RouteRule rule) {
  const TaskGraph graph = test::make_reference_step(step_of(gpus));
  const ReferenceFabric fabric(fabric_of(gpus, rule));
  const test::AlwaysChoose chooser(ring());
  Figures figures;
  for (auto _ : state) {
    const Folding folding = fold(graph, chooser, fabric);
    const std::unique_ptr<Router> router = make_folded_router(fabric, folding);
    figures = play(graph, *router, folding.ranks);
  }
  report(state, figures);
}

void play_unfolded(benchmark::State& state, std::uint32_t gpus, RouteRule rule) {
  const TaskGraph graph = test::make_reference_step(step_of(gpus));
  const ReferenceFabric fabric(fabric_of(gpus, rule));
  Figures figures;
  for (auto _ : state) figures = play(graph, fabric, identity_classes(gpus));
  figures.classes = 0;
  report(state, figures);
}

void as_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}

BENCHMARK_CAPTURE(fold_step, 16384/node-mod, 16384, RouteRule::kNodeMod)->Apply(as_case);
BENCHMARK_CAPTURE(fold_step, 16384/dmodk, 16384, RouteRule::kDModK)->Apply(as_case);
BENCHMARK_CAPTURE(fold_step, 131072/node-mod, 131072, RouteRule::kNodeMod)->Apply(as_case);
BENCHMARK_CAPTURE(fold_step, 131072/dmodk, 131072, RouteRule::kDModK)->Apply(as_case);
BENCHMARK_CAPTURE(play_folded, 16384/node-mod, 16384, RouteRule::kNodeMod)->Apply(as_case);
BENCHMARK_CAPTURE(play_folded, 16384/dmodk, 16384, RouteRule::kDModK)->Apply(as_case);
BENCHMARK_CAPTURE(play_folded, 131072/node-mod, 131072, RouteRule::kNodeMod)->Apply(as_case);
BENCHMARK_CAPTURE(play_folded, 131072/dmodk, 131072, RouteRule::kDModK)->Apply(as_case);
BENCHMARK_CAPTURE(play_unfolded, 16384/node-mod, 16384, RouteRule::kNodeMod)->Apply(as_case);
BENCHMARK_CAPTURE(play_unfolded, 16384/dmodk, 16384, RouteRule::kDModK)->Apply(as_case);
BENCHMARK_CAPTURE(play_unfolded, 16384/hash, 16384, RouteRule::kHash)->Apply(as_case);

}  // namespace
}  // namespace ringwright::bench
