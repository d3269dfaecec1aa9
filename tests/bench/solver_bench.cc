// The parts of the flow model by themselves: a whole max-min solve, and the queue of completions.
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/base/random.h"
#include "network_models/flow/completion_queue.h"
#include "network_models/solver/max_min_solver.h"
#include "tests/peers/flow/reference_fabric.h"

namespace ringwright::bench {
namespace {

using network_models::CompletionQueue;
using network_models::MaxMinSolution;
using network_models::MaxMinSolver;

// A whole solve of one flow from every GPU to a random other one.
void full_solve(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const peers::ReferenceFabric fabric(
      {.gpus = gpus, .hosts_per_pod = 32, .uplinks = 16, .pods_per_superpod = 8, .core_uplinks = 32});
  std::vector<std::uint32_t> first_hop = {0};
  std::vector<std::uint32_t> hop_link;
  std::vector<double> hop_share;
  RandomStream random(1, "targets");
  std::vector<Hop> path;
  for (std::uint32_t from = 0; from < gpus; ++from) {
    const auto to = static_cast<std::uint32_t>(random.next_below(gpus - 1));
    fabric.route({.from = RankId(from), .to = RankId(to < from ? to : to + 1)}, path);
    for (const Hop& hop : path) {
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
    solver.solve({.first_hop = first_hop, .hop_link = hop_link, .hop_share = hop_share, .capacity = capacity},
                 solution);
    benchmark::DoNotOptimize(solution.rate.data());
  }
  state.SetItemsProcessed(state.iterations() * gpus);
}
BENCHMARK(full_solve)->Arg(1024)->Arg(16384)->Arg(131072)->Unit(benchmark::kMicrosecond);

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
}  // namespace ringwright::bench
