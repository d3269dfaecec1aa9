#include <cmath>
#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>

#include "planning/operation/goodput.h"
#include "tests/paths.h"

namespace ringwright::planning::presets_test {
namespace {

GoodputResult result_of(const std::string& name, const std::vector<std::string>& settings = {}) {
  auto result = goodput(name, {.settings = settings, .workers = {}, .intervals = false});
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

TEST(OperationPresets, AllAreReadWithoutAWarning) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(share_dir() + "/operation")) {
    const GoodputResult result = result_of(entry.path().string(), {"repetitions=1"});
    EXPECT_TRUE(result.warnings.all().empty()) << entry.path();
    EXPECT_GT(result.outcome.ettr.mean, 0.2) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 6);
}

// A file that builds on a preset is the preset, as long as it changes nothing.
TEST(OperationPresets, AFileMayBuildOnEach) {
  for (const auto& entry : std::filesystem::directory_iterator(share_dir() + "/operation")) {
    const std::string name = entry.path().stem().string();
    auto built = goodput_text("mine.yaml", "preset: " + name + "\nrepetitions: 2\n", {.intervals = false});
    ASSERT_TRUE(built.has_value()) << render(built.error());
    EXPECT_EQ(built->outcome.ettr.mean, result_of(name, {"repetitions=2"}).outcome.ettr.mean) << name;
  }
}

// 3,072 links, each failing every 1,281,579 h: 1.75 in 730.5 h. HPN's authors report one or two crashes a month.
// With a second port none is a crash; the job is slower until the repair, and loses less.
TEST(OperationPresets, ASecondPortTurnsCrashesOfAccessLinksIntoSlowSteps) {
  const GoodputResult one = result_of("hpn-access-links");
  const double months = one.outcome.wall_hours.mean / 730.5;
  // Twice the standard error of 50 lives with 21 faults each, a Poisson process, over 12 months.
  EXPECT_NEAR(one.outcome.faults.mean / months, 3072.0 * 0.00057, 2.0 * std::sqrt(21.0 / 50.0) / 12.0);
  EXPECT_GT(one.outcome.faults.mean / months, 1.0);
  EXPECT_LT(one.outcome.faults.mean / months, 2.0);
  // 4.381 s instead of 4.325 s: docs/faults.md.
  const GoodputResult two = result_of(
      "hpn-access-links", {"components.access_link={per: gpu, mtbf: 1281579 h, kind: slow, evicts: false, lasts: 4 h, "
                           "slowdown: 1.013}"});
  EXPECT_GT(two.outcome.faults.mean, 10.0);
  const auto lost = [](const GoodputResult& result) {
    double hours = 0.0;
    for (const Account account : {Account::kDetect, Account::kRestart, Account::kReplay, Account::kDegraded}) {
      hours += result.outcome.lost_gpu_hours[static_cast<std::size_t>(account)];
    }
    return hours;
  };
  EXPECT_EQ(two.outcome.seconds[static_cast<std::size_t>(Account::kRestart)], 0.0);
  EXPECT_LT(lost(two), 0.6 * lost(one));  // Gill et al. (SIGCOMM 2011): redundancy reduces the median impact by 40 %
  EXPECT_GT(two.outcome.ettr.mean, one.outcome.ettr.mean);
}

// 54 days, 419 unexpected interruptions, one every 3.09 h, more than 90 % effective training time.
TEST(OperationPresets, Llama3HasItsInterruptions) {
  const GoodputResult result = result_of("llama3-h100");
  EXPECT_NEAR(result.outcome.faults.mean, 419.0, 2.0 * 20.5);
  EXPECT_NEAR(result.between_failures() / 3600.0, 3.093, 0.001);
  EXPECT_GT(result.outcome.ettr.mean, 0.90);
}

// AIReSim's published means: 9,866 h, 11,146 failures, ETR 0.6228, a failure every 33.07 min of computing.
TEST(OperationPresets, AiresimMeetsItsPublishedMeans) {
  const GoodputResult result = result_of("airesim");
  EXPECT_NEAR(result.outcome.wall_hours.mean, 9866.0, 0.02 * 9866.0);
  EXPECT_NEAR(result.outcome.faults.mean, 11145.6, 0.02 * 11145.6);
  EXPECT_NEAR(result.outcome.ettr.mean, 0.6228, 0.02 * 0.6228);
  EXPECT_NEAR(result.outcome.running_between_faults_hours * 60.0, 33.07, 0.02 * 33.07);
  EXPECT_NEAR(result.outcome.selections, 41.9, 0.02 * 41.9);  // 42.9 with the one that starts the job
  EXPECT_EQ(result.outcome.unfinished, 0);
}

// 0.44 of the time for a synchronous job, 0.80 with replicas that go on: (18 - 3 - 7 / 12) / 18 = 0.801.
TEST(OperationPresets, FtHsdpGoesFrom44To80Percent) {
  const GoodputResult result = result_of("ft-hsdp-98k");
  EXPECT_NEAR(result.outcome.ettr.mean, 0.444, 0.005);
  ASSERT_EQ(result.others.size(), 1U);
  EXPECT_NEAR(result.others[0].ettr.mean, 0.801, 0.01);
}

}  // namespace
}  // namespace ringwright::planning::presets_test
