// A life whose checkpoints are simulated steps, against a full simulation with their traffic.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/operation/goodput.h"
#include "planning/study/point.h"
#include "tests/configs/played.h"

namespace ringwright::planning::simulated_checkpoint_test {
namespace {

using testing::HasSubstr;

class SimulatedCheckpoint : public testing::Test {
 protected:
  SimulatedCheckpoint() : folder_(testing::TempDir() + "ringwright_saves_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << configs::kTinyModel
                          << "training: {global_batch: 64}\nparallel: {dp: auto}\n"
                             "cluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n"
                             "simulate: {steps: 1, warmup: 0}\ncompute: {host_issue: 4us}\n";  // a host that keeps up
  }
  ~SimulatedCheckpoint() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/job.yaml"; }

  [[nodiscard]] double step(const std::vector<std::string>& settings) const {
    const LoadedPoint loaded = PointSource(path()).load(settings);
    EXPECT_TRUE(loaded.scenario) << loaded.point.reason;
    return to_seconds(simulate_point(*loaded.scenario).figures.step);
  }
  // Of so many seconds of healthy work without faults.
  [[nodiscard]] Result<GoodputResult> life(double work, std::string_view tier, std::string_view more = "") const {
    return goodput_text("life.yaml", fmt::format("scenario: {}\nwork: {} us\nrepetitions: 1\n{}checkpoint: {{tiers: {{"
                                                 "memory: {{{}}}}}}}\n",
                                                 path(), work * 1e6, more, tier));
  }

 private:
  std::string folder_;
};

// One in every step, as the simulation has it: the life takes as long as the full simulation.
TEST_F(SimulatedCheckpoint, TakesTheTimeOfTheFullSimulation) {
  constexpr int kSteps = 20;
  const double healthy = step({});
  for (const std::string_view checkpoint :
       {"to: host_memory, size: 100MB", "to: peer_host, mode: async, size: 200MB"}) {
    const double full = kSteps * step({fmt::format("checkpoint={{{}}}", checkpoint),
                                       fmt::format("simulate.steps={}", kSteps)});
    const auto result = life((kSteps - 0.5) * healthy,
                             fmt::format("every: 1 steps, place: host, load: 1 s, simulate: {{{}}}", checkpoint));
    ASSERT_TRUE(result) << render(result.error());
    EXPECT_GT(full, 1.01 * kSteps * healthy);
    // A life ends with its last step, and needs no checkpoint after it.
    const double last = step({fmt::format("checkpoint={{{}}}", checkpoint)}) - healthy;
    EXPECT_NEAR(result->outcome.wall_hours.mean * 3600.0 + last, full, 0.001 * full) << checkpoint;
  }
}

TEST_F(SimulatedCheckpoint, GivesStallAndWriteOfTheStep) {
  const double healthy = step({});
  const double blocking = step({"checkpoint={to: host_memory, size: 1GB}"});
  const auto result = life(1.0, "every: 10 steps, place: host, load: 1 s, simulate: {to: host_memory, size: 1GB}");
  ASSERT_TRUE(result) << render(result.error());
  const CheckpointTier& tier = result->operation.tiers.front();
  EXPECT_NEAR(seconds_of(tier.stall), blocking - healthy, 2e-9);  // to a nanosecond
  EXPECT_NEAR(seconds_of(tier.write), 0.0, 0.01 * (blocking - healthy));
  const auto part = life(1.0,
                         "every: 10 steps, place: host, load: 1 s, incremental: 50%, simulate: {to: host_memory, "
                         "size: 1GB}");
  ASSERT_TRUE(part) << render(part.error());
  EXPECT_NEAR(seconds_of(part->operation.tiers.front().stall), 0.5 * (blocking - healthy), 0.01 * (blocking - healthy));
}

TEST_F(SimulatedCheckpoint, RefusesWhatContradictsIt) {
  const auto refusal = [&](std::string_view tier, std::string_view more = "") {
    const auto result = life(1.0, tier, more);
    return result ? std::string("none") : render(result.error());
  };
  EXPECT_THAT(refusal("every: 1 steps, load: 1 s, stall: 1 s, simulate: {to: host_memory}"),
              HasSubstr("is given, too"));
  EXPECT_THAT(refusal("every: 1 steps, load: 1 s, simulate: {too: host_memory}"), HasSubstr("E301"));
  EXPECT_THAT(refusal("every: 1 steps, load: 1 s, simulate: {every: 2}"), HasSubstr("its own 'every'"));
  EXPECT_THAT(refusal("every: 1 steps, load: 1 s, simulate: {to: host_memory}", "set: {checkpoint.to: host_memory}\n"),
              HasSubstr("the scenario has a checkpoint in every step"));
}

}  // namespace
}  // namespace ringwright::planning::simulated_checkpoint_test
