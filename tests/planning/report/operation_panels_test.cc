#include <cmath>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::operation_panels_test {
namespace {

using namespace samples;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

// A life of 100 h: 90 productive, 6 restart, 4 lost; the other policy loses 5 of 100; the third is refused.
constexpr std::string_view kGoodput = R"({
  "schema": "ringwright.goodput/1", "name": "months", "scenario": null, "config": {"sha256": "abc"},
  "job": {"gpus": 16, "step_time_s": 10},
  "checkpoints": [{"name": "store", "every_steps": 60, "stall_s": 2, "write_s": 5, "load_s": 3}],
  "policies": [
    {"policy": "restart", "status": "ok", "lives": 4, "unfinished": 0, "ettr": {"mean": 0.9, "least": 0.8, "most": 0.95},
     "ettr_quantiles": [0.8, 0.9, 0.95, 0.95], "wall_hours": {"mean": 100}, "faults": {"mean": 10},
     "seconds": {"productive": 324000, "restart": 21600, "replay": 14400, "waiting": 0},
     "components": [{"name": "gpu", "faults": 8, "lost_gpu_hours": 120}], "mtbf_hours": 10, "out_of_spares": 0.25},
    {"policy": "hot_spare", "status": "ok", "lives": 4, "ettr": {"mean": 0.95}, "wall_hours": {"mean": 100},
     "faults": {"mean": 10}, "seconds": {"productive": 342000, "restart": 3600, "replay": 14400, "waiting": 0}},
    {"policy": "shrink", "status": "refused", "reason": "one replica"}],
  "interval": {"tier": "store", "recovery_s": 60, "tried": [
    {"rule": "searched", "seconds": 14400, "closed_form": 0.8, "ettr": {"mean": 0.85, "standard_error": 0.01}},
    {"rule": "Daly", "seconds": 7200, "closed_form": 0.9, "ettr": {"mean": 0.88, "standard_error": 0.01}}]}})";

// Two jobs as given, where b is slowed down by half, and an arrangement that cannot be simulated.
constexpr std::string_view kJobs = R"({
  "schema": "ringwright.jobs/1", "scenario": "two", "hosts": 4, "gpus": 32, "too_large": ["a: 90 GiB of 80"],
  "arrangements": [
    {"placement": "as given", "events": 1, "contended_links": 2,
     "jobs": [
      {"name": "a", "gpus": 16, "hosts": 2, "units": 1, "placement": "hosts", "slowdown": 1.0,
       "alone": {"step_ps": 2000000000000, "computing_ps": 1500000000000, "exposed_ps": 400000000000, "idle_ps": 100000000000},
       "together": {"step_ps": 2000000000000, "longest_step_ps": 2000000000000, "steps": 4, "computing_ps": 1500000000000,
                    "exposed_ps": 400000000000, "idle_ps": 100000000000}},
      {"name": "b", "gpus": 16, "hosts": 2, "units": 2, "placement": "hosts", "slowdown": 1.5,
       "alone": {"step_ps": 20000000000000, "computing_ps": 20000000000000, "exposed_ps": 0, "idle_ps": 0},
       "together": {"step_ps": 30000000000000, "longest_step_ps": 31000000000000, "steps": 4,
                    "computing_ps": 20000000000000, "exposed_ps": 10000000000000, "idle_ps": 0}}],
     "links": [{"name": "leaf0->spine0", "links": 2, "alone": [0.25, 0.5], "together": 0.6}]},
    {"placement": "packed", "code": "E480", "reason": "no room"}]})";

