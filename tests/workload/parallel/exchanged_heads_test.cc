#include "workload/parallel/exchanged_heads.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/task_graph.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::exchanged_heads_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// h 64, s 128; Gated DeltaNets of 4 heads of keys of 8 and 8 of values of 16: 64 + 2 x 128 columns and 16 of heads.
const std::string kNet =
    "model: {hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, seq_length: 128, "
    "num_layers: 1, hybrid_override_pattern: G, linear_num_key_heads: 4, linear_num_value_heads: 8, "
    "linear_key_head_dim: 8, linear_value_head_dim: 16}\n";
// Mamba-2 of 8 heads of 16 in 2 groups with states of 8.
const std::string kScan =
    "model: {hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, seq_length: 128, "
    "num_layers: 1, hybrid_override_pattern: M, mamba_num_heads: 8, mamba_head_dim: 16, mamba_num_groups: 2, "
    "mamba_state_dim: 8}\n";
// One microbatch of a replica.
std::string training(const std::string& more = "") {
  return "training: {global_batch: 1" + more + "}\n";
}

StepPlan plan_of(const std::string& model, const std::string& parallel, std::int64_t ranks,
                 const std::string& more = "") {
  const JobText job(model + training(more) + "parallel: {" + parallel + "}\n", ranks);
  EXPECT_THAT(job.problems(), IsEmpty()) << parallel;
  return job.plan();
}

std::int64_t exchanges(const StepPlan& plan) {
  return std::ranges::count(task_names(plan.graph, plan.graph.programs[0]), "cp alltoall");
}

// Columns in and values out, for 128 / 2 tokens, forward and backward.
TEST(ExchangedHeads, OfAGatedDeltaNetAreTwoCallsAPass) {
  const StepPlan plan = plan_of(kNet, "cp: 2", 2);
  EXPECT_EQ(exchanges(plan), 4);
  EXPECT_EQ(traffic(plan, 0, "cp"), Bytes(2 * 64 * 2 * (64 + 256 + 16 + 128)));
  EXPECT_EQ(check_task_graph(plan.graph), "");
}

// z, x, B, C and time steps; the result.
TEST(ExchangedHeads, OfMambaAreSixCallsAPass) {
  const StepPlan plan = plan_of(kScan, "cp: 2", 2);
  EXPECT_EQ(exchanges(plan), 12);
  EXPECT_EQ(traffic(plan, 0, "cp"), Bytes(2 * 64 * 2 * (2 * 128 + 2 * 16 + 8 + 128)));
}

// Two groups for four ranks: each has a copy of one.
TEST(ExchangedHeads, FewerGroupsThanRanksAreRepeated) {
  EXPECT_EQ(traffic(plan_of(kScan, "cp: 4", 4), 0, "cp"), Bytes(2 * 32 * 2 * (2 * 128 + 2 * 32 + 8 + 128)));
}

TEST(ExchangedHeads, DoNotFollowTheExchangeOfAttention) {
  const Bytes ring = traffic(plan_of(kNet, "cp: 2, cp_comm_type: p2p", 2), 0, "cp");
  EXPECT_EQ(traffic(plan_of(kNet, "cp: 2, cp_comm_type: all_gather", 2), 0, "cp"), ring);
  EXPECT_EQ(traffic(plan_of(kNet, "cp: 2, cp_comm_type: a2a", 2), 0, "cp"), ring);
  const StepPlan hierarchical =
      plan_of(kNet, "cp: 4, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 2]", 4);
  EXPECT_EQ(traffic(hierarchical, 0, "cp"), Bytes(2 * 32 * 2 * (64 + 256 + 16 + 128)));
}

