// What HugeCTR does otherwise than TorchRec, and tables that share a host.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workload/recommendation/recommendation_kernels.h"
#include "workload/recommendation/recommendation_step.h"

namespace ringwright::workload::recommender_framework_test {
namespace {

// Batch 1024; dense layers 16 -> 64 and 64 + sum(D) -> 32 -> 1.
RecommendationModel model_of(RecommenderFramework framework, std::vector<TableGroup> tables) {
  RecommendationModel model;
  model.dense_features = 16;
  model.bottom_mlp = {64};
  model.top_mlp = {32, 1};
  model.interaction = Interaction::kCat;
  model.tables = std::move(tables);
  model.global_batch = 1024;
  model.precision = DataType::kFp16;
  model.comm_precision = DataType::kFp16;
  model.bucket = Bytes(1 << 10);
  model.framework = framework;
  return model;
}

TableGroup tables_of(std::int64_t count, Sharding sharding, std::int64_t rows = 1000) {
  return {.count = count, .rows = rows, .dim = 64, .pooling = 10.0, .sharding = sharding};
}

TablePlacement place(const RecommendationModel& model, std::int64_t ranks, std::int64_t ranks_of_host) {
  return place_tables(model, {.ranks = ranks, .ranks_of_host = ranks_of_host, .memory = Bytes(1LL << 30)});
}

// Names of kernels, and of calls, of a role.
std::vector<std::string> work_of(const StepPlan& plan) {
  std::vector<std::string> names;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCompute) continue;
    for (const Kernel& kernel : plan.graph.works[task.detail].kernels) names.push_back(kernel.name);
  }
  return names;
}

std::ptrdiff_t count_of(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::count(names, name);
}

TEST(RecommenderFramework, HugeCtrReducesAllGradientsInOneCallOfTheirType) {
  for (const auto framework : {RecommenderFramework::kTorchRec, RecommenderFramework::kHugeCtr}) {
    const RecommendationModel model = model_of(framework, {tables_of(4, Sharding::kTableWise)});
    const StepPlan plan = build_recommendation_step(model, place(model, 4, 4));
    const std::int64_t each = framework == RecommenderFramework::kHugeCtr ? 2 : 4;
    EXPECT_EQ(plan.communication.front().at(1), Bytes(each * dense_parameters(model)));
    const auto is_all_reduce = [](const CollectiveSpec& spec) { return spec.kind == CollectiveKind::kAllReduce; };
    const auto calls = std::ranges::count_if(plan.graph.collectives, is_all_reduce);
    EXPECT_EQ(calls == 1, framework == RecommenderFramework::kHugeCtr) << calls;
  }
}

// ReLU and bias gradients are within GEMMs, weights are cast by the optimizer; weight gradients come last.
TEST(RecommenderFramework, HugeCtrFusesEpiloguesAndLeavesWeightGradientsForLast) {
  const RecommendationModel model = model_of(RecommenderFramework::kHugeCtr, {tables_of(4, Sharding::kTableWise)});
  const auto names = work_of(build_recommendation_step(model, place(model, 4, 4)));
  for (const char* fused : {"relu", "relu backward", "bias gradient", "top MLP 0 cast"})
    EXPECT_EQ(count_of(names, fused), 0) << fused;
  const auto first_wgrad = std::ranges::find(names, "top MLP 1 wgrad");
  const auto last_dgrad = std::ranges::find(names, "top MLP 0 dgrad");
  ASSERT_TRUE(first_wgrad != names.end() && last_dgrad != names.end());
  EXPECT_LT(last_dgrad, first_wgrad);
  const RecommendationModel torch = model_of(RecommenderFramework::kTorchRec, {tables_of(4, Sharding::kTableWise)});
  const auto eager = work_of(build_recommendation_step(torch, place(torch, 4, 4)));
  EXPECT_GT(count_of(eager, "relu"), 0);
  EXPECT_LT(std::ranges::find(eager, "top MLP 1 wgrad"), std::ranges::find(eager, "top MLP 0 dgrad"));
}

TEST(RecommenderFramework, HugeCtrSortsTheNextBatchBeforeTheTopLayers) {
  const RecommendationModel model = model_of(RecommenderFramework::kHugeCtr, {tables_of(4, Sharding::kAuto)});
  const auto names = work_of(build_recommendation_step(model, place(model, 4, 4)));
  EXPECT_LT(std::ranges::find(names, "split table sort"), std::ranges::find(names, "top MLP 0"));
  const RecommendationModel torch = model_of(RecommenderFramework::kTorchRec, {tables_of(4, Sharding::kTableWise)});
  const auto eager = work_of(build_recommendation_step(torch, place(torch, 4, 4)));
  EXPECT_GT(std::ranges::find(eager, "table sort"), std::ranges::find(eager, "top MLP 0"));
}

