#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/report/report.h"
#include "tests/core/report/sample_run.h"

namespace ringwright::report_json_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_facts;
using testing::sample_run;

[[nodiscard]] std::string text(const StepFacts& facts) { return render_json(summarise(sample_run().inputs(), facts)); }
[[nodiscard]] nlohmann::ordered_json json(const StepFacts& facts) { return nlohmann::ordered_json::parse(text(facts)); }

TEST(ReportJson, NamesItsSchema) { EXPECT_EQ(json(sample_facts())["schema"], "ringwright.result/1"); }

TEST(ReportJson, HoldsTheMetrics) {
  const auto metrics = json(sample_facts())["metrics"];
  EXPECT_EQ(metrics["step_time_s"]["mean"], 0.1);
  EXPECT_EQ(metrics["step_time_s"]["n"], 2);
  EXPECT_NEAR(metrics["mfu"].get<double>(), 0.4, 1e-12);
  EXPECT_EQ(metrics["peak_mem_bytes"], (80_GiB).count());
}

TEST(ReportJson, WhatIsUnknownIsNullNotZero) {
  StepFacts facts = sample_facts();
  facts.model_flops = Flops();
  facts.memory.clear();
  const auto metrics = json(facts)["metrics"];
  EXPECT_TRUE(metrics["mfu"].is_null());
  EXPECT_TRUE(metrics["peak_mem_bytes"].is_null());
}

TEST(ReportJson, ExposedTimesAddUpToTheStep) {
  double seconds = 0.0;
  double shares = 0.0;
  const auto document = json(sample_facts());
  for (const auto& row : document["breakdown"]) {
    seconds += row["exposed_s"].get<double>();
    shares += row["share"].get<double>();
  }
  EXPECT_NEAR(seconds, 0.1, 1e-12);
  EXPECT_NEAR(shares, 1.0, 1e-12);
}

TEST(ReportJson, GivesEachDimensionsTimesAndBytes) {
  const auto tp = json(sample_facts())["breakdown"][1];
  EXPECT_EQ(tp["dim"], "tp");
  EXPECT_EQ(tp["exposed_s"], 0.010);
  EXPECT_EQ(tp["hidden_s"], 0.005);
  EXPECT_EQ(tp["total_s"], 0.015);
  EXPECT_EQ(tp["bytes"], (5_MiB).count());
}

TEST(ReportJson, ReportsThePlansOfCollectives) {
  StepFacts facts = sample_facts();
  facts.collectives = {{.dimension = "tp",
                        .operation = "all_reduce",
                        .bytes = 32_MiB,
                        .ranks = 8,
                        .hosts = 1,
                        .calls = 96,
                        .algorithm = "nvls",
                        .protocol = "simple",
                        .channels = 16,
                        .shortest = 210_us,
                        .mean = 250_us},
                       {.dimension = "dp",
                        .operation = "all_gather",
                        .bytes = 1_GiB,
                        .ranks = 2,
                        .hosts = 2,
                        .calls = 1,
                        .algorithm = "ring"}};
  const auto rows = json(facts)["collectives"];
  EXPECT_EQ(rows[0]["operation"], "all_reduce");
  EXPECT_EQ(rows[0]["calls_per_step"], 96);
  EXPECT_EQ(rows[0]["channels"], 16);
  EXPECT_EQ(rows[0]["shortest_s"], 210e-6);
  EXPECT_TRUE(rows[1]["protocol"].is_null());
  EXPECT_TRUE(rows[1]["channels"].is_null());
  EXPECT_TRUE(rows[1]["mean_s"].is_null());
}

