#include "workload/parallel/buckets.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::buckets_test {
namespace {

ModelChunk three_points() {
  ModelChunk part;
  part.points = {PointKind::kAttention, PointKind::kMlp, PointKind::kAttention};
  part.tensors = {{{.name = "a", .elements = 10}, {.name = "b", .elements = 20}},
                  {{.name = "c", .elements = 30}},
                  {{.name = "d", .elements = 40}, {.name = "e", .elements = 50}}};
  return part;
}

TEST(Buckets, CloseInBackwardOrderAsSoonAsTheyAreFull) {
  const std::vector<Bucket> buckets = fill_buckets(three_points(), {.close_at = 60, .multiple = 8});
  // e 50 + d 40; c 30 + b 20 + a 10.
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].elements, 90);
  EXPECT_EQ(buckets[0].padded, 96);
  EXPECT_EQ(buckets[0].first_point, 2U);
  EXPECT_EQ(buckets[0].last_point, 2U);
  EXPECT_EQ(buckets[1].elements, 60);
  EXPECT_EQ(buckets[1].padded, 64);
  EXPECT_EQ(buckets[1].first_point, 0U);
  EXPECT_EQ(buckets[1].last_point, 1U);
}

TEST(Buckets, TheRestIsABucketToo) {
  const std::vector<Bucket> buckets = fill_buckets(three_points(), {.close_at = 100, .multiple = 1});
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].elements, 120);  // e, d, c
  EXPECT_EQ(buckets[1].elements, 30);   // b, a
}

// Points are ready after 90, 120 and 150 of 150 ms. An exchange takes 5 ms and 0.5 ms for each of its elements.
TEST(Buckets, LayerFusionClosesThemWhereTheLastEndsEarliest) {
  const LayerFusionOptions fusion{.overhead = Duration(5'000'000'000),
                                  .rate = Bandwidth(8000.0),  // 4 bytes in 0.5 ms
                                  .backward = Duration(150'000'000'000)};
  const std::vector<Bucket> buckets =
      fill_buckets(three_points(), {.close_at = 1, .multiple = 1, .fusion = fusion, .element_bytes = 4});
  // {e} until 90 + 30 = 120, {d, c} until 120 + 40 = 160, {b, a} until 160 + 20 = 180; {e, d} and {c, b, a} take until
  // 150 + 35 = 185, and all at once until 150 + 80 = 230.
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].elements, 50);
  EXPECT_EQ(buckets[1].elements, 70);
  EXPECT_EQ(buckets[2].elements, 30);
}

ParallelOptions replicas(int dp) {
  ParallelOptions options;
  options.dp = dp;
  options.overlap_grad_reduce = true;
  return options;
}

TEST(Buckets, DefaultSizeIsMegatrons) {
  EXPECT_EQ(bucket_rule({}, replicas(8), {}).close_at, 40'000'000);
  EXPECT_EQ(bucket_rule({}, replicas(128), {}).close_at, 128'000'000);
  EXPECT_EQ(bucket_rule({}, replicas(128), {}).multiple, 128 * 64);
}

TEST(Buckets, OnlyTheFirstChunkOfAnOverlappedReductionIsCut) {
  constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bucket_rule({}, replicas(8), {.chunk = 1, .part = 4}).close_at, kWhole);
  EXPECT_EQ(bucket_rule({}, replicas(8), {.chunk = 0, .part = 1}).close_at, kWhole);  // of the second stage
  ParallelOptions at_once = replicas(8);
  at_once.overlap_grad_reduce = false;
  EXPECT_EQ(bucket_rule({}, at_once, {}).close_at, kWhole);
}

// DeepSpeed's ZeRO knows no stages, and FSDP reduces after groups of microbatches on each of them.
TEST(Buckets, OthersThanMegatronCutTheFirstChunkOfEveryStage) {
  const BucketPlace second{.chunk = 0, .part = 1};
  ParallelOptions deepspeed = replicas(8);
  deepspeed.buckets_on_all_stages = true;
  EXPECT_EQ(bucket_rule({}, deepspeed, second).close_at, 40'000'000);
  ParallelOptions groups = replicas(8);
  groups.gradient_reduction = GradientReduction::kMicrobatchGroup;
  EXPECT_EQ(bucket_rule({}, groups, second).close_at, 40'000'000);
}

TEST(Buckets, AGivenSizeIsInGradientBytes) {
  ParallelOptions options = replicas(8);
  options.bucket = Bytes(4'000);
  EXPECT_EQ(bucket_rule({}, options, {}).close_at, 1'000);
  EXPECT_EQ(bucket_rule({.grad_reduce = DataType::kBf16}, options, {}).close_at, 2'000);
}

TEST(Buckets, RanksOwnTheirShareOnlyUnderStageOne) {
  const std::vector<Bucket> buckets = fill_buckets(three_points(), {.close_at = 60, .multiple = 8});
  ParallelOptions options = replicas(8);
  EXPECT_EQ(owned_elements(buckets, options), 150);
  options.zero_stage = 1;
  EXPECT_EQ(owned_elements(buckets, options), 96 / 8 + 64 / 8);
}

TEST(StageChunks, HoldEveryTensorOfTheModelOnce) {
  const JobText job(small_model(6) + "training: {global_batch: 8}\nparallel: {pp: 3, layers_per_part: [1, 2, 3]}\n", 3);
  std::int64_t elements = 0;
  for (int stage = 0; stage < 3; ++stage) elements += count_elements(stage_chunks(job.shape, job.parallel, stage));
  ModelShape padded = job.shape;
  padded.vocabulary = 1024;
  EXPECT_EQ(elements, parameters(padded));
  EXPECT_EQ(stage_chunks(job.shape, job.parallel, 1)[0].points.size(), 4U);  // two layers
  EXPECT_TRUE(stage_chunks(job.shape, job.parallel, 0)[0].embedding);
  EXPECT_TRUE(stage_chunks(job.shape, job.parallel, 2)[0].head);
}

}  // namespace
}  // namespace ringwright::workload::buckets_test