// FIFO: 2 h waiting of 3 h; 60 % of 10 GPUs in use over 4 h, in intervals of 3 h.
constexpr std::string_view kCluster = R"({
  "schema": "ringwright.cluster/1", "name": "week", "jobs": 2, "gpus": 10, "hosts": 5,
  "left_out": {"too_large": 1, "without_gpus": 0, "without_times": 2},
  "policies": [
    {"policy": "fifo", "waiting_s": {"mean": 7200, "p50": 0, "p90": 14400, "p95": 14400, "p99": 14400, "max": 14400},
     "completion_s": {"mean": 10800, "p50": 3600, "p90": 18000, "p95": 18000, "p99": 18000, "max": 18000},
     "makespan_s": 14400, "utilisation": 0.6, "productive": 0.5, "fragmentation": 0.1, "blocked_s": 1440,
     "peak_gpus": 8, "preemptions": 0, "resizes": 0, "migrations": 0, "jobs_in_host": 1, "jobs_in_unit": 1,
     "jobs_over_units": 0, "waiting_quantiles_s": [0, 14400], "completion_quantiles_s": [3600, 18000],
     "over_time": {"interval_s": 10800, "gpus_in_use": [8, 0], "waiting_jobs": [1, 0]}},
    {"policy": "srtf", "waiting_s": {"mean": 3600}, "completion_s": {"mean": 5400}, "makespan_s": 14400,
     "utilisation": 0.6, "productive": 0.4, "fragmentation": 0.1, "blocked_s": 0}]})";

// 1 KiB: tree with 2 channels is twice as fast as NCCL's ring; 4 KiB: nothing is faster.
constexpr std::string_view kTuning = R"({
  "schema": "ringwright.tune/1", "machine": "m", "hosts": 2, "ranks": 16, "calls": [
    {"operation": "all_reduce", "size": 1024, "own": {"algorithm": "ring", "protocol": "ll", "channels": 1}, "own_us": 20,
     "best": {"algorithm": "tree", "protocol": "ll", "channels": 2}, "best_us": 10, "tried": 5,
     "candidates": [{"algorithm": "ring", "protocol": "ll", "channels": 1, "us": 20},
                    {"algorithm": "tree", "protocol": "ll", "channels": 1, "us": 15},
                    {"algorithm": "tree", "protocol": "ll", "channels": 2, "us": 10}]},
    {"operation": "all_reduce", "size": 4096, "own": {"algorithm": "ring", "protocol": "ll", "channels": 1}, "own_us": 40,
     "best": {"algorithm": "ring", "protocol": "ll", "channels": 1}, "best_us": 40, "tried": 3,
     "candidates": [{"algorithm": "ring", "protocol": "ll", "channels": 1, "us": 40}]}]})";

constexpr std::string_view kCapacity = R"({
  "schema": "ringwright.capacity/1", "name": "plan", "scenario": "s", "tokens": 2e12, "goodput": 0.92, "objective": "days",
  "budget": {"days": 60, "usd": null, "megawatt_hours": null, "gpus": null},
  "offers": [
    {"machine": "A", "hosts": 8, "gpus": 64, "status": "over_budget", "code": "", "reason": "90 days of 60",
     "layout": {"tp": "4"}, "step_ps": 3000000000000, "parts_ps": [{"cause": "gemm", "ps": 3000000000000}],
     "tokens_per_s": 10, "mfu": 0.3, "memory_bytes": 1073741824, "days": 90, "usd": null, "megawatt_hours": null,
     "on_front": false},
    {"machine": "B", "hosts": 4, "gpus": 32, "status": "ok", "code": "", "reason": "", "layout": {"tp": "8", "pp": "1"},
     "step_ps": 1500000000000, "parts_ps": [{"cause": "gemm", "ps": 1000000000000}, {"cause": "TP communication", "ps": 500000000000}],
     "tokens_per_s": 20, "mfu": 0.4, "memory_bytes": 2147483648, "days": 45, "usd": null, "megawatt_hours": 100,
     "on_front": true},
    {"machine": "C", "hosts": 1, "gpus": 8, "status": "too_large", "code": "E1", "reason": "no layout fits"}],
  "ranking": [1]})";

// 20 steps on a fast network, 10 on a slow one: 2 s with the adaptive ratio instead of 2 s and 1 s instead of 4 s.
constexpr std::string_view kAdaptive = R"({
  "schema": "ringwright.adaptive/1", "scenario": "s", "most": 0.1, "least": 0.001, "exchange_ps": 5000000000, "gain": 2,
  "phases": [{"steps": 20, "settings": "", "mean_ratio": 0.1, "adaptive_ps": 2000000000000, "fixed_ps": 2000000000000,
              "least_ps": 1500000000000},
             {"steps": 10, "settings": "cluster.node.nic.bandwidth=5Gbps", "mean_ratio": 0.02,
              "adaptive_ps": 1000000000000, "fixed_ps": 4000000000000, "least_ps": 800000000000}]})";

