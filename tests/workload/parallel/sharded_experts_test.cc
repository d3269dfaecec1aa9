// Sharded parameters with expert parallelism (DeepSpeed-MoE): experts are sharded among the ranks that hold them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/layout/stage_chunks.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::sharded_experts_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

JobText job(const std::string& parallel, std::int64_t ranks, const std::string& batch = "8") {
  return JobText(
      "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1024, "
      "seq_length:"
      " 32, num_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 128}\n"
      "training: {global_batch: " +
          batch + ", grad_reduce_dtype: bf16}\nparallel: {" + parallel + "}\n",
      ranks);
}
const std::string kAlways = "stage: 3, stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0";

struct Counts {
  std::int64_t dense = 0;
  std::int64_t experts = 0;
};
Counts elements(const JobText& asked) {
  const std::vector<ModelChunk> parts = stage_chunks(asked.shape, asked.parallel, 0);
  const std::int64_t experts = count_expert_elements(parts);
  return {.dense = count_elements(parts) - experts, .experts = experts};
}

// ZeRO, section 7: gathered for the forward and again for the backward pass, scattered once; two bytes each, and one
// number for the norm. Experts only among the dp / ep = 4 ranks that hold them.
TEST(ShardedExperts, MoveThreeTimesAmongThoseThatHoldThem) {
  const JobText asked = job("ep: 2, dp: 8, zero: {" + kAlways + "}", 8);
  ASSERT_THAT(asked.problems(), IsEmpty());
  const Counts counts = elements(asked);
  const StepPlan plan = asked.plan();
  EXPECT_EQ(traffic(plan, 0, "edp"), Bytes(3 * 2 * counts.experts + 4));
  EXPECT_EQ(traffic(plan, 0, "dp"), Bytes(3 * 2 * counts.dense + 4));
}

TEST(ShardedExperts, WithoutExpertParallelismThereIsOneKindOfShard) {
  const JobText asked = job("dp: 8, zero: {" + kAlways + "}", 8);
  const Counts counts = elements(asked);
  EXPECT_EQ(traffic(asked.plan(), 0, "dp"), Bytes(3 * 2 * (counts.dense + counts.experts) + 4));
  EXPECT_EQ(traffic(asked.plan(), 0, "edp"), Bytes(-1));  // no such dimension
}

// 2 + 2 + 12 bytes of every parameter over the ranks that share it: formulas of ZeRO's stage 3.
TEST(ShardedExperts, StateIsSharedByWhoHoldsIt) {
  const JobText asked = job("ep: 2, dp: 8, zero: {" + kAlways + "}", 8);
  const Counts counts = elements(asked);
  const StageMemory memory = memory_ledger(asked.inputs(), {}).front();
  EXPECT_EQ(memory.of("weights"), Bytes(2 * (counts.dense / 8 + counts.experts / 4)));
  EXPECT_EQ(memory.of("gradients"), Bytes(2 * (counts.dense / 8 + counts.experts / 4)));
  EXPECT_EQ(memory.of("optimizer"), Bytes(12 * (counts.dense / 8 + counts.experts / 4)));
}

// With as many expert-parallel ranks as replicas no other rank has a rank's experts: they stay whole.
TEST(ShardedExperts, ExpertsWithoutCopiesStayWhole) {
  const JobText asked = job("ep: 8, dp: 8, zero: {" + kAlways + "}", 8);
  ASSERT_THAT(asked.problems(), IsEmpty());
  const Counts counts = elements(asked);
  EXPECT_EQ(traffic(asked.plan(), 0, "edp"), Bytes(-1));
  const StageMemory memory = memory_ledger(asked.inputs(), {}).front();
  EXPECT_EQ(memory.of("weights"), Bytes(2 * (counts.dense / 8 + counts.experts)));
  EXPECT_EQ(memory.of("optimizer"), Bytes(12 * (counts.dense / 8 + counts.experts)));
}

TEST(ShardedExperts, TheSameIsComputed) {
  EXPECT_DOUBLE_EQ(job("ep: 2, dp: 8, zero: {" + kAlways + "}", 8).plan().hardware_flops.count(),
                   job("ep: 2, dp: 8, zero: {stage: 1}", 8).plan().hardware_flops.count());
}

TEST(ShardedExperts, FsdpShardsThemToo) {
  const JobText asked = job("ep: 4, dp: 8, fsdp: {}", 8);
  ASSERT_THAT(asked.problems(), IsEmpty());
  const Counts counts = elements(asked);
  EXPECT_EQ(memory_ledger(asked.inputs(), {}).front().of("weights"),
            Bytes(4 * (counts.dense / 8 + counts.experts / 2)));
}

TEST(ShardedExperts, CopiesOfTheStateAreRefused) {
  EXPECT_THAT(
      job("ep: 2, dp: 8, fsdp: {shard_degree: 4}", 8).problems(),
      testing::Contains(HasSubstr("E140: parallel.ep = 2: experts are sharded among the 4 ranks that hold them")));
}

}  // namespace
}  // namespace ringwright::workload::sharded_experts_test
