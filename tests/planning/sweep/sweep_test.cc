#include "planning/sweep/sweep.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/sweep/sweep_report.h"
#include "tests/configs/played.h"

namespace ringwright::planning::sweep_test {
namespace {

// A scenario of 8 GPUs in a file, and databases next to it.
class Sweep : public testing::Test {
 protected:
  Sweep() : folder_(testing::TempDir() + "ringwright_sweep_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(scenario_path())
        << configs::kTinyModel
        << "training: {global_batch: 16}\nparallel: {dp: auto}\ncost: {usd_per_gpu_hour: 3.6}\n"
           "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";
  }
  ~Sweep() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string scenario_path() const { return folder_ + "/base.yaml"; }
  [[nodiscard]] ResultStore store(const std::string& name = "x.sqlite") const {
    auto opened = ResultStore::open(folder_ + "/" + name);
    if (!opened) throw std::runtime_error(render(opened.error()));
    return std::move(*opened);
  }
  [[nodiscard]] std::string database(const std::string& name) const { return folder_ + "/" + name; }

  [[nodiscard]] SweepResult swept(const SweepPlan& plan, ResultStore& into, const SweepOptions& options = {}) const {
    auto result = sweep(plan, scenario_path(), into, options);
    if (!result) throw std::runtime_error(render(result.error()));
    return std::move(*result);
  }