constexpr std::string_view kServerPlan = R"({
  "schema": "ringwright.server_plan/1", "scenario": "s", "updates": "async", "gain": 1.5, "tried": [
    {"servers": 2, "workers": 8, "samples_per_s": 1000, "taken": true},
    {"servers": 1, "workers": 9, "samples_per_s": 600, "taken": false},
    {"servers": 4, "workers": 6, "samples_per_s": 1500, "taken": true},
    {"servers": 3, "workers": 7, "samples_per_s": 1400, "taken": false}]})";

std::vector<std::string> ids_of(const ReportSection& section) {
  std::vector<std::string> ids;
  for (const Panel& panel : section.panels) ids.push_back(panel.id);
  return ids;
}

TEST(GoodputHeader, NamesTheLargestLossAndTheBestPolicy) {
  const ReportSection section = section_from(kGoodput);
  EXPECT_EQ(section.figures[0].value, "90.0 %");
  EXPECT_THAT(section.sentences,
              ElementsAre("The largest loss is restart: 6 h of 4.167 days in the mean, 6.0 %.",
                          "Of the policies compared, 'hot_spare' gets most out of the time: 95.0 % instead of 90.0 %.",
                          "25.0 % of the repetitions wait for a host."));
}

// 100 h are 4.17 days; accounts without time are left out; 90 h on 16 GPUs.
TEST(GoodputWaterfall, AddsUpToTheWallTime) {
  const Panel panel = panel_of(section_from(kGoodput), "life");
  EXPECT_EQ(panel.total, "wall time");
  EXPECT_EQ(panel.columns[1].unit, "days");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("productive", "restart", "lost work done again"));
  EXPECT_THAT(numbers_of(panel, 1),
              ElementsAre(DoubleNear(3.75, 1e-9), DoubleNear(0.25, 1e-9), DoubleNear(1.0 / 6, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 3), ElementsAre(DoubleNear(1440, 1e-9), DoubleNear(96, 1e-9), DoubleNear(64, 1e-9)));
}

TEST(GoodputPolicies, StackWhatIsNotProductive) {
  const Panel panel = panel_of(section_from(kGoodput), "policies");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("restart", "hot_spare", "shrink"));
  EXPECT_EQ(panel.columns[1].name, "restart");
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(6, 1e-9), DoubleNear(1, 1e-9), DoubleNear(0, 1e-9)));
  EXPECT_THAT(std::get<std::vector<std::string>>(panel.columns.back().cells), ElementsAre("", "", "one replica"));
  EXPECT_THAT(panel.note, HasSubstr("cannot use"));
}

