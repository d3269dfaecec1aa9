// Memory-centric tiling of sharded parameters: what is gathered, when it is released, and what it saves.
#include "workload/parallel/tiled_uses.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::tiled_uses_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kReleased = "stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0";

JobText job_of(const std::string& zero, const std::string& training = "", const std::string& parallel = "",
               std::int64_t ranks = 4) {
  return JobText(small_model(4) + fmt::format("training: {{global_batch: 4{}}}\n"
                                              "parallel: {{{}zero: {{stage: 3, {}{}}}}}\n",
                                              training, parallel, kReleased, zero),
                 ranks);
}

struct Calls {
  std::int64_t count = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const Calls&, const Calls&) = default;
};

Calls calls(const StepPlan& plan, CollectiveKind kind) {
  Calls sum;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCollective || plan.graph.collectives[task.detail].kind != kind) continue;
    ++sum.count;
    sum.bytes += plan.graph.collectives[task.detail].bytes.count();
  }
  return sum;
}

using enum CollectiveKind;

TEST(TiledUses, OneTileIsNoTiling) {
  const JobText one = job_of(", tiled_linear: {in_splits: 1, out_splits: 1}");
  EXPECT_THAT(one.problems(), IsEmpty());
  EXPECT_EQ(one.parallel.sharding, job_of("").parallel.sharding);
}

// Four layers of four operators, each of 2 x 2 tiles; embedding and output layer; the norms after the update.
TEST(TiledUses, TilesAreGatheredOneByOneWithTheBytesOfTheLayers) {
  const StepPlan whole = job_of("").plan();
  const JobText job = job_of(", tiled_linear: {in_splits: 2, out_splits: 2}");
  ASSERT_THAT(job.problems(), IsEmpty());
  const StepPlan tiled = job.plan();
  EXPECT_EQ(calls(tiled, kAllGather).bytes, calls(whole, kAllGather).bytes);
  EXPECT_EQ(calls(whole, kAllGather).count, 2 * (4 + 2) + 1);
  EXPECT_EQ(calls(tiled, kAllGather).count, 2 * (4 * 4 * 4 + 2) + 1);
  EXPECT_EQ(calls(tiled, kReduceScatter).bytes, calls(whole, kReduceScatter).bytes);
  EXPECT_DOUBLE_EQ(tiled.hardware_flops.count(), whole.hardware_flops.count());
}

// Without a bucket each tile's gradient is scattered when it is computed; so are those of a layer's norms, once.
TEST(TiledUses, GradientsOfEachTileAreScattered) {
  const StepPlan tiled = job_of(", reduce_bucket_size: 0, tiled_linear: {in_splits: 2, out_splits: 2}").plan();
  EXPECT_EQ(calls(tiled, kReduceScatter).count, 4 * (4 * 4 + 1) + 2);
}

TEST(TiledUses, RecomputationGathersTilesAThirdTime) {
  const std::string full = ", recompute: full";
  const StepPlan whole = job_of("", full).plan();
  const StepPlan tiled = job_of(", tiled_linear: {in_splits: 2, out_splits: 2}", full).plan();
  EXPECT_EQ(calls(tiled, kAllGather).bytes, calls(whole, kAllGather).bytes);
  EXPECT_EQ(calls(tiled, kAllGather).count, 3 * 4 * 4 * 4 + 2 * 2 + 1);
}

TEST(TiledUses, GroupsOfLayersAreRecomputedWithTheirTiles) {
  const StepPlan tiled = job_of(", tiled_linear: {in_splits: 2, out_splits: 2}",
                                ", recompute: full, recompute_method: uniform, recompute_num_layers: 2")
                             .plan();
  EXPECT_EQ(calls(tiled, kAllGather).count, 3 * 4 * 4 * 4 + 2 * 2 + 1);
}

// A tile's GEMM waits for its gather: without prefetch no gather is issued before the previous tile's GEMM.
TEST(TiledUses, WithoutPrefetchTilesFollowEachOther) {
  const StepPlan plan =
      job_of(", stage3_prefetch_bucket_size: 0, tiled_linear: {in_splits: 2, out_splits: 2}").plan();
  const std::vector<Task>& tasks = plan.graph.programs.front().tasks;
  const auto is_gather = [&](const Task& task) {
    return task.kind == TaskKind::kCollective && plan.graph.collectives[task.detail].kind == kAllGather;
  };
  for (std::size_t i = 0; i + 1 < tasks.size(); ++i) {
    EXPECT_FALSE(is_gather(tasks[i]) && is_gather(tasks[i + 1])) << i;
  }
}

// The working memory of an operator falls with its tiles: here the largest unit is a tile of h x 4 h values.
TEST(TiledUses, WorkingMemoryFallsByTheNumberOfTiles) {
  const auto ledger = [](const std::string& tiles) {
    const JobText job(
        "model: {num_layers: 2, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 4096, vocab_size: 64, "
        "make_vocab_size_divisible_by: 1, seq_length: 32, activation: gelu, bias: none}\n"
        "training: {global_batch: 4, grad_reduce_dtype: bf16}\n"
        "parallel: {zero: {stage: 3, stage3_prefetch_bucket_size: 0, reduce_bucket_size: 0, "
        "stage3_max_reuse_distance: 0" +  // norms are below the threshold and stay
            tiles + "}}\n",
        4);
    EXPECT_THAT(job.problems(), IsEmpty());
    return memory_ledger(job.inputs(), {}).front();
  };
  constexpr std::int64_t kOperator = 1024 * 4096 * 2;  // bytes
  for (const int splits : {2, 4}) {
    const StageMemory memory = ledger(fmt::format(", tiled_linear: {{in_splits: {0}, out_splits: {0}}}", splits));
    const std::int64_t tile = kOperator / (splits * splits);
    EXPECT_EQ(memory.of("gathered parameters").count(), tile);
    EXPECT_EQ(memory.of("unreduced gradients").count(), 2 * tile);  // computed, and being reduced
    EXPECT_EQ(memory.largest_weight.count(), tile);
  }
  EXPECT_EQ(ledger("").of("gathered parameters").count(), kOperator * 3);  // a layer: 12 h^2 values
  EXPECT_EQ(ledger("").largest_weight.count(), kOperator);
}

TEST(TiledUses, WhatCannotBeTiledIsRefused) {
  const std::string tiles = ", tiled_linear: {in_splits: 2, out_splits: 2}";
  const auto problem = [](const JobText& job, const std::string& text) {
    EXPECT_THAT(job.problems(), Contains(HasSubstr(text)));
  };
  problem(job_of(", tiled_linear: {in_splits: 3}"), "in_splits = 3 does not divide the 64 inputs");
  problem(job_of(", tiled_linear: {out_splits: 40}"), "out_splits = 40 does not divide");
  problem(job_of(", tiled_linear: {tile_factor: 3}"), "tile_factor = 3 does not divide the hidden size 64");
  problem(job_of(", tiled_linear: {in_splits: 2, tile_factor: 2}"), "contradict each other");
  problem(job_of(tiles, "", "tp: 2, "), "parallel.tp must be 1");
  problem(job_of(tiles, "", "pp: 2, "), "parallel.pp must be 1");
  const JobText stage_2(small_model(4) + "training: {global_batch: 4}\nparallel: {zero: {stage: 2" + tiles + "}}\n", 4);
  problem(stage_2, "only zero.stage 3");
}

}  // namespace
}  // namespace ringwright::workload::tiled_uses_test
