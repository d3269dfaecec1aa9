#include "core/run/shortcuts/step_period.h"

#include <memory>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"
#include "network_models/builtin.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/doubles.h"
#include "tests/support/reference_step.h"

namespace ringwright::step_period_test {
namespace {

using namespace ringwright::literals;

enum class Skip { kYes, kNo };

struct Setting {
  std::string_view network = "flow";
  int iterations = 9;
  int warmup = 0;
  peers::RouteRule rule = peers::RouteRule::kNodeMod;
  Duration forward = 2_ms;
};

RunResult play(const Setting& setting, Skip skip) {
  test::ReferenceStep step{.stages = 4, .replicas = 4, .microbatches = 6, .activation = 16_MiB,
                           .gradient = Bytes(270'000'000), .forward = setting.forward, .backward = 4_ms};
  TaskGraph graph = test::make_reference_step(step);
  graph.iterations = setting.iterations;
  const peers::ReferenceFabric fabric(
      {.gpus = 128, .hosts_per_pod = 4, .uplinks = 2, .pods_per_superpod = 2, .core_uplinks = 4, .rule = setting.rule});
  const test::AlwaysChoose chooser(*collectives::find_algorithm("ring"));
  const test::PlainCompute compute;
  const Folding folding = fold(graph, chooser, fabric);
  const auto router = make_folded_router(fabric, folding);
  Engine engine;
  std::unique_ptr<NetworkModel> network;
  for (const auto& entry : network_models::models()) {
    if (entry.name == setting.network) network = entry.make({.engine = engine, .router = *router});
  }
  return execute({.engine = engine, .graph = graph, .classes = folding.ranks, .network = *network, .chooser = chooser,
                  .compute = compute},
                 {.warmup_iterations = setting.warmup, .skip_repeated_iterations = skip == Skip::kYes});
}

// All results of a run are the same whether steps were left out or not.
void expect_same(const RunResult& skipped, const RunResult& whole) {
  EXPECT_EQ(skipped.record.finished_at, whole.record.finished_at);
  EXPECT_EQ(skipped.record.iteration_end, whole.record.iteration_end);
  EXPECT_EQ(skipped.record.time_in, whole.record.time_in);
  EXPECT_EQ(skipped.record.sent, whole.record.sent);
  EXPECT_EQ(skipped.record.messages, whole.record.messages);
  ASSERT_EQ(skipped.usage.size(), whole.usage.size());
  for (std::size_t link = 0; link < whole.usage.size(); ++link) {
    EXPECT_NEAR(skipped.usage[link].bytes, whole.usage[link].bytes, 1e-9 * whole.usage[link].bytes);
    EXPECT_EQ(skipped.usage[link].busy, whole.usage[link].busy);
  }
}

TEST(StepPeriod, StepsThatRepeatAreLeftOutAndNothingChanges) {
  const RunResult skipped = play({}, Skip::kYes);
  const RunResult whole = play({}, Skip::kNo);
  EXPECT_GE(skipped.skipped_iterations, 4);
  EXPECT_EQ(whole.skipped_iterations, 0);
  expect_same(skipped, whole);
}

TEST(StepPeriod, HoldsWithWarmUpAndWithoutSharing) {
  for (const std::string_view network : {"flow", "alpha_beta"}) {
    const Setting setting{.network = network, .iterations = 12, .warmup = 3};
    const RunResult skipped = play(setting, Skip::kYes);
    EXPECT_GT(skipped.skipped_iterations, 0) << network;
    expect_same(skipped, play(setting, Skip::kNo));
  }
}

TEST(StepPeriod, HoldsWhereTrafficOfTwoStepsOverlaps) {
  // Short computations: ranks that end early start the next step while others still reduce gradients.
  const Setting setting{.iterations = 15, .rule = peers::RouteRule::kHash, .forward = 100_us};
  expect_same(play(setting, Skip::kYes), play(setting, Skip::kNo));
}

TEST(StepPeriod, AFewStepsAreSimplySimulated) {
  for (int iterations = 1; iterations <= 4; ++iterations) {
    const Setting setting{.iterations = iterations};
    expect_same(play(setting, Skip::kYes), play(setting, Skip::kNo));
  }
}

TEST(StepPeriod, DifferentStatesAreNoPeriod) {
  StepPeriod period;
  EXPECT_EQ(period.observe({.iteration = 0, .digest = 1}, 10), 0);
  EXPECT_EQ(period.observe({.iteration = 1, .digest = 2}, 10), 0);
  EXPECT_EQ(period.observe({.iteration = 3, .digest = 2}, 10), 0);  // not one after the other
  EXPECT_EQ(period.observe({.iteration = 4, .digest = 2}, 10), 4);  // steps 5 to 8; the last, 9, is simulated
}

}  // namespace
}  // namespace ringwright::step_period_test