TEST(ReportJson, ListsKernelsAndTiersOfLinks) {
  StepFacts facts = sample_facts();
  facts.kernels = {{.family = "gemm", .name = "qkv", .type = "bf16", .bound = KernelBound::kArithmetic, .launches = 2.5,
                    .time = 5_ms, .launch = 2_ms, .flops = Flops(1e12), .bytes = 1_MiB}};
  facts.link_tiers = {{.name = "GPU - NIC", .links = 16, .mean = 0.25, .highest = 0.5, .by_use = {8, 0, 0, 0, 0, 8}}};
  const auto document = json(facts);
  const auto& kernel = document["kernels"][0];
  EXPECT_EQ(kernel["bound"], "arithmetic");
  EXPECT_EQ(kernel["launches"], 2.5);
  EXPECT_EQ(kernel["time_s"], 0.005);
  EXPECT_EQ(kernel["launch_s"], 0.002);
  const auto& tier = document["link_tiers"][0];
  EXPECT_EQ(tier["tier"], "GPU - NIC");
  EXPECT_EQ(tier["max_util"], 0.5);
  EXPECT_EQ(tier["histogram"].size(), 10U);
}

TEST(ReportJson, HasTheCommandWhereThereWasOne) {
  StepFacts facts = sample_facts();
  EXPECT_FALSE(json(facts).contains("command"));
  facts.command = {"ringwright", "run", "a.yaml"};
  EXPECT_EQ(json(facts)["command"].size(), 3U);
}

TEST(ReportJson, HasTheSlowestStage) { EXPECT_EQ(json(sample_facts())["slowest_stage"]["name"], "stage 1"); }

TEST(ReportJson, HasMemoryByStageAndWhetherItFits) {
  StepFacts facts = sample_facts();
  facts.memory[1].total = 81_GiB;
  const auto memory = json(facts)["memory"];
  EXPECT_EQ(memory[0]["items_bytes"]["activations"], (50_GiB).count());
  EXPECT_EQ(memory[0]["fits"], true);
  EXPECT_EQ(memory[1]["fits"], false);
}

TEST(ReportJson, OmitsTheUsersFolders) {
  StepFacts facts = sample_facts();
  facts.config = {{.path = "parallel.tp", .text = "8", .origin = "/data/ann/plans/llama.yaml:9"}};
  facts.warnings = {{.code = "W1", .where = "/data/ann/plans/llama.yaml:3", .text = "text"}};
  EXPECT_EQ(json(facts)["config"]["resolved"]["parallel.tp"]["origin"], "llama.yaml:9");
  EXPECT_THAT(text(facts), Not(HasSubstr("ann")));
}

TEST(ReportJson, ListsPublishedFiguresWithTheirDifference) {
  StepFacts facts = sample_facts();
  facts.published = {{.quantity = PublishedQuantity::kStepTime, .value = 0.08, .source = "a paper"}};
  const auto published = json(facts)["published"][0];
  EXPECT_EQ(published["metric"], "step_time_s");
  EXPECT_NEAR(published["ours"].get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(published["difference"].get<double>(), 0.25, 1e-12);
  EXPECT_FALSE(published.contains("changed"));
  facts.changed_since_published = {"parallel.tp"};
  EXPECT_EQ(json(facts)["published"][0]["changed"], std::vector<std::string>{"parallel.tp"});
}

TEST(ReportJson, OnlyWallTimeAndMemoryOfTheSimulatorVary) {
  StepFacts other = sample_facts();
  other.engine.wall_seconds = 99.0;
  other.engine.peak_memory = 1_GiB;
  auto a = json(sample_facts());
  auto b = json(other);
  EXPECT_NE(a["engine"], b["engine"]);
  for (auto* document : {&a, &b}) {
    (*document)["engine"].erase("wall_s");
    (*document)["engine"].erase("peak_rss_bytes");
  }
  EXPECT_EQ(a.dump(), b.dump());
}

TEST(ReportJson, EqualRunsGiveEqualBytes) { EXPECT_EQ(text(sample_facts()), text(sample_facts())); }

TEST(ReportJson, SurvivesTextThatIsNotUtf8) {
  StepFacts facts = sample_facts();
  facts.scenario = "caf\xE9";
  EXPECT_THAT(text(facts), HasSubstr("\"caf\xEF\xBF\xBD\""));
}

}  // namespace
}  // namespace ringwright::report_json_test