TEST(ExchangedHeads, RanksShareTheWorkOfASequence) {
  const auto flops = [](const std::string& model, const std::string& parallel, std::int64_t ranks) {
    return plan_of(model, parallel, ranks).hardware_flops.count();
  };
  EXPECT_DOUBLE_EQ(flops(kNet, "cp: 2", 2), flops(kNet, "cp: 1", 1));
  EXPECT_DOUBLE_EQ(flops(kScan, "cp: 2", 2), flops(kScan, "cp: 1", 1));
  const std::string split = "tp: 2, sequence_parallel: true";
  EXPECT_DOUBLE_EQ(flops(kNet, split + ", cp: 2", 4), flops(kNet, split, 2));
  // Both ranks of a group make its scores: 2 Q N of a token, forward, twice backward and again.
  EXPECT_GT(flops(kScan, split + ", cp: 2", 4), flops(kScan, split, 2));
}

// A rank passes through whole sequences of its heads.
TEST(ExchangedHeads, StatesPassThroughAllChunks) {
  const auto states = [](const std::string& parallel, std::int64_t ranks) {
    const JobText job(kNet + training() + "parallel: {" + parallel + "}\n", ranks);
    for (const Kernel& kernel :
         kernels_of(LayerSection::kDeltaNetRule, make_kernel_context(job.shape, job.training, job.parallel))) {
      if (kernel.name == "delta net states") return std::pair(kernel.serial_steps, kernel.batch);
    }
    return std::pair(std::int64_t{0}, std::int64_t{0});
  };
  EXPECT_EQ(states("cp: 1", 1), std::pair(std::int64_t{2}, std::int64_t{8}));
  EXPECT_EQ(states("cp: 2", 2), std::pair(std::int64_t{2}, std::int64_t{4}));
}

// The gated norm's checkpoint contains the exchange of its result.
TEST(ExchangedHeads, ARecomputedGatedNormIsExchangedAgain) {
  EXPECT_EQ(exchanges(plan_of(kNet, "cp: 2", 2, ", recompute: selective, recompute_modules: [gdn_norm_out]")), 5);
}

TEST(ExchangedHeads, StoreAsMuchAsWithoutThem) {
  const auto stored = [](const std::string& parallel, std::int64_t ranks) {
    const JobText job(kNet + training() + "parallel: {" + parallel + "}\n", ranks);
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel),
                             {.mixer = Mixer::kDeltaNet, .mlp = MlpKind::kNone});
  };
  EXPECT_EQ(stored("cp: 2", 2) * 2, stored("cp: 1", 1));
}

// GEMMs that overlap their tensor-parallel exchange have the exchange of heads in between.
TEST(ExchangedHeads, LieBetweenOverlappedGemms) {
  const std::string plain = "tp: 2, sequence_parallel: true, cp: 2";
  for (const std::string& model : {kNet, kScan}) {
    const StepPlan plan = plan_of(model, plain + ", tp_comm_overlap: true", 4);
    EXPECT_EQ(exchanges(plan), exchanges(plan_of(model, plain, 4)));
    EXPECT_DOUBLE_EQ(plan.hardware_flops.count(), plan_of(model, plain, 4).hardware_flops.count());
    EXPECT_EQ(check_task_graph(plan.graph), "");
  }
}

TEST(ExchangedHeads, AreDividedEvenly) {
  const auto problems = [](const std::string& model, const std::string& parallel, std::int64_t ranks = 8) {
    return JobText(model + training() + "parallel: {" + parallel + "}\n", ranks).problems();
  };
  EXPECT_THAT(problems(kNet, "cp: 8"),
              ElementsAre(HasSubstr("E460: parallel.cp = 8: context-parallel ranks exchange the heads of keys of a "
                                    "Gated DeltaNet for tokens, and 8 does not divide the 4 of a tensor-parallel")));
  EXPECT_THAT(problems(kNet, "cp: 4, tp: 2"), ElementsAre(HasSubstr("4 does not divide the 2 of a tensor-parallel")));
  const std::string three =
      "model: {hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, "
      "seq_length: 128, num_layers: 1, hybrid_override_pattern: M, mamba_num_heads: 24, "
      "mamba_head_dim: 16, mamba_num_groups: 3, mamba_state_dim: 8}\n";
  EXPECT_THAT(problems(three, "cp: 2", 2), ElementsAre(HasSubstr("exchange the groups of Mamba-2 layers")));
}

}  // namespace
}  // namespace ringwright::workload::exchanged_heads_test
