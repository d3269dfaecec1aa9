#include "workload/options/expert_options.h"

#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/options/expert_load.h"

namespace ringwright::workload::expert_options_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

JobText job_of(const std::string& parallel, std::int64_t ranks) {
  return JobText(
      "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000,"
      " seq_length: 32, num_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 48}\n"
      "training: {global_batch: 16}\nparallel: {" +
          parallel + "}\n",
      ranks);
}

TEST(ExpertOptions, ExpertsAreSplitAsTheDenseLayersByDefault) {
  EXPECT_EQ(job_of("tp: 2, sequence_parallel: true, ep: 2", 4).parallel.experts.etp, 2);
  EXPECT_EQ(job_of("tp: 2, sequence_parallel: true, ep: 2, etp: 1", 4).parallel.experts.etp, 1);
}

TEST(ExpertOptions, CopiesOfExpertsAreWhatRemainsOfAStage) {
  const JobText job = job_of("tp: 2, sequence_parallel: true, pp: 2, ep: 4, etp: 1", 32);
  EXPECT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(job.parallel.dp, 8);
  EXPECT_EQ(job.parallel.expert_replicas(), 4);
}

TEST(ExpertOptions, ImpossibleSpreadsAreRefused) {
  EXPECT_THAT(job_of("ep: 3", 3).problems(),
              Contains(HasSubstr("E138: parallel.ep = 3 does not divide the 8")));
  EXPECT_THAT(job_of("ep: 8", 4).problems(),
              ElementsAre("E138: parallel: etp 1 x ep 8 = 8 does not divide the 4 ranks of a stage (tp x cp x dp)"));
  EXPECT_THAT(job_of("etp: 5", 5).problems(), Contains(HasSubstr("E138: parallel.etp = 5 does not divide")));
  EXPECT_THAT(job_of("tp: 2", 2).problems(), ElementsAre(HasSubstr("experts with tp = 2 need sequence parallelism")));
}

TEST(ExpertOptions, ADrawnLoadIsRepeatableAndKeepsAllTokens) {
  const auto load = [](const std::string& settings) {
    return job_of("ep: 4, moe_router_load: {" + settings + "}", 4).parallel.experts.load;
  };
  const std::vector<double> drawn = load("deviation: 0.5, seed: 7");
  ASSERT_EQ(drawn.size(), 4U);
  EXPECT_NEAR(std::accumulate(drawn.begin(), drawn.end(), 0.0), 4.0, 1e-12);
  EXPECT_EQ(drawn, load("deviation: 0.5, seed: 7"));
  EXPECT_NE(drawn, load("deviation: 0.5, seed: 8"));
  EXPECT_THAT(load("deviation: 0"), IsEmpty());
}

// Each expert drops its own tokens: a rank with one popular expert does not fill up to its capacity.
TEST(ExpertOptions, CapacityBoundsEachExpert) {
  const std::string load = ", moe_router_load: {deviation: 2.0, seed: 1}";
  EXPECT_EQ(job_of("ep: 8, etp: 1, moe_expert_capacity_factor: 1.1" + load, 8).parallel.experts.hottest(), 1.1);
  EXPECT_LT(job_of("ep: 2, etp: 1, moe_expert_capacity_factor: 1.1" + load, 8).parallel.experts.hottest(), 1.0);
}

// Dropping alone leaves a number that depends on the routing; without a capacity there is nothing to pad to.
TEST(ExpertOptions, TheHostReadsTokensUnlessExpertsArePaddedToACapacity) {
  const auto reads = [](const std::string& keys) { return job_of("ep: 4" + keys, 4).parallel.experts.host_sizes(); };
  EXPECT_TRUE(reads(""));
  EXPECT_TRUE(reads(", moe_expert_capacity_factor: 1"));
  EXPECT_TRUE(reads(", moe_pad_expert_input_to_capacity: true"));
  EXPECT_FALSE(reads(", moe_expert_capacity_factor: 1, moe_pad_expert_input_to_capacity: true"));
  EXPECT_FALSE(reads(", moe_paged_stash: true"));
}

TEST(ExpertOptions, DroppedTokensAreStated) {
  EXPECT_THAT(job_of("ep: 4, moe_expert_capacity_factor: 0.75", 4).assumed(),
              Contains(HasSubstr("parallel.moe_expert_capacity_factor = 0.75: at least 25.0 % of the tokens")));
  EXPECT_THAT(job_of("ep: 4, moe_expert_capacity_factor: 1", 4).assumed(), Not(Contains(HasSubstr("dropped"))));
  const std::string load = ", moe_router_load: {deviation: 0.5, seed: 7}";
  const double dropped = dropped_share(job_of("ep: 8, etp: 1" + load, 8).parallel.experts.load, 1.1);
  EXPECT_THAT(job_of("ep: 4, moe_expert_capacity_factor: 1.1" + load, 4).assumed(),
              Contains(HasSubstr(fmt::format("at least {:.1f} % of the tokens", 100.0 * dropped))));
}

TEST(ExpertOptions, SettingsWithoutEffectAreReported) {
  EXPECT_THAT(job_of("moe_pad_expert_input_to_capacity: true", 1).problems(),
              ElementsAre("W131: parallel.moe_pad_expert_input_to_capacity has no effect without "
                          "moe_expert_capacity_factor"));
  EXPECT_THAT(job_of("moe_router_load: {seed: 3}", 1).problems(),
              ElementsAre("W131: parallel.moe_router_load.seed has no effect: the deviation is 0"));
  EXPECT_THAT(job_of("moe_fp8_dispatch: true, moe_token_dispatcher_type: allgather", 1).problems(),
              ElementsAre(HasSubstr("W131: parallel.moe_fp8_dispatch has no effect")));
}

}  // namespace
}  // namespace ringwright::workload::expert_options_test