TEST(RecommenderFramework, AStepOfEvaluationHasNoBackwardPass) {
  for (const auto framework : {RecommenderFramework::kTorchRec, RecommenderFramework::kHugeCtr}) {
    RecommendationModel model = model_of(framework, {tables_of(4, Sharding::kTableWise)});
    model.forward_only = true;
    const StepPlan plan = build_recommendation_step(model, place(model, 4, 4));
    EXPECT_EQ(plan.communication.front().at(1), Bytes(0));
    const auto names = work_of(plan);
    for (const char* trained : {"top MLP 0 dgrad", "table sort", "table update", "dense update"})
      EXPECT_EQ(count_of(names, trained), 0) << trained;
    EXPECT_EQ(check_task_graph(plan.graph), "");
  }
}

// Two hosts of two ranks, and four tables, two on each host, in fp16: partial sums B * 2 * 64 * 2 within a host, half
// of it among hosts. Each rank holds half of the rows of its host's tables.
TEST(RecommenderFramework, TablesOfAHostAreReducedThereAndExchangedAmongHosts) {
  const RecommendationModel model =
      model_of(RecommenderFramework::kTorchRec, {tables_of(4, Sharding::kTableRowWise)});
  const TablePlacement placement = place(model, 4, 2);
  EXPECT_EQ(placement.groups.front().host_wise, 4);
  EXPECT_EQ(placement.roles.front().host_parts.front(), 2);
  const ExchangeSizes sizes = exchange_sizes(model, placement);
  EXPECT_EQ(sizes.host_sums, Bytes(1024 * 2 * 64 * 2));
  EXPECT_EQ(sizes.host_rows, Bytes(1024 * 2 * 64 * 2 / 2));
  EXPECT_EQ(sizes.pooled + sizes.reduce_scatter, Bytes(0));
  const auto shares = row_wise_tables(model, placement, placement.roles.front());
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares.front().tables, 2);
  EXPECT_DOUBLE_EQ(shares.front().rows, 500.0);
  EXPECT_DOUBLE_EQ(shares.front().lookups, 1024 * 10 / 2.0);

  const StepPlan plan = build_recommendation_step(model, placement);
  EXPECT_EQ(check_task_graph(plan.graph), "");
  ASSERT_EQ(plan.graph.dimensions.size(), 4U);
  EXPECT_EQ(plan.graph.dimensions[2].groups[1], (std::vector{RankId(2), RankId(3)}));
  EXPECT_EQ(plan.graph.dimensions[3].groups[1], (std::vector{RankId(1), RankId(3)}));
  // Forward and backward.
  EXPECT_EQ(plan.communication.front().at(2), sizes.host_sums * 2);
  EXPECT_EQ(plan.communication.front().at(3), sizes.host_rows * 2);
}

// On one host there is nothing to exchange with others.
TEST(RecommenderFramework, OneHostExchangesNoRowsAmongHosts) {
  const RecommendationModel model =
      model_of(RecommenderFramework::kTorchRec, {tables_of(4, Sharding::kTableRowWise)});
  EXPECT_EQ(exchange_sizes(model, place(model, 4, 4)).host_rows, Bytes(0));
  EXPECT_EQ(exchange_sizes(model, place(model, 4, 1)).host_sums, Bytes(0));
}

// HugeCTR on one host places tables on ranks; small ones have a copy on each.
TEST(RecommenderFramework, HugeCtrPlacesTablesOnRanksOfOneHost) {
  RecommendationModel model =
      model_of(RecommenderFramework::kHugeCtr, {tables_of(4, Sharding::kAuto), tables_of(2, Sharding::kAuto, 10)});
  model.replicate_below = Bytes(10'000);
  const TablePlacement placement = place(model, 4, 4);
  EXPECT_EQ(placement.ranks_of_host, 1);
  EXPECT_EQ(placement.groups[0].host_wise, 4);
  EXPECT_EQ(placement.groups[1].replicated, 2);
  model.framework = RecommenderFramework::kTorchRec;
  EXPECT_EQ(place(model, 4, 4).groups[0].placed, 4);
  EXPECT_EQ(place(model, 4, 4).groups[1].replicated, 2);
}

}  // namespace
}  // namespace ringwright::workload::recommender_framework_test
