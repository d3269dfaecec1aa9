#include "configs/simulation/overheads_at_once.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "configs/simulation/collective_choices.h"
#include "configs/simulation/collective_rung.h"
#include "configs/simulation/plan_calls.h"

namespace ringwright::configs {
namespace {

// Primitives of all ranks, each some two events: of a tenth of a second on one core. Threads cost more below.
constexpr double kManyPrimitives = 100e3;

struct CostlyCall {
  CollectiveCall call;
  double primitives = 0.0;

  [[nodiscard]] bool is_like(const CollectiveCall& other) const {
    return call.kind == other.kind && call.bytes == other.bytes && call.dimension == other.dimension &&
           *call.layout == *other.layout;
  }
};

// Each once, the longest first.
std::vector<CostlyCall> costly_calls(const TaskGraph& graph, const ChannelChooser& kernels) {
  std::vector<CostlyCall> costly;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    if (std::ranges::any_of(costly, [&](const CostlyCall& known) { return known.is_like(call); })) return;
    const double primitives = primitives_in(kernels, call) * call.size();
    if (primitives > kManyPrimitives) costly.push_back({call, primitives});
  });
  std::ranges::stable_sort(costly, std::ranges::greater(), &CostlyCall::primitives);
  return costly;
}

}  // namespace

double primitives_in(const ChannelChooser& chooser, const CollectiveCall& call) {
  const ChannelChoice choice = chooser.choose(call);
  if (choice.algorithm == nullptr) return 0.0;
  double primitives = 0.0;
  ThreadBlock made;
  for (int block = 0; block < choice.algorithm->blocks(call, choice.plan); ++block) {
    choice.algorithm->block(call, choice.plan, 0, block, made);
    primitives += static_cast<double>(made.primitives);
  }
  return primitives;
}

void find_overheads(const PlannedCalls& calls, KnownOverheads& known) {
  const std::vector<CostlyCall> costly = costly_calls(calls.graph, calls.kernels);
  if (costly.size() < 2) return;
#pragma omp parallel
  {
    // Choosers remember what they chose: each thread has its own.
    const CollectiveChoices choices(calls.scenario, calls.graph, &known.graphs());
    const CollectiveRung rung({.scenario = calls.scenario,
                               .graph = calls.graph,
                               .network = calls.network,
                               .choices = choices,
                               .progress = calls.progress,
                               .known = &known});
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < costly.size(); ++i) static_cast<void>(rung.overhead()->of(costly[i].call));
  }
}

}  // namespace ringwright::configs