 private:
  std::string folder_;
};

SweepPlan plan(const std::string& text) {
  auto read = load_sweep_text("sweep.yaml", "scenario: base.yaml\n" + text);
  if (!read) throw std::runtime_error(render(read.error()));
  return std::move(*read);
}

const std::string kLayouts = "grid: {parallel.tp: [1, 2, 4, 3], parallel.pp: [1, 2]}\n";

std::string tables(const SweepPlan& plan, const SweepResult& result) {
  const SweepReport report{.plan = plan, .result = result};
  return render_sweep_json(report) + render_sweep_csv(report);
}

// Reading tens of thousands of points takes minutes.
TEST_F(Sweep, ShowsHowManyPointsAreRead) {
  ResultStore into = store();
  std::vector<std::size_t> read;
  const auto note = [&read](std::size_t done, std::size_t all) {
    EXPECT_EQ(all, 8U);
    read.push_back(done);
  };
  const SweepResult result =
      swept(plan(kLayouts), into, {.workers = {.threads = 1}, .reading = note, .only_count = true});
  EXPECT_EQ(result.rows.size(), 8U);
  EXPECT_EQ(read, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

// A preset's price is that of one GPU.
TEST_F(Sweep, WarnsOfPointsWithThePriceOfAnotherGpu) {
  ResultStore into = store();
  const SweepPlan hosts = plan(
      "set: {cost.preset: dgx-a100}\n"
      "grid: {cluster.node.preset: [dgx-a100, dgx-h100], training.micro_batch: [1, 2]}\n");
  const SweepResult counted = swept(hosts, into, {.only_count = true});
  const std::string warnings = render(counted.warnings);
  EXPECT_NE(warnings.find("2 of 4 points: cost.gpu_watts is of A100-SXM4-80GB"), std::string::npos) << warnings;
  // In what is written to a file as well.
  const SweepReport report{.plan = hosts, .result = counted};
  for (const std::string& text : {render_sweep_text(report), render_sweep_json(report)}) {
    EXPECT_NE(text.find("2 of 4 points: cost.gpu_watts is of"), std::string::npos) << text;
  }
  EXPECT_EQ(warnings.find("usd_per_gpu_hour is of"), std::string::npos);  // the scenario's own
}

// Experts have no tensor parallelism of their own in a dense model; what is stored before does not matter.
TEST_F(Sweep, NamesKeysWithoutEffect) {
  const SweepPlan asked = plan("grid: {parallel.etp: [1, 2], parallel.tp: [1, 2]}\n");
  ResultStore into = store();
  for (int round = 0; round < 2; ++round) {
    const SweepResult result = swept(asked, into);
    const std::string text = render_sweep_text({.plan = asked, .result = result});
    EXPECT_NE(text.find("Without effect in all points\n  parallel.etp: the model has no experts\n"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("parallel.tp:"), std::string::npos);
    const std::string json = render_sweep_json({.plan = asked, .result = result});
    EXPECT_NE(json.find("{\"path\": \"parallel.etp\", \"why\": \"the model has no experts\"}"), std::string::npos);
  }
}

// As `run` prints it.
TEST_F(Sweep, SaysHowToMendARefusedPoint) {
  const SweepPlan asked = plan("grid: {parallel.dp: [atuo, auto]}\n");
  ResultStore into = store();
  const SweepResult result = swept(asked, into);
  ASSERT_EQ(result.rows.size(), 2U);
  const std::string& reason = result.rows[0].point.reason;
  EXPECT_NE(reason.find("; did you mean 'auto'?"), std::string::npos) << reason;
  const std::string text = render_sweep_text({.plan = asked, .result = result});
  EXPECT_NE(text.find("did you mean 'auto'?"), std::string::npos) << text;
}

TEST_F(Sweep, ThatRanksByAFigureWhichNoPointHasIsRefused) {
  std::ofstream(scenario_path()) << configs::kTinyModel
                                 << "training: {global_batch: 16}\nparallel: {dp: auto}\n"
                                    "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";
  ResultStore into = store();
  const auto result = sweep(plan("grid: {parallel.tp: [1, 2]}\nobjective: cost\n"), scenario_path(), into);
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(render(result.error()).find("E307"), std::string::npos);
}

// Three GPUs do not divide 8 for tp 3: two refused points, with the reason of a run.
TEST_F(Sweep, ListsEveryPointOrWhyThereIsNone) {
  const SweepPlan layouts = plan(kLayouts);
  ResultStore results = store();
  const SweepResult result = swept(layouts, results);
  ASSERT_EQ(result.rows.size(), 8U);
  EXPECT_EQ(result.simulated, 6U);
  EXPECT_EQ(result.ranking.size(), 6U);
  EXPECT_EQ(result.rows[6].point.status, PointStatus::kRefused);
  EXPECT_EQ(result.rows[6].point.code, "E130");
  const std::string text = render_sweep_text({.plan = layouts, .result = result});
  EXPECT_NE(text.find("2 refused (E130)"), std::string::npos) << text;
  EXPECT_NE(text.find("The best 6 of 6 by step_time"), std::string::npos) << text;
}

TEST_F(Sweep, PredictsWhatARunOfThePointPredicts) {
  const SweepPlan layouts = plan(kLayouts);
  ResultStore results = store();
  const SweepResult result = swept(layouts, results);
  const LoadedPoint alone =
      PointSource(scenario_path()).load(std::vector<std::string>{"parallel.tp=2", "parallel.pp=2"});
  ASSERT_TRUE(alone.scenario);
  const Point point = simulate_point(*alone.scenario);
  EXPECT_EQ(result.rows[3].point.figures.step, point.figures.step);
  EXPECT_EQ(result.rows[3].point.fingerprint, point.fingerprint);
  // 8 GPUs at 3.6 dollars an hour are 0.008 dollars a second.
  EXPECT_NEAR(*point.figures.cost.usd, to_seconds(point.figures.step) * 0.008, 1e-12);
}

TEST_F(Sweep, PartsOfEveryPointAddUpToItsStep) {
  ResultStore results = store();
  for (const SweepRow& row : swept(plan(kLayouts), results).rows) {
    Duration sum;
    for (const StepPart& part : row.point.figures.parts) sum += part.time;
    EXPECT_EQ(sum, row.point.figures.step);
  }
}

TEST_F(Sweep, DoesNotDependOnThreads) {
  const SweepPlan layouts = plan(kLayouts);
  ResultStore first = store("1.sqlite");
  ResultStore second = store("2.sqlite");
  EXPECT_EQ(tables(layouts, swept(layouts, first, {.workers = {.threads = 1}})),
            tables(layouts, swept(layouts, second, {.workers = {.threads = 2}})));
}

TEST_F(Sweep, NeverSimulatesAPointTwice) {
  const SweepPlan layouts = plan(kLayouts);
  ResultStore results = store();
  const std::string before = tables(layouts, swept(layouts, results));
  const SweepResult again = swept(layouts, results);
  EXPECT_EQ(again.simulated, 0U);
  EXPECT_EQ(again.found, 6U);
  EXPECT_EQ(tables(layouts, again), before);
  // Another sweep that shares four points, and names one of them twice in two spellings.
  const SweepResult other = swept(plan("list: [{parallel.tp: 2}, {parallel.tp: 4}, {parallel.tp: 8},"
                                       " {training.micro_batch: 1, parallel.tp: 8}]\n"),
                                  results);
  EXPECT_EQ(other.found, 2U);
  EXPECT_EQ(other.simulated, 1U);
  EXPECT_EQ(other.rows[3].point.figures.step, other.rows[2].point.figures.step);
}

TEST_F(Sweep, ConditionsExcludePoints) {
  ResultStore results = store();
  // One by keys of the sweep, one by a key that only the scenario has: dp is 8 / (tp x pp).
  const SweepResult result =
      swept(plan(kLayouts + "where: [\"parallel.tp != 3\", \"parallel.dp * parallel.tp == 8\"]\n"), results);
  EXPECT_EQ(result.excluded, 5U);
  EXPECT_EQ(result.rows.size(), 3U);
}

// Of presets and defaults as of values of the sweep: a bandwidth is no bare number.
TEST_F(Sweep, ConditionsCompareQuantitiesThatTheSweepDoesNotVary) {
  const auto points = [&](const std::string& condition) {
    ResultStore results = store(std::to_string(std::hash<std::string>()(condition)) + ".sqlite");
    return sweep(plan("grid: {parallel.tp: [1, 2]}\nwhere: [\"" + condition + "\"]\n"), scenario_path(), results, {});
  };
  for (const char* const holds :
       {"cluster.node.nic.bandwidth >= 400Gbps", "cluster.node.nic.bandwidth == 50GB/s",
        "cluster.node.gpu.memory > 70GiB", "cluster.node.nic.latency < 1ms", "cluster.node.nic.bandwidth > 0"}) {
    const auto result = points(holds);
    ASSERT_TRUE(result) << holds << render(result.error());
    EXPECT_EQ(result->excluded, 0U) << holds;
  }
  const auto slower = points("cluster.node.nic.bandwidth < 400Gbps");
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->excluded, 2U);
  const auto bare = points("cluster.node.nic.bandwidth >= 5");
  ASSERT_FALSE(bare);
  EXPECT_THAT(render(bare.error()), testing::HasSubstr("have different units"));
}

TEST_F(Sweep, ShardsJoinToTheWhole) {
  const SweepPlan layouts = plan(kLayouts);
  ResultStore whole = store("whole.sqlite");
  ResultStore joined = store("joined.sqlite");
  std::size_t rows = 0;
  for (const std::size_t number : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    const std::string name = std::to_string(number) + ".sqlite";
    {
      ResultStore part = store(name);
      rows += swept(layouts, part, {.shard = {.number = number, .count = 3}}).rows.size();
    }
    ASSERT_FALSE(joined.merge(database(name)).has_errors());
  }
  EXPECT_EQ(rows, 8U);
  const SweepResult result = swept(layouts, joined);
  EXPECT_EQ(result.simulated, 0U);
  EXPECT_EQ(tables(layouts, result), tables(layouts, swept(layouts, whole)));
}

TEST_F(Sweep, CountsBeforeItSimulates) {
  ResultStore results = store();
  const SweepResult result = swept(plan(kLayouts), results, {.only_count = true});
  EXPECT_EQ(result.missing, 6U);
  EXPECT_GT(result.estimated_seconds, 0.0);
  EXPECT_TRUE(result.ranking.empty());
  EXPECT_EQ(results.size(), 0U);
}

TEST_F(Sweep, RanksByTheObjective) {
  ResultStore results = store();
  const SweepResult result = swept(plan(kLayouts + "objective: memory\n"), results);
  for (std::size_t i = 1; i < result.ranking.size(); ++i) {
    EXPECT_LE(result.rows[result.ranking[i - 1]].point.figures.memory,
              result.rows[result.ranking[i]].point.figures.memory);
  }
}

TEST(Shard, IsPartIOfN) {
  EXPECT_EQ(parse_shard("2/8")->number, 2U);
  EXPECT_EQ(parse_shard("2/8")->count, 8U);
  for (const char* wrong : {"0/8", "9/8", "2", "2/", "/8", "a/b", "2/8x"}) EXPECT_FALSE(parse_shard(wrong)) << wrong;
}

}  // namespace
}  // namespace ringwright::planning::sweep_test
