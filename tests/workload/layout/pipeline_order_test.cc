#include "workload/layout/pipeline_order.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::pipeline_order_test {
namespace {

PipelineOrder order_of(const std::string& schedule, bool overlaps) {
  const JobText job(fmt::format("model: {{num_layers: 8, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96,"
                                " vocab_size: 1000, seq_length: 32, num_experts: 8, moe_router_topk: 2,"
                                " moe_ffn_hidden_size: 48}}\n"
                                "training: {{global_batch: 16}}\n"
                                "parallel: {{pp: 4, ep: 2, schedule: {}, overlap_moe_expert_parallel_comm: {}}}\n",
                                schedule, overlaps),
                    8);
  EXPECT_THAT(job.problems(), testing::IsEmpty()) << schedule;
  return pipeline_order(job.parallel, job.training);
}

TEST(PipelineOrder, PairsOfDualPipeRunInTurnsWhereTokensTravelMeanwhile) {
  for (const char* const schedule : {"dualpipe", "dualpipev, virtual_stages: 2"}) {
    const PipelineOrder plain = order_of(schedule, false);
    const PipelineOrder turns = order_of(schedule, true);
    for (std::size_t stage = 0; stage < plain.size(); ++stage) {
      ASSERT_EQ(plain[stage].size(), turns[stage].size());
      EXPECT_TRUE(std::ranges::any_of(turns[stage], &Slot::in_turns)) << schedule;
      for (std::size_t i = 0; i < plain[stage].size(); ++i) {
        Slot slot = turns[stage][i];
        EXPECT_EQ(slot.in_turns, slot.joined) << schedule;
        slot.in_turns = false;
        EXPECT_EQ(slot, plain[stage][i]) << schedule;  // the schedule's own order
      }
    }
  }
}

TEST(PipelineOrder, BackwardPassesOf1F1BMoveToTheNextForwardPass) {
  for (const std::vector<Slot>& slots : order_of("interleaved-1f1b, virtual_stages: 2", true)) {
    EXPECT_TRUE(std::ranges::any_of(slots, &Slot::in_turns));
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!slots[i].in_turns) continue;
      EXPECT_EQ(slots[i].pass, Pass::kForward);
      EXPECT_EQ(slots[i + 1].pass, Pass::kBackward);
      EXPECT_TRUE(slots[i].microbatch != slots[i + 1].microbatch || slots[i].chunk != slots[i + 1].chunk);
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::pipeline_order_test