// Four lives: each is a quarter.
TEST(GoodputSpread, ShowsTheShareOfLivesUpToEachValue) {
  const Panel panel = panel_of(section_from(kGoodput), "lives");
  EXPECT_THAT(numbers_of(panel, 1),
              ElementsAre(DoubleNear(80, 1e-9), DoubleNear(90, 1e-9), DoubleNear(95, 1e-9), DoubleNear(95, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(25, 50, 75, 100));
}

TEST(GoodputIntervals, AreInTheOrderOfTheirLength) {
  const Panel panel = panel_of(section_from(kGoodput), "intervals");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("simulated", "simulated", "closed form", "closed form"));
  EXPECT_THAT(numbers_of(panel, 1),
              ElementsAre(DoubleNear(2, 1e-9), DoubleNear(4, 1e-9), DoubleNear(2, 1e-9), DoubleNear(4, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2),
              ElementsAre(DoubleNear(88, 1e-9), DoubleNear(85, 1e-9), DoubleNear(90, 1e-9), DoubleNear(80, 1e-9)));
}

// Files of earlier versions have no quantiles; a job that was refused has no times.
TEST(GoodputPanels, LeaveOutWhatTheResultDoesNotHold) {
  EXPECT_THAT(ids_of(section_from(R"({"schema": "ringwright.goodput/1", "name": "n", "job": {"gpus": 1}, "policies": [
                     {"policy": "shrink", "status": "refused", "reason": "one replica"}]})")),
              IsEmpty());
  EXPECT_THAT(
      section_from(R"({"schema": "ringwright.goodput/1", "name": "n", "job": {"gpus": 1}, "policies": []})").panels,
      IsEmpty());
}

TEST(JobsHeader, NamesTheJobThatIsSlowedDownMost) {
  const ReportSection section = section_from(kJobs);
  EXPECT_THAT(section.figures, Contains(Field(&KeyFigure::remark, "of b, as given")));
  EXPECT_THAT(section.sentences, ElementsAre("Does not fit into the memory of its GPUs: a: 90 GiB of 80."));
}

TEST(JobsSlowdowns, HaveARowForEachJobAndTheReasonOfWhatIsImpossible) {
  const Panel panel = panel_of(section_from(kJobs), "slowdowns");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("a, as given", "b, as given", "packed"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(1.0, 1.5, IsNan()));
  EXPECT_THAT(numbers_of(panel, 3), ElementsAre(DoubleNear(2000, 1e-6), DoubleNear(30000, 1e-6), IsNan()));
  EXPECT_THAT(std::get<std::vector<std::string>>(panel.columns.back().cells), ElementsAre("", "", "no room"));
}

// 30 s are shown in seconds; the parts of each bar are its step.
TEST(JobsParts, AddUpToTheStepAloneAndTogether) {
  const Panel panel = panel_of(section_from(kJobs), "job-parts");
  const std::vector<double> steps = {2, 2, 20, 30};
  ASSERT_EQ(numbers_of(panel, 1).size(), steps.size());
  EXPECT_EQ(panel.columns[1].unit, "s");
  for (std::size_t row = 0; row < steps.size(); ++row) {
    EXPECT_NEAR(numbers_of(panel, 1)[row] + numbers_of(panel, 2)[row] + numbers_of(panel, 3)[row], steps[row], 1e-9);
  }
}

TEST(JobsLinks, ShowWhatAllTakeAndInTheTableWhatEachTakesAlone) {
  const Panel panel = panel_of(section_from(kJobs), "contended-links-1");
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(60, 1e-9)));
  EXPECT_EQ(panel.columns[4].name, "b alone");
  EXPECT_THAT(numbers_of(panel, 4), ElementsAre(DoubleNear(50, 1e-9)));
}

TEST(ClusterHeader, ComparesTheSoonestPolicyWithTheFirst) {
  EXPECT_THAT(section_from(kCluster).sentences,
              ElementsAre("With 'srtf' a job ends after 90 min in the mean, -50.0 % against 'fifo'.",
                          "3 jobs of the log are left out."));
}

// 3 h, of which 2 waiting.
TEST(ClusterMeans, AddUpToTheCompletionTime) {
  const Panel panel = panel_of(section_from(kCluster), "completion");
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(DoubleNear(2, 1e-9), DoubleNear(1, 1e-9)));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(DoubleNear(1, 1e-9), DoubleNear(0.5, 1e-9)));
}

TEST(ClusterShares, AddUpToAllGpuTime) {
  const Panel panel = panel_of(section_from(kCluster), "gpu-time");
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0.0;
    for (std::size_t part = 1; part <= 4; ++part) sum += numbers_of(panel, part)[row];
    EXPECT_NEAR(sum, 100.0, 1e-9);
  }
  EXPECT_THAT(numbers_of(panel, 5), ElementsAre(DoubleNear(10, 1e-9), 0.0));
}

