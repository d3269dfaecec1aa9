#include "configs/scenario/host_rows.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::host_rows_test {
namespace {

std::string job(const std::string& zero, const std::string& host) {
  return fmt::format(
      "model: {{preset: llama3-8b}}\ntraining: {{global_batch: 16}}\nparallel: {{zero: {{{}}}}}\n"
      "cluster: {{nodes: 2, node: {{preset: dgx-h100, {}}}, fabric: {{type: rail_optimized}}}}\n",
      zero, host);
}
const std::string kOptimizer = "stage: 2, offload_optimizer: {device: cpu}";

TEST(HostRows, AreThereOnlyWhereSomethingIsOffloaded) {
  EXPECT_TRUE(host_rows(load(job("stage: 2", "gpus: 8"))).empty());
}

// Sixteen shards of 14 bytes a parameter on two hosts: half of the state on each.
TEST(HostRows, AHostHoldsWhatAllItsGpusOffload) {
  const std::vector<HostRow> rows = host_rows(load(job(kOptimizer, "memory: {capacity: 512GiB}")));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].what, "memory");
  EXPECT_NEAR(static_cast<double>(rows[0].total.count()), 14.0 * 8.03e9 / 2.0, 0.001 * 14.0 * 8.03e9);
  EXPECT_EQ(rows[0].capacity, Bytes(std::int64_t{2} * 512 << 30U));  // two sockets
  EXPECT_TRUE(rows[0].fits());
}

TEST(HostRows, ASmallHostDoesNotHoldIt) {
  EXPECT_FALSE(host_rows(load(job(kOptimizer, "memory: {capacity: 16GiB}")))[0].fits());
}

TEST(HostRows, WhatNobodySaidIsNotHeldAgainstTheJob) {
  const std::vector<HostRow> rows = host_rows(load(job(kOptimizer, "memory: {capacity: 0GiB}")));
  EXPECT_EQ(rows[0].capacity, Bytes(0));
  EXPECT_TRUE(rows[0].fits());
}

TEST(HostRows, DrivesHaveARowOfTheirOwn) {
  const std::vector<HostRow> rows =
      host_rows(load(job("stage: 3, offload_optimizer: {device: nvme}", "storage: {drives: 2, capacity: 10GB}")));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].what, "drives");
  EXPECT_NEAR(static_cast<double>(rows[1].total.count()), 12.0 * 8.03e9 / 2.0, 0.001 * 12.0 * 8.03e9);
  EXPECT_EQ(rows[1].capacity, Bytes(20'000'000'000));
  EXPECT_FALSE(rows[1].fits());
}

// Eight tables of 10 million rows of 64 fp32 weights and a value of row-wise Adagrad, on two hosts: four on each, or a
// half of each. GPUs hold them all where there is no cache.
TEST(HostRows, AHostHoldsTheTablesOfItsGpus) {
  const auto rows = [](const std::string& more, const std::string& capacity) {
    return host_rows(
        load(fmt::format("recommendation: {{dense_features: 13, bottom_mlp: [64], top_mlp: [1], global_batch: 64,\n"
                         "  tables: [{{count: 8, rows: 10000000, dim: 64}}], {}}}\n"
                         "cluster: {{nodes: 2, node: {{preset: dgx-h100, gpus: 4, memory: {{capacity: {}}}}}}}\n",
                         more, capacity)));
  };
  EXPECT_TRUE(rows("sharding: table_wise", "1TB").empty());
  for (const std::string sharding : {"table_wise", "row_wise"}) {
    const std::vector<HostRow> cached = rows("cache: {rows: 1%}, sharding: " + sharding, "1TB");
    ASSERT_EQ(cached.size(), 1U) << sharding;
    EXPECT_EQ(cached[0].what, "memory");
    EXPECT_EQ(cached[0].total, Bytes(4 * 10'000'000LL * (64 * 4 + 4))) << sharding;
    EXPECT_TRUE(cached[0].fits());
  }
  EXPECT_FALSE(rows("cache: {rows: 1%}", "5GB")[0].fits());  // of each of two sockets
}

TEST(HostRows, AreInTheReport) {
  const Scenario scenario = load(job(kOptimizer, "memory: {capacity: 512GiB}"));
  const auto simulation = assemble(scenario);
  const Outcome outcome = simulate(scenario, *simulation, {});
  EXPECT_THAT(render_text(*outcome.report, {}), testing::HasSubstr("memory of host 0: 52."));
  EXPECT_THAT(render_json(*outcome.report), testing::HasSubstr("\"hosts\""));
}

}  // namespace
}  // namespace ringwright::configs::host_rows_test
