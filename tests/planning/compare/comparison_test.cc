#include "planning/compare/comparison.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/scenario/catalogue.h"
#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/played.h"

namespace ringwright::planning::comparison_test {
namespace {

// A scenario with random sizes, on one or two hosts, computing at its own speed or next to slow hosts.
std::string random_scenario(std::uint64_t number) {
  RandomStream random(number, "comparison_test");
  const auto one_of = [&random](const auto& choices) { return choices[random.next_below(choices.size())]; };
  constexpr std::array kTensor{1, 2, 4};
  constexpr std::array kStages{1, 2};
  constexpr std::array kBatch{16, 32};
  constexpr std::array<std::string_view, 3> kModels{"closed_form", "steps", "steps"};
  constexpr std::array<std::string_view, 2> kInterference{"none", "share"};
  const std::uint64_t hosts = 1 + random.next_below(2);
  std::string text = fmt::format(
      "{}training: {{global_batch: {}}}\nparallel: {{tp: {}, pp: {}}}\ncollectives: {{model: {}}}\n"
      "interference: {{model: {}}}\n"
      "cluster: {{nodes: {}, node: {{preset: dgx-h100}}, fabric: {{type: {}}}}}\n",
      configs::kTinyModel, one_of(kBatch), one_of(kTensor), one_of(kStages), one_of(kModels), one_of(kInterference),
      hosts, hosts == 1 ? "single_node" : "rail_optimized");
  if (random.next_below(2) == 1) text += "faults: [{node: 0, compute_scale: 0.75}]\n";
  return text;
}

Report report_of(const std::string& text) {
  const configs::Scenario scenario = configs::load(text);
  auto outcome = configs::simulate(scenario, configs::FoldMode::kFold);
  if (!outcome || !outcome->report) throw std::runtime_error(text);
  return std::move(*outcome->report);
}

ComparedStep result_of(const std::string& text) {
  auto step = read_result("result.json", render_json(report_of(text)));
  if (!step) throw std::runtime_error(render(step.error()));
  return std::move(*step);
}

Duration sum_of(const std::vector<PartChange>& changes) {
  Duration sum;
  for (const PartChange& part : changes) sum += part.change();
  return sum;
}

TEST(Comparison, AddsUpToThePicosecondForRandomPairs) {
  for (std::uint64_t pair = 0; pair < 20; ++pair) {
    const SideBySide both = compare({result_of(random_scenario(2 * pair)), result_of(random_scenario(2 * pair + 1))});
    EXPECT_EQ(sum_of(both.comparisons.front().changes), both.sides[1].figures.step - both.sides[0].figures.step)
        << pair;
  }
}

TEST(Comparison, AResultReadsBackAsTheReportThatWroteIt) {
  const Report report = report_of(random_scenario(7));
  const ComparedStep step = *read_result("result.json", render_json(report));
  EXPECT_EQ(step.figures.step, report.step_time.mean);
  EXPECT_EQ(step.figures.parts, figures_of(report).parts);
  EXPECT_EQ(step.values.size(), report.facts.config.size());
}

const std::string kHost = std::string(configs::kTinyModel) +
                          "training: {global_batch: 16}\nparallel: {tp: 2}\n"
                          "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";

TEST(Comparison, NamesValuesThatDiffer) {
  const SideBySide both = compare({result_of(kHost), result_of(kHost + "compute: {model: roofline}\n")});
  const auto& values = both.comparisons.front().values;
  const auto found = std::ranges::find(values, "compute.model", &DifferentValue::key);
  ASSERT_NE(found, values.end());
  EXPECT_EQ(found->before, "calibrated");
  EXPECT_EQ(found->after, "roofline");
  EXPECT_TRUE(compare({result_of(kHost), result_of(kHost)}).comparisons.front().values.empty());
}

// Files of one name in two folders differ by their content.
TEST(Comparison, NamesAFileWhoseContentDiffers) {
  std::vector<ComparedStep> sides;
  for (const char* const algorithm : {"tree", "ring", "ring"}) {
    const std::string folder = fmt::format("{}compared_{}_{}", testing::TempDir(), getpid(), sides.size());
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/tuner.csv") << fmt::format("allreduce,0,4294967295,{},simple,2,-1,-1\n", algorithm);
    std::ofstream(folder + "/job.yaml") << kHost << "comm: {tuner_config: tuner.csv}\n";
    auto side = load_compared(folder + "/job.yaml");
    ASSERT_TRUE(side) << render(side.error());
    sides.push_back(std::move(*side));
  }
  const SideBySide both = compare(std::move(sides));
  ASSERT_EQ(both.comparisons[0].values.size(), 1U);
  EXPECT_EQ(both.comparisons[0].values[0].key, "comm.tuner_config");
  EXPECT_EQ(both.comparisons[0].values[0].before.find("tuner.csv (sha256 "), 0U);
  const SideBySide same = compare({both.sides[1], both.sides[2]});
  EXPECT_TRUE(same.comparisons[0].values.empty());
}

// A long list that differs at its end is shown whole.
TEST(Comparison, ShowsWhatDiffersInLongValues) {
  ComparedStep a{.name = "a", .source = "a", .figures = {}, .values = {{"k", std::string(200, 'x') + "1"}}};
  ComparedStep b{.name = "b", .source = "b", .figures = {}, .values = {{"k", std::string(200, 'x') + "2"}}};
  const std::string text = render_comparison_text(compare({a, b}), 80);
  EXPECT_NE(text.find("x1  "), std::string::npos);
  EXPECT_NE(text.find("x2"), std::string::npos);
}

// What was measured on the job of the base is no measurement of this one.
TEST(Comparison, RefusesPublishedFiguresOfAnotherJob) {
  const std::string folder = fmt::format("{}comparison_{}", testing::TempDir(), getpid());
  std::filesystem::create_directories(folder);
  const std::string published = "version: 1\nname: base\npublished: [{source: a paper, step_time: 1s}]\n";
  std::ofstream(folder + "/base.yaml") << published << kHost;
  std::ofstream(folder + "/same.yaml") << "extends: base.yaml\nsimulate: {seed: 3}\n";
  std::ofstream(folder + "/other.yaml") << "extends: base.yaml\nparallel: {tp: 4}\n";
  const auto same = load_published(folder + "/same.yaml");
  ASSERT_TRUE(same) << render(same.error());
  EXPECT_EQ(same->figures.step, from_seconds(1.0));
  const auto other = load_published(folder + "/other.yaml");
  ASSERT_FALSE(other);
  EXPECT_NE(render(other.error()).find("it changes 'parallel.tp'"), std::string::npos);
}

// All GPUs of one host at half their speed: every kernel takes twice as long, which the row of slow hosts shows.
TEST(Comparison, SlowHostsAreACauseOfTheirOwn) {
  const SideBySide both = compare({result_of(kHost), result_of(kHost + "faults: [{node: 0, compute_scale: 0.5}]\n")});
  const auto& changes = both.comparisons.front().changes;
  Duration computing;
  for (const PartChange& part : changes) {
    if (!part.cause.starts_with("compute: ")) continue;
    EXPECT_EQ(part.change(), Duration()) << part.cause;
    computing += part.before;
  }
  const auto slowed = std::ranges::find(changes, "slowed hosts", &PartChange::cause);
  ASSERT_NE(slowed, changes.end());
  EXPECT_NEAR(ratio(slowed->change(), computing), 1.0, 0.001);
}

// 30.0 s simulated and 32 s published: the published side has one part, and the changes add up to the difference.
TEST(Comparison, APublishedStepIsASide) {
  const std::string path = configs::scenario_path(configs::load_options({}), "megatron-22b-8-a100");
  auto published = load_published(path), simulated = load_compared(path);
  ASSERT_TRUE(published.has_value() && simulated.has_value());
  const Duration step = simulated->figures.step;
  EXPECT_NE(published->figures.step, step);
  ASSERT_EQ(published->figures.parts.size(), 1U);
  EXPECT_EQ(published->figures.parts.front().time, published->figures.step);
  const SideBySide both = compare({std::move(*published), std::move(*simulated)});
  Duration change;
  for (const PartChange& part : both.comparisons.front().changes) change += part.after - part.before;
  EXPECT_EQ(change, step - both.sides.front().figures.step);
  EXPECT_TRUE(both.comparisons.front().values.empty());
  const std::string none = configs::scenario_path(configs::load_options({}), "scale-1m-h100");
  EXPECT_EQ(load_published(none).error().all().front().code, "E320");
}

TEST(Comparison, RefusesWhatIsNoResult) {
  const auto code = [](std::string_view text) { return read_result("x.json", text).error().all().front().code; };
  EXPECT_EQ(code("{\"schema\": \"ringwright.search/1\"}"), "E320");
  EXPECT_EQ(code("{\"schema\": \"ringwright.result/1\"}"), "E320");
  EXPECT_EQ(
      code("{\"schema\": \"ringwright.result/1\", \"step_ps\": 3, \"parts_ps\": [{\"cause\": \"a\", \"ps\": 2}]}"),
      "E320");
}

TEST(Comparison, PrintsAWaterfall) {
  const SideBySide both = compare({result_of(kHost), result_of(kHost + "compute: {model: roofline}\n")});
  const std::string text = render_comparison_text(both);
  EXPECT_NE(text.find("From A to B"), std::string::npos) << text;
  EXPECT_NE(text.find("compute: gemm"), std::string::npos) << text;
  EXPECT_NE(text.find("compute.model"), std::string::npos) << text;
  EXPECT_NE(render_comparison_json(both).find("\"schema\": \"ringwright.compare/1\""), std::string::npos);
}

}  // namespace
}  // namespace ringwright::planning::comparison_test