// The second interval lasts from 3 h to the end at 4 h.
TEST(ClusterOverTime, PutsAMeanAtTheMiddleOfItsInterval) {
  const Panel use = panel_of(section_from(kCluster), "use"), queue = panel_of(section_from(kCluster), "queue");
  EXPECT_THAT(numbers_of(use, 1), ElementsAre(DoubleNear(1.5, 1e-9), DoubleNear(3.5, 1e-9)));
  EXPECT_THAT(numbers_of(use, 2), ElementsAre(DoubleNear(80, 1e-9), 0.0));
  EXPECT_THAT(numbers_of(queue, 2), ElementsAre(1.0, 0.0));
}

// An hour and five; the job that does not wait is at one second.
TEST(ClusterDistributions, AreInMinutesOnALogarithmicAxis) {
  const Panel completion = panel_of(section_from(kCluster), "completion-times"),
              waiting = panel_of(section_from(kCluster), "waiting-times");
  EXPECT_THAT(numbers_of(completion, 1), ElementsAre(DoubleNear(60, 1e-9), DoubleNear(300, 1e-9)));
  EXPECT_THAT(numbers_of(completion, 2), ElementsAre(50, 100));
  EXPECT_EQ(completion.x_scale, AxisScale::kLogarithmic);
  EXPECT_THAT(numbers_of(waiting, 1), ElementsAre(DoubleNear(1.0 / 60, 1e-9), DoubleNear(240, 1e-9)));
}

// A guaranteed job ends after an hour, an opportunistic one after two; one policy has no guaranteed jobs.
TEST(ClusterSharing, ListsCompletionByClass) {
  const Panel panel = panel_of(
      section_from(R"({"schema": "ringwright.cluster/1", "name": "n", "gpus": 1, "policies": [
        {"policy": "fifo", "computing": 0.9, "guaranteed_s": {"mean": 3600, "p90": 3600, "max": 3600},
         "opportunistic_s": {"mean": 7200, "p90": 7200, "max": 7200}},
        {"policy": "srtf", "guaranteed_s": {"mean": 0, "max": 0}, "opportunistic_s": {"mean": 3600, "max": 3600}}]})"),
      "sharing");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("fifo", "srtf"));
  EXPECT_THAT(numbers_of(panel, 1), ElementsAre(1.0, IsNan()));
  EXPECT_THAT(numbers_of(panel, 3), ElementsAre(2.0, 1.0));
  EXPECT_DOUBLE_EQ(numbers_of(panel, 5)[0], 90.0);
  EXPECT_THAT(section_from(kCluster).panels, Each(Field(&Panel::id, testing::Ne("sharing"))));
}

// Gains of 2 and 1: the geometric mean is 1.41.
TEST(TuneHeader, CountsCallsThatCanBeFaster) {
  const ReportSection section = section_from(kTuning);
  EXPECT_EQ(section.figures[0].value, "1");
  EXPECT_EQ(section.figures[1].remark, "all_reduce of 1 KiB");
  EXPECT_EQ(section.figures[2].value, "1.41x");
}

TEST(TuneSettings, ShowTheQuickestNumberOfChannelsOfEachSetting) {
  const Panel panel = panel_of(section_from(kTuning), "settings-1");
  EXPECT_THAT(texts_of(panel, 0), ElementsAre("ring ll", "ring ll", "tree ll", "NCCL's choice", "NCCL's choice"));
  EXPECT_THAT(numbers_of(panel, 2), ElementsAre(20, 40, 10, 20, 40));
  EXPECT_THAT(panel.drawn_as_points, ElementsAre("NCCL's choice"));
  EXPECT_EQ(numbers_of(panel_of(section_from(kTuning), "candidates"), 5).size(), 4U);
}

TEST(CapacityHeader, NamesTheBestMachineAndWhatBecameOfTheOthers) {
  const ReportSection section = section_from(kCapacity);
  EXPECT_EQ(section.figures[0].value, "4 x B");
  EXPECT_EQ(section.figures[0].remark, "tp 8, pp 1");
  EXPECT_THAT(section.sentences, ElementsAre("1 of 3 machines and sizes are within the budget; 1 are over it, 1 do not "
                                             "fit into memory, 0 are refused.",
                                             "The budget is at most 60 days."));
}

