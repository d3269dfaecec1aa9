#include "planning/tune/step_tuner.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/tune/setting_descent.h"
#include "tests/paths.h"

namespace ringwright::planning::step_tuner_test {
namespace {

using ::testing::HasSubstr;

// Twelve layers on 8 A100, data-parallel with overlapped gradient reduction. GEMMs of eight sequences have many waves,
// so that each multiprocessor that is held counts.
Result<configs::Scenario> step(const std::vector<std::string>& more) {
  std::vector<std::string> settings = step_tuning_settings();
  settings.insert(settings.end(),
                  {"model.num_layers=12", "training.micro_batch=8", "parallel.zero.overlap_grad_reduce=true"});
  settings.insert(settings.end(), more.begin(), more.end());
  return configs::load_scenario(ringwright::share_dir() + "/scenarios/gpt2-1.5b-dgx-a100.yaml",
                                {.overrides = settings, .share_folders = {}});
}

const StepTuneResult& tuned() {
  static const StepTuneResult result =
      *tune_step([](const std::vector<std::string>& more) { return step(more); }, {.workers = {.threads = 2}});
  return result;
}

// AutoCCL's premise: what is fastest alone takes more from computing than it gains.
TEST(StepTuner, TakesFewerChannelsThanAlone) {
  EXPECT_LT(tuned().best.setting.channels, tuned().alone.setting.channels);
  EXPECT_LT(tuned().best.step, tuned().alone.step);
  EXPECT_LT(tuned().alone.communication, tuned().best.communication);
}

TEST(StepTuner, IsNeverSlowerThanNcclsOwnChoice) {
  EXPECT_GE(tuned().gain(), 1.0);
  EXPECT_GE(tuned().gain_over_alone(), 1.0);
  EXPECT_LE(tuned().alone.communication, tuned().own.communication);
}

TEST(StepTuner, NeedsNcclsKernels) {
  const auto steps = tune_step(
      [](const std::vector<std::string>& more) {
        std::vector<std::string> all{"collectives.model=closed_form", "interference.model=none",
                                     "collectives.overhead=none"};
        all.insert(all.end(), more.begin(), more.end());
        return step(all);
      },
      {});
  ASSERT_FALSE(steps.has_value());
  EXPECT_THAT(render(steps.error()), HasSubstr("E520"));
}

TEST(StepTuner, ReportsTheVariables) {
  EXPECT_THAT(render_step_tune_text(tuned()), HasSubstr("NCCL_MAX_NCHANNELS"));
  EXPECT_THAT(render_step_tune_json(tuned()), HasSubstr("\"schema\": \"ringwright.tune_step/1\""));
}

// A surface with one minimum, at 4 channels, 128 threads and 1 MiB: each coordinate costs its distance in logarithms.
// From 32 channels, 512 threads and 4 MiB the descent is there after one round, and a second one tries the neighbours:
// O(k) times for k steps along the coordinates.
TEST(SettingDescent, FindsTheMinimumOfASurfaceWithOne) {
  int tried = 0;
  const TimeOfSetting time_of = [&tried](CallSetting& setting) -> std::optional<Duration> {
    ++tried;
    if (setting.channels == 0) setting.channels = 32;
    const auto distance = [](double value, double best) { return std::abs(std::log2(value / best)); };
    const double threads = setting.threads > 0 ? setting.threads : 512;
    const double buffer = setting.buffer > Bytes(0) ? static_cast<double>(setting.buffer.count()) : 1 << 22;
    return from_seconds(1.0 + distance(setting.channels, 4) + distance(threads, 128) + distance(buffer, 1 << 20));
  };
  const auto found =
      descend({.algorithm = "ring", .protocol = "simple"}, {.most_channels = 32, .kernels = true}, time_of);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->setting.channels, 4);
  EXPECT_EQ(found->setting.threads, 128);
  EXPECT_EQ(found->setting.buffer, Bytes(1 << 20));
  EXPECT_LE(tried, 30);  // 8 x 4 x 10 settings
}

}  // namespace
}  // namespace ringwright::planning::step_tuner_test
