// Closed forms of a recommendation model: bytes between ranks, placement of tables, memory, kernels.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "workload/recommendation/recommendation_kernels.h"
#include "workload/recommendation/row_access.h"
#include "workload/recommendation/recommendation_memory.h"
#include "workload/recommendation/recommendation_step.h"

namespace ringwright::workload::recommendation_test {
namespace {

// Batch 1024; dense layers 16 -> 64 and 64 + sum(D) -> 1.
RecommendationModel model_of(std::vector<TableGroup> tables) {
  RecommendationModel model;
  model.dense_features = 16;
  model.bottom_mlp = {64};
  model.top_mlp = {1};
  model.interaction = Interaction::kCat;
  model.tables = std::move(tables);
  model.global_batch = 1024;
  model.bucket = Bytes(25 << 20);
  return model;
}

TableGroup tables_of(std::int64_t count, Sharding sharding) {
  return {.count = count, .rows = 1000, .dim = 64, .pooling = 10.0, .sharding = sharding};
}

TablePlacement place(const RecommendationModel& model, std::int64_t ranks) {
  return place_tables(model, {.ranks = ranks, .memory = Bytes(1LL << 30)});
}

Bytes memory_of(const RecommendationModel& model, std::int64_t ranks, std::string_view item) {
  return recommendation_memory(model, place(model, ranks), {}).front().of(item);
}

// B / n * sum(D) * e = 1024 / 4 * (4 * 64) * 4; indices and lengths: B / n * 4 tables * (10 + 1) * 8.
TEST(RecommendationExchange, OfWholeTablesIsAnAllToAllOfPooledRows) {
  const RecommendationModel model = model_of({tables_of(4, Sharding::kTableWise)});
  const ExchangeSizes sizes = exchange_sizes(model, place(model, 4));
  EXPECT_EQ(sizes.pooled, Bytes(256 * 256 * 4));
  EXPECT_EQ(sizes.indices, Bytes(256 * 4 * 11 * 8));
  EXPECT_EQ(sizes.reduce_scatter, Bytes(0));
}

TEST(RecommendationExchange, HalvesWithHalfTheBytesOfAnElement) {
  RecommendationModel model = model_of({tables_of(4, Sharding::kTableWise)});
  model.comm_precision = DataType::kFp16;
  EXPECT_EQ(exchange_sizes(model, place(model, 4)).pooled, Bytes(256 * 256 * 2));
}

// Five tables on four ranks: one has two, hence B * 2 * 64 * 4.
TEST(RecommendationExchange, HasTheSizeOfTheLargestRank) {
  const RecommendationModel model = model_of({tables_of(5, Sharding::kTableWise)});
  EXPECT_EQ(exchange_sizes(model, place(model, 4)).pooled, Bytes(1024 * 2 * 64 * 4));
}

// Partial sums of all samples: B * D * e. Indices are sent once, lengths to each of 4 ranks: B / n * (10 + 4) * 8.
TEST(RecommendationExchange, OfRowsIsAReduceScatter) {
  const RecommendationModel model = model_of({tables_of(1, Sharding::kRowWise)});
  const ExchangeSizes sizes = exchange_sizes(model, place(model, 4));
  EXPECT_EQ(sizes.reduce_scatter, Bytes(1024 * 64 * 4));
  EXPECT_EQ(sizes.pooled, Bytes(0));
  EXPECT_EQ(sizes.indices, Bytes(256 * 14 * 8));
}

// Parts of 16 columns: the pooled rows are as many bytes, the indices go to each of the 4 parts.
TEST(RecommendationExchange, OfColumnsRepeatsTheIndices) {
  TableGroup group = tables_of(1, Sharding::kColumnWise);
  group.column_shards = 4;
  const RecommendationModel model = model_of({group});
  const ExchangeSizes sizes = exchange_sizes(model, place(model, 4));
  EXPECT_EQ(sizes.pooled, Bytes(1024 * 16 * 4));
  EXPECT_EQ(sizes.indices, Bytes(256 * 4 * 11 * 8));
}

// Dense layers: 16 * 64 + 64 and (64 + 64) * 1 + 1.
TEST(RecommendationExchange, OfCopiesIsTheAllReduceOfTheirGradients) {
  const RecommendationModel model = model_of({tables_of(1, Sharding::kDataParallel)});
  const TablePlacement placement = place(model, 4);
  const ExchangeSizes sizes = exchange_sizes(model, placement);
  EXPECT_EQ(sizes.pooled + sizes.reduce_scatter + sizes.indices, Bytes(0));
  EXPECT_DOUBLE_EQ(all_reduced_parameters(model, placement), 1088 + 129 + 1000 * 64);
}

TEST(RecommendationExchange, OfOneRankIsNothing) {
  const RecommendationModel model = model_of({tables_of(1, Sharding::kRowWise), tables_of(1, Sharding::kTableWise)});
  const StepPlan plan = build_recommendation_step(model, place(model, 1));
  EXPECT_TRUE(plan.graph.collectives.empty());
  EXPECT_EQ(check_task_graph(plan.graph), "");
}

// All buckets together are all gradients in fp32, whatever the size of a bucket.
TEST(RecommendationExchange, ReducesEveryGradientOnce) {
  for (const std::int64_t bucket : {1LL << 10, 25LL << 20}) {
    RecommendationModel model = model_of({tables_of(4, Sharding::kTableWise)});
    model.top_mlp = {512, 256, 1};
    model.bucket = Bytes(bucket);
    const StepPlan plan = build_recommendation_step(model, place(model, 4));
    EXPECT_EQ(plan.communication.front().at(1), Bytes(4 * dense_parameters(model))) << bucket;
  }
}

// Gradients of 256,000 bytes fill a bucket each, the first with those of the MLPs: four all-reduces, for one group of
// four tables and for four groups.
TEST(RecommendationExchange, BucketsHoldTheGradientsOfTablesNotOfGroups) {
  const auto all_reduces = [](const std::vector<TableGroup>& tables) {
    RecommendationModel model = model_of(tables);
    model.bucket = Bytes(250'000);
    const StepPlan plan = build_recommendation_step(model, place(model, 4));
    return std::ranges::count(plan.graph.programs.front().tasks, TaskKind::kCollective, &Task::kind);
  };
  const TableGroup table = tables_of(1, Sharding::kDataParallel);
  EXPECT_EQ(all_reduces({tables_of(4, Sharding::kDataParallel)}), 4);
  EXPECT_EQ(all_reduces({table, table, table, table}), 4);
}

// Graham's example for three machines, 5 5 4 4 3 3 3: longest first reaches 11 where 9 is possible, which is the bound
// 4/3 - 1/9. A table of D columns and one lookup costs 2 D.
TEST(TablePlacement, ReachesTheBoundOfLongestFirst) {
  std::vector<TableGroup> tables;
  for (const std::int64_t dim : {5, 5, 4, 4, 3, 3, 3})
    tables.push_back({.rows = 10, .dim = dim, .sharding = Sharding::kTableWise});
  EXPECT_DOUBLE_EQ(place(model_of(tables), 3).largest_cost, 22.0);
}

double best_possible(const std::vector<double>& costs, std::size_t ranks) {
  std::size_t choices = 1;
  for (std::size_t i = 0; i < costs.size(); ++i) choices *= ranks;
  double best = 1e300;
  for (std::size_t choice = 0; choice < choices; ++choice) {
    std::vector<double> load(ranks);
    std::size_t rest = choice;
    for (const double cost : costs) {
      load[rest % ranks] += cost;
      rest /= ranks;
    }
    best = std::min(best, std::ranges::max(load));
  }
  return best;
}

// Against all 3^9 placements of nine tables, for several sets of widths.
TEST(TablePlacement, IsWithinFourThirdsOfTheBest) {
  for (std::int64_t set = 1; set <= 8; ++set) {
    std::vector<TableGroup> tables;
    std::vector<double> costs;
    for (std::int64_t i = 1; i <= 9; ++i) {
      tables.push_back({.rows = 10, .dim = 1 + i * i * set % 37, .sharding = Sharding::kTableWise});
      costs.push_back(2.0 * static_cast<double>(tables.back().dim));
    }
    EXPECT_LE(place(model_of(tables), 3).largest_cost, (4.0 / 3.0 - 1.0 / 9.0) * best_possible(costs, 3)) << set;
  }
}

TEST(TablePlacement, GivesEqualTablesEvenly) {
  const TablePlacement placement = place(model_of({tables_of(12, Sharding::kTableWise)}), 4);
  EXPECT_EQ(placement.roles.size(), 1U);
  EXPECT_EQ(placement.roles.front().parts.front(), 3);
}

// In units of 64 columns, on 4 ranks. Whole: the costliest table, 101. The first one split: 100 / 4 + 1, and of the
// others max(11, 77 / 4): 45.25. All split: 7 * (10 / 4 + 1) more than 26: 50.5.
TEST(TablePlacement, SplitsWhatMakesTheBusiestRankLeast) {
  TableGroup hot = tables_of(1, Sharding::kAuto);
  hot.pooling = 100.0;
  const TablePlacement placement = place(model_of({hot, tables_of(7, Sharding::kAuto)}), 4);
  EXPECT_DOUBLE_EQ(placement.split_cost, 64.0 * 26.0);
  EXPECT_EQ(placement.groups[0].row_wise, 1);
  EXPECT_EQ(placement.groups[1].row_wise, 0);
  EXPECT_EQ(placement.groups[1].placed, 7);
}

// 4e6 rows of 64 x 4 + 4 bytes are 1.04e9 bytes, above 85 % of a GiB: nothing has room for one of them.
TEST(TablePlacement, SplitsTablesThatFitNowhere) {
  TableGroup large = tables_of(8, Sharding::kAuto);
  large.rows = 4'000'000;
  EXPECT_EQ(place(model_of({large}), 4).groups.front().row_wise, 8);
  large.sharding = Sharding::kTableWise;
  EXPECT_EQ(place(model_of({large}), 4).groups.front().row_wise, 0);
}

// 1000 rows of 64 columns in fp32 with one value of row-wise Adagrad each.
TEST(RecommendationMemory, FollowsTheSharding) {
  constexpr std::int64_t kTable = 1000 * (64 * 4 + 4);
  EXPECT_EQ(memory_of(model_of({tables_of(4, Sharding::kTableWise)}), 4, "tables"), Bytes(kTable));
  EXPECT_EQ(memory_of(model_of({tables_of(4, Sharding::kRowWise)}), 4, "split tables"), Bytes(kTable));
  TableGroup columns = tables_of(1, Sharding::kColumnWise);
  columns.column_shards = 4;
  EXPECT_EQ(memory_of(model_of({columns}), 4, "tables"), Bytes(1000 * (16 * 4 + 4)));
  EXPECT_EQ(memory_of(model_of({tables_of(1, Sharding::kDataParallel)}), 4, "dense weights"),
            Bytes(4 * (1088 + 129 + 64000)));
}

TEST(RecommendationMemory, HasTheStateOfTheOptimizer) {
  RecommendationModel model = model_of({tables_of(4, Sharding::kTableWise)});
  model.optimizer = SparseOptimizer::kAdagrad;
  EXPECT_EQ(memory_of(model, 4, "tables"), Bytes(1000 * 2 * 64 * 4));
  model.optimizer = SparseOptimizer::kSgd;
  EXPECT_EQ(memory_of(model, 4, "tables"), Bytes(1000 * 64 * 4));
  EXPECT_EQ(memory_of(model, 4, "dense optimizer state"), Bytes(0));
}

// Rows of 20 bytes take a sector of 32; 1024 x 10 of them at half the speed, an index for each, and a length and a
// pooled row of 20 bytes for each sample.
TEST(RecommendationKernels, ReadRowsInSectors) {
  TableGroup group = tables_of(1, Sharding::kTableWise);
  group.dim = 5;
  RecommendationModel model = model_of({group});
  model.gather_efficiency = 0.5;
  const TablePlacement placement = place(model, 1);
  const auto kernels = lookup_kernels(model, "lookup", placed_tables(model, placement, placement.roles.front()));
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels.front().bytes, Bytes(10240 * 32 * 2 + 10240 * 8 + 1024 * 8 + 1024 * 20));
  EXPECT_EQ(kernels.front().m, 1000 * 20);
}

// Two lookups in two rows find 2 (1 - 1/4) = 1.5 of them; few lookups in many rows are all distinct.
TEST(RecommendationKernels, UpdateDistinctRowsOnce) {
  EXPECT_DOUBLE_EQ(RowAccess(2.0, 0.0).distinct(1.0), 1.0);
  EXPECT_DOUBLE_EQ(RowAccess(2.0, 0.0).distinct(2.0), 1.5);
  EXPECT_DOUBLE_EQ(RowAccess(1.0, 0.0).distinct(9.0), 1.0);
  EXPECT_NEAR(RowAccess(1e12, 0.0).distinct(1e6), 1e6, 1.0);
  EXPECT_NEAR(RowAccess(1e3, 0.0).distinct(1e9), 1e3, 1e-6);
}

// MLPerf's DLRM: 27 vectors have 351 pairs, behind 128 values of the bottom MLP: the 479 inputs of its top MLP.
TEST(RecommendationModel, DotProductsOfPairsFollowTheBottomOutput) {
  RecommendationModel model = model_of({{.count = 26, .rows = 10, .dim = 128}});
  model.bottom_mlp = {512, 256, 128};
  model.interaction = Interaction::kDot;
  EXPECT_EQ(interaction_width(model), 479);
}

// A GEMM forward and two backward, the first layer one: 2 B (3 * 64 * 1 + ...) without the first input's gradient.
// Bottom 16 -> 64: 2 GEMMs; top 128 -> 1: 3 GEMMs; 2 * 1024 * (2 * 16 * 64 + 3 * 128).
TEST(RecommendationModel, FlopsAreThoseOfItsGemms) {
  const RecommendationModel model = model_of({tables_of(1, Sharding::kTableWise)});
  EXPECT_DOUBLE_EQ(build_recommendation_step(model, place(model, 1)).model_flops.count(),
                   2.0 * 1024 * (2 * 16 * 64 + 3 * 128));
}

}  // namespace
}  // namespace ringwright::workload::recommendation_test