// No offer has a price: only GPUs are shown.
TEST(CapacityFront, ShowsWhatWasSimulated) {
  const ReportSection section = section_from(kCapacity);
  EXPECT_THAT(ids_of(section), ElementsAre("gpu-front", "capacity-parts", "machines"));
  EXPECT_THAT(texts_of(panel_of(section, "gpu-front"), 0), ElementsAre("over the budget", "no other is as good"));
  EXPECT_THAT(numbers_of(panel_of(section, "gpu-front"), 2), ElementsAre(90, 45));
  EXPECT_THAT(texts_of(panel_of(section, "machines"), 3), ElementsAre("over budget", "ok", "too large"));
}

TEST(AdaptivePanels, ShowStepsOfEachPhase) {
  const ReportSection section = section_from(kAdaptive);
  EXPECT_EQ(section.figures[0].value, "2.00x");
  EXPECT_THAT(ids_of(section), ElementsAre("adaptive-steps", "adaptive-ratios", "adaptive-phases"));
  const Panel steps = panel_of(section, "adaptive-steps");
  EXPECT_THAT(numbers_of(steps, 1), ElementsAre(0, 20, 20, 30, 0, 20, 20, 30, 0, 20, 20, 30));
  const std::vector<double> times = numbers_of(steps, 2);
  EXPECT_EQ(steps.columns[2].unit, "ms");
  EXPECT_NEAR(times[1], 100.0, 1e-9);
  EXPECT_NEAR(times[7], 400.0, 1e-9);
  EXPECT_THAT(numbers_of(panel_of(section, "adaptive-ratios"), 2), ElementsAre(10, 10, 2, 2));
  EXPECT_THAT(numbers_of(panel_of(section, "adaptive-phases"), 6), ElementsAre(1, 4));
}

TEST(ServerPlanPanels, ShowSpeedByServersAndTheOrderOfPlans) {
  const ReportSection section = section_from(kServerPlan);
  EXPECT_EQ(section.figures[0].value, "4 servers, 6 workers");
  EXPECT_THAT(section.sentences, ElementsAre("4 plans are tried, and the job moves once to a faster one."));
  const Panel speeds = panel_of(section, "server-plans");
  EXPECT_THAT(numbers_of(speeds, 1), ElementsAre(1, 2, 3, 4, 2, 4));
  EXPECT_THAT(speeds.drawn_as_points, ElementsAre("of the job"));
  EXPECT_THAT(numbers_of(panel_of(section, "server-plan-order"), 4), ElementsAre(100, 60, 150, 140));
}

// What a user's editor may have left: no crash, whatever is missing.
TEST(OperationPanels, TakeRowsWithoutValues) {
  for (
      const std::string_view text :
      {R"({"schema": "ringwright.goodput/1", "name": "n", "job": {"gpus": 1}, "policies": [{}, 3, null],
            "interval": {"tried": [{}]}, "checkpoints": [{}]})",
       R"({"schema": "ringwright.jobs/1", "scenario": "s", "arrangements": [{}, {"jobs": [{}], "links": [{}]}]})",
       R"({"schema": "ringwright.cluster/1", "name": "n", "gpus": 0,
            "policies": [{}, {"over_time": {"gpus_in_use": [1]}}]})",
       R"({"schema": "ringwright.tune/1", "machine": "m", "calls": [{}, {"candidates": [{}]}]})",
       R"({"schema": "ringwright.adaptive/1", "scenario": "s", "gain": 1, "phases": [{}, 3]})",
       R"({"schema": "ringwright.server_plan/1", "scenario": "s", "gain": 1, "tried": [{}, null]})",
       R"({"schema": "ringwright.capacity/1", "name": "n", "offers": [{}], "ranking": [0, 7, -1, "x"]})"}) {
    const ReportSection section = section_from(text);
    EXPECT_THAT(section.panels, Each(Field(&Panel::id, ::testing::Not(IsEmpty())))) << text;
    for (const Panel& panel : section.panels) {
      for (const PanelColumn& column : panel.columns) EXPECT_EQ(column.size(), panel.columns[0].size()) << panel.id;
    }
  }
}

}  // namespace
}  // namespace ringwright::planning::operation_panels_test
