// The flow model against SimGrid and the measured prototype's training steps, on the same fabrics and traffic.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/paths.h"
#include "tests/peers/flow/cases.h"

namespace ringwright::peers::flow_peers_test {
namespace {

CsvTable table(const std::string& name) { return CsvTable(ringwright::test_data() + "/peers/flow/" + name); }

double relative_difference(double ours, double theirs) { return std::abs(ours - theirs) / std::abs(theirs); }

// The sanitised debug build runs only small rows: the larger ones add size, not kinds of events.
#ifdef NDEBUG
constexpr std::uint32_t kMostGpus = 16384;
constexpr std::uint32_t kMostAllToAllGpus = 256;
#else
constexpr std::uint32_t kMostGpus = 1024;
constexpr std::uint32_t kMostAllToAllGpus = 64;
#endif
// With hashed routes only a thousandth is compared: 16,384 GPUs would take as long as all others together.
constexpr std::uint32_t kMostHashedGpus = 2048;

TEST(FlowPeers, TimesAreThoseOfSimGrid) {
  const CsvTable rows = table("simgrid-scenarios.csv");
  int compared = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const TrafficCase traffic = traffic_case(rows, row);
    const std::string& workload = traffic.workload;
    const FabricShape& fabric = traffic.fabric;
    // A free-running pairwise all-to-all is chaotic: SimGrid's own precision setting moves it by 2 %.
    if (traffic.chaotic) continue;
    const std::uint32_t most_gpus = workload.starts_with("a2a") ? kMostAllToAllGpus : kMostGpus;
    if (fabric.gpus > most_gpus) continue;
    const Played played = play(traffic);
    // By default SimGrid merges events that are less than 1 ns apart; where it was run with 1e-12 s, that is better.
    const std::string precise = rows.text(row, "simgrid_sim_s_precision_1e-12");
    const double theirs = precise.empty() ? rows.number(row, "simgrid_sim_s") : std::stod(precise);
    const double tolerance = workload == "perm" && precise.empty() ? 1e-8 : 1e-9;
    EXPECT_LE(relative_difference(played.seconds, theirs), tolerance)
        << workload << " on " << fabric.gpus << " GPUs: " << played.seconds << " s against " << theirs << " s";
    EXPECT_EQ(played.counter("flows"), rows.count(row, "flows"));
    ++compared;
  }
  EXPECT_GE(compared, 6);
}

TEST(FlowPeers, TrainingStepsAreThoseOfTheReferenceImplementation) {
  const CsvTable rows = table("training-step-cases.csv");
  int compared = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto [rule, fabric, step] = step_case(rows, row);
    if (fabric.gpus > (fabric.rule == RouteRule::kHash ? std::min(kMostGpus, kMostHashedGpus) : kMostGpus)) continue;
    const Played played = play_training_step(fabric, step);
    // With hashed routes nearly every event is a separate instant, and ties that rounding splits move the end.
    const double tolerance = fabric.rule == RouteRule::kHash ? 1e-3 : 1e-9;
    const std::string name = std::to_string(fabric.gpus) + " GPUs, " + rule;
    EXPECT_LE(relative_difference(played.seconds, rows.number(row, "step_s")), tolerance)
        << name << ": " << played.seconds << " s against " << rows.number(row, "step_s");
    EXPECT_LE(relative_difference(played.last_backward_seconds, rows.number(row, "last_backward_end_s")), tolerance)
        << name;
    EXPECT_EQ(played.counter("flows"), rows.count(row, "flows")) << name;
    ++compared;
  }
  EXPECT_GE(compared, 1);
}

// Ring closed form, when the links that leave a host set the pace: K * (S / N / 50e9 + 2e-6).
TEST(FlowPeers, RingTakesItsClosedForm) {
  const FabricShape fabric = {.gpus = 64};
  const Played played = play(fabric, [](const Stage& stage) { return Ring(stage, Bytes(1 << 30), 126); });
  EXPECT_NEAR(played.seconds, 126 * ((1 << 30) / 64.0 / 50e9 + 2e-6), 126e-12);
}

TEST(FlowPeers, EverySolveOfAHashedTrainingStepIsFair) {
  const FabricShape fabric = {.gpus = 128,
                              .hosts_per_pod = 4,
                              .uplinks = 2,
                              .pods_per_superpod = 2,
                              .core_uplinks = 4,
                              .rule = RouteRule::kHash};
  const StepShape step = {.stages = 4,
                          .replicas = 4,
                          .microbatches = 2,
                          .activations = Bytes(16 << 20),
                          .gradients = Bytes(270'000'000),
                          .forward = Duration(2'000'000'000),
                          .backward = Duration(4'000'000'000)};
  const Played played = play_training_step(fabric, step, {.verify_fairness = true});
  EXPECT_LE(played.counter("largest fairness error (parts in 1e18)"), 5'000'000U);  // 5e-12
  EXPECT_LT(played.counter("full solves"), played.counter("solves"));
}

}  // namespace
}  // namespace ringwright::peers::flow_peers_test
