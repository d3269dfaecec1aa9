#include "workload/parallel/expert.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"

namespace ringwright::workload::expert_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two layers of eight experts of width 48, two per token; h 64, 32 tokens in a sequence.
constexpr const char* kExpertModel =
    "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96,"
    " vocab_size: 1000, seq_length: 32, num_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 48%}\n";

JobText job_of(const std::string& parallel, std::int64_t ranks, const std::string& model = "",
               const std::string& training = "") {
  std::string text = kExpertModel;
  text.replace(text.find('%'), 1, model);
  return JobText(text + "training: {global_batch: 8" + training + "}\nparallel: {" + parallel + "}\n", ranks);
}

StepPlan plan_of(const std::string& parallel, std::int64_t ranks, const std::string& model = "",
                 const std::string& training = "") {
  const JobText job = job_of(parallel, ranks, model, training);
  EXPECT_THAT(job.problems(), IsEmpty()) << parallel;
  return job.plan();
}

// On four replicas: two microbatches of 32 tokens, two layers. T K h values of two bytes are one exchange.
constexpr std::int64_t kPasses = 2 * 2;
constexpr std::int64_t kExchange = 32 * 2 * 64 * 2;

TEST(ExpertParallel, TokensTravelThereAndBackForwardAndBackward) {
  EXPECT_EQ(traffic(plan_of("ep: 4", 4), 0, "ep"), Bytes(kPasses * 4 * kExchange));
}

TEST(ExpertParallel, RecomputationSendsTheTokensAgain) {
  EXPECT_EQ(traffic(plan_of("ep: 4", 4, "", ", recompute: full"), 0, "ep"), Bytes(kPasses * 6 * kExchange));
}

TEST(ExpertParallel, AnFp8DispatchSendsAByteAndAScaleFor128Values) {
  // Dispatches, forward and backward: 1 + 4/128 bytes per value instead of two.
  const std::int64_t dispatch = 32 * 2 * 64 + 32 * 2 * 64 * 4 / 128;
  EXPECT_EQ(traffic(plan_of("ep: 4, moe_fp8_dispatch: true", 4), 0, "ep"), Bytes(kPasses * 2 * (dispatch + kExchange)));
}

TEST(ExpertParallel, AnAllGatherDispatcherSendsEveryTokenToAll) {
  // T h values of each of the four ranks, gathered and scattered, forward and backward.
  EXPECT_EQ(traffic(plan_of("ep: 4, moe_token_dispatcher_type: allgather", 4), 0, "ep"),
            Bytes(kPasses * 4 * (4 * 32 * 64 * 2)));
}

TEST(ExpertParallel, UnderTensorParallelismARankSendsItsPartOfTheSequence) {
  // tp 2 of four ranks: two replicas with four microbatches, half of the tokens on each rank.
  const StepPlan plan = plan_of("tp: 2, sequence_parallel: true, ep: 4, etp: 1", 4);
  EXPECT_EQ(traffic(plan, 0, "ep"), Bytes(2 * kPasses * 4 * kExchange / 2));
}

TEST(ExpertParallel, SplitExpertsGatherTheirTokensAndAddUpTheResults) {
  const StepPlan plan = plan_of("tp: 2, sequence_parallel: true, ep: 2, etp: 2", 4);
  EXPECT_EQ(traffic(plan, 0, "ep"), Bytes(2 * kPasses * 4 * kExchange / 2));
  // The tokens of both ranks, gathered and scattered, forward and backward.
  EXPECT_EQ(traffic(plan, 0, "etp"), Bytes(2 * kPasses * 4 * kExchange));
}

TEST(ExpertParallel, ADispatcherThatKnowsHostsSendsATokenOncePerHost) {
  const JobText job = job_of("ep: 4, moe_token_dispatcher_type: flex", 4);
  ParallelOptions two_hosts = job.parallel;
  two_hosts.experts.host_ranks = 2;
  const StepPlan plan = build_step({.shape = job.shape, .training = job.training, .parallel = two_hosts});
  // Of eight experts four are on each host; both of a token's two are elsewhere with probability 4/8 x 3/7 = 3/14, so
  // that it visits 2 (1 - 3/14) = 11/7 hosts: 32 x 11/7 x 64 x 2 bytes = 6436.57 between hosts, 3218 for each.
  EXPECT_EQ(traffic(plan, 0, "ep_outer"), Bytes(kPasses * 4 * 2 * 3218));
  // Of four ranks with two experts each it visits 4 (1 - 6/8 x 5/7) = 13/7: 32 x 13/7 x 64 x 2 bytes = 7606.86 inside,
  // 3803 for each of the two.
  EXPECT_EQ(traffic(plan, 0, "ep_inner"), Bytes(kPasses * 4 * 2 * 3803));
  EXPECT_EQ(traffic(plan, 0, "ep"), Bytes(-1));
}

// Names of the kernels of all works.
std::vector<std::string> kernels_of_plan(const StepPlan& plan) {
  std::vector<std::string> names;
  for (const Work& work : plan.graph.works) {
    for (const Kernel& kernel : work.kernels) names.push_back(kernel.name);
  }
  return names;
}

TEST(ExpertParallel, FlexibleDispatchersCopyTokensIntoTheOrderOfExperts) {
  const std::string flex = "ep: 4, moe_token_dispatcher_type: flex, moe_flex_dispatcher_backend: ";
  EXPECT_THAT(kernels_of_plan(plan_of(flex + "deepep", 4)), Contains("sort by expert"));
  EXPECT_THAT(kernels_of_plan(plan_of(flex + "hybridep", 4)), Contains("sort by expert"));
  EXPECT_THAT(kernels_of_plan(plan_of(flex + "hybridep", 4)), Not(Contains("dispatch buffer")));
  EXPECT_THAT(kernels_of_plan(plan_of(flex + "hybridep", 4, "", ", moe_permute_fusion: false")),
              testing::IsSupersetOf({"dispatch buffer", "sort by expert"}));
  EXPECT_THAT(kernels_of_plan(plan_of(flex + "deepep", 4, "", ", moe_permute_fusion: false")),
              Not(Contains("dispatch buffer")));
  EXPECT_THAT(kernels_of_plan(plan_of(flex + "deepep", 4)), Not(Contains("token permutation")));
}

// Experts that pad to their capacity have equal loads: their ranks are equal.
TEST(ExpertParallel, RanksOfEqualLoadsRunOneProgram) {
  const std::string padded = "ep: 4, moe_expert_capacity_factor: 1.0, moe_pad_expert_input_to_capacity: true";
  EXPECT_EQ(plan_of(padded, 4).graph.programs.size(), 1U);
  EXPECT_EQ(plan_of("ep: 4, moe_router_load: {deviation: 0.3}", 4).graph.programs.size(), 4U);
}

TEST(ExpertParallel, TheHostReadsTheNumberOfTokensUnlessBuffersHaveAFixedSize) {
  EXPECT_THAT(kernels_of_plan(plan_of("ep: 4", 4)), Contains("tokens of experts to host"));
  EXPECT_THAT(kernels_of_plan(plan_of("ep: 4, moe_paged_stash: true", 4)), Not(Contains("tokens of experts to host")));
  const std::string dropping = "ep: 4, moe_expert_capacity_factor: 1";
  EXPECT_THAT(kernels_of_plan(plan_of(dropping, 4)), Contains("tokens of experts to host"));
  EXPECT_THAT(kernels_of_plan(plan_of(dropping + ", moe_pad_expert_input_to_capacity: true", 4)),
              Not(Contains("tokens of experts to host")));
}

TEST(ExpertParallel, AnOverlappedExchangeMovesTheSameBytesInAnOrderThatEnds) {
  for (const std::string text : {"ep: 4, pp: 1", "ep: 2, pp: 1, dp: 4"}) {
    const StepPlan plain = plan_of(text, 4);
    const StepPlan turns = plan_of(text + ", overlap_moe_expert_parallel_comm: true, delay_wgrad_compute: true", 4);
    EXPECT_EQ(traffic(turns, 0, "ep"), traffic(plain, 0, "ep")) << text;
    EXPECT_EQ(turns.hardware_flops.count(), plain.hardware_flops.count()) << text;
    EXPECT_EQ(check_task_graph(turns.graph), "") << text;
    EXPECT_TRUE(FreePlayer(turns.graph, {}).play().has_value()) << text;
  }
}

TEST(ExpertParallel, BlocksOfDualPipeOverlapTheirExchanges) {
  const auto step = [](const std::string& schedule, const std::string& more = "") {
    std::string text = kExpertModel;
    text.replace(text.find("num_layers: 2"), 13, "num_layers: 4");
    text.erase(text.find('%'), 1);
    text += "training: {global_batch: 16}\nparallel: {pp: 2, ep: 2, schedule: " + schedule + more + "}\n";
    const JobText job(text, 4);
    EXPECT_THAT(job.problems(), IsEmpty()) << schedule;
    return job.plan();
  };
  for (const char* const schedule : {"dualpipe", "dualpipev, virtual_stages: 2"}) {
    const StepPlan plain = step(schedule);
    const StepPlan turns = step(schedule, ", overlap_moe_expert_parallel_comm: true");
    EXPECT_EQ(traffic(turns, 0, "ep"), traffic(plain, 0, "ep")) << schedule;
    EXPECT_EQ(check_task_graph(turns.graph), "") << schedule;
    EXPECT_TRUE(FreePlayer(turns.graph, {}).play().has_value()) << schedule;
  }
}

// Kernels of the computations that follow a message of this name at once.
std::set<std::string> kernels_after(const StepPlan& plan, const std::string& message) {
  std::set<std::string> found;
  for (const Program& program : plan.graph.programs) {
    for (std::size_t i = 1; i < program.tasks.size(); ++i) {
      const Task& task = program.tasks[i];
      if (task.kind != TaskKind::kCompute || plan.graph.labels[program.tasks[i - 1].label] != message) continue;
      for (const std::string& name : kernel_names(plan.graph, task)) found.insert(name);
    }
  }
  return found;
}

// Megatron-LM, model_chunk_schedule_plan.py: backward_dw of the first layer's attention and the head come after both
// messages. The last message of a pair is that of the gradient, if the stage sends one.
TEST(ExpertParallel, ResultsOfAPairAreSentBeforeWeightGradientsOfAttentionAndTheHead) {
  const auto after_gradient = [](const std::string& more) {
    std::string text = kExpertModel;
    text.replace(text.find("num_layers: 2"), 13, "num_layers: 4");
    text.erase(text.find('%'), 1);
    const JobText job(text + "training: {global_batch: 16}\nparallel: {pp: 2, ep: 2, schedule: interleaved-1f1b, " +
                          "virtual_stages: 2, overlap_moe_expert_parallel_comm: true" + more + "}\n",
                      4);
    EXPECT_THAT(job.problems(), IsEmpty());
    return kernels_after(job.plan(), "pp send gradient");
  };
  EXPECT_THAT(after_gradient(", delay_wgrad_compute: true"),
              testing::IsSupersetOf({"attention projection wgrad", "qkv wgrad", "logits"}));
  const std::set<std::string> at_once = after_gradient("");
  EXPECT_THAT(at_once, Contains("logits"));
  EXPECT_THAT(at_once, Not(Contains("qkv wgrad")));
}

TEST(ExpertParallel, AnExchangeCannotOverlapASecondMicrobatchWithoutAlternatingPasses) {
  const auto problem = [](const std::string& parallel, const std::string& training = "") {
    return job_of("ep: 2, overlap_moe_expert_parallel_comm: true, " + parallel, 4, "", training).problems();
  };
  EXPECT_THAT(problem("pp: 2"), Contains(HasSubstr("several model chunks")));
  EXPECT_THAT(problem("pp: 1", ", recompute: full"), Contains(HasSubstr("full recomputation")));
  EXPECT_THAT(problem("pp: 1, schedule: gpipe"), Contains(HasSubstr("gpipe")));
  EXPECT_THAT(problem("pp: 1, moe_shared_expert_overlap: true"), Contains(HasSubstr("moe_shared_expert_overlap")));
}

TEST(ExpertParallel, ASizeThatIsRefusedIsNotSaidToBeOne) {
  const auto problems_of = [](int size) {
    return job_of(fmt::format("ep: {}, pp: 1, overlap_moe_expert_parallel_comm: true", size), 4).problems();
  };
  EXPECT_THAT(problems_of(3), testing::ElementsAre(HasSubstr("E138")));
  EXPECT_THAT(problems_of(1), testing::ElementsAre(HasSubstr("has no effect: ep is 1")));
}

TEST(ExpertParallel, GradientsOfExpertsAreReducedAmongTheirCopies) {
  // Eight ranks, ep 4: two copies of each expert. Two experts of 3 x 64 x 48 elements in two layers on each rank.
  const StepPlan plan = plan_of("ep: 4", 8);
  const std::int64_t experts = 2 * 2 * 3 * 64 * 48;
  EXPECT_EQ(traffic(plan, 0, "edp"), Bytes(4 * experts));  // a multiple of 2 x 64 already
  const std::int64_t dense = plan.stage_parameters[0] - experts;
  EXPECT_EQ(traffic(plan, 0, "dp"), Bytes(4 * ((dense + 511) / 512 * 512)));
}

TEST(ExpertParallel, SharedExpertsComputeWhileTokensTravel) {
  const std::string shared = ", moe_shared_expert_intermediate_size: 32";
  const auto computing_during_dispatch = [&](const std::string& parallel) {
    const StepPlan plan = plan_of("ep: 4" + parallel, 4, shared);
    const Program& program = plan.graph.programs[0];
    const auto names = task_names(plan.graph, program);
    const auto dispatch = static_cast<std::size_t>(std::ranges::find(names, "ep dispatch") - names.begin());
    return waits_for(program, dispatch + 1, dispatch) ? std::vector<std::string>{}
                                                      : kernel_names(plan.graph, program.tasks[dispatch + 1]);
  };
  EXPECT_THAT(computing_during_dispatch(""), IsEmpty());
  EXPECT_THAT(computing_during_dispatch(", moe_shared_expert_overlap: true"),
              testing::ElementsAre("shared experts up", "shared experts activation", "shared experts down"));
}

TEST(ExpertParallel, AnUnevenRouterGivesRanksProgramsOfTheirOwn) {
  const StepPlan even = plan_of("ep: 4", 8);
  const StepPlan uneven = plan_of("ep: 4, moe_router_load: {deviation: 0.5, seed: 3}", 8);
  EXPECT_EQ(even.graph.programs.size(), 1U);
  EXPECT_EQ(uneven.graph.programs.size(), 4U);
  EXPECT_GT(traffic(uneven, 0, "ep"), traffic(even, 0, "ep"));
  // Every token is computed once: the total work of all ranks is that of an even router.
  EXPECT_NEAR(uneven.hardware_flops.count() / even.hardware_flops.count(), 1.0, 1e-9);
  EXPECT_TRUE(FreePlayer(uneven.graph, {}).play().has_value());
}

TEST(ExpertParallel, CapacityBoundsTheTokensThatTravel) {
  const Bytes all = traffic(plan_of("ep: 4", 4), 0, "ep");
  EXPECT_EQ(traffic(plan_of("ep: 4, moe_expert_capacity_factor: 0.5", 4), 0, "ep"), all / 2);
  EXPECT_EQ(traffic(plan_of("ep: 4, moe_expert_capacity_factor: 1.5", 4), 0, "ep"), all);  // no rank needs more
  EXPECT_EQ(
      traffic(plan_of("ep: 4, moe_expert_capacity_factor: 1.5, moe_pad_expert_input_to_capacity: true", 4), 0, "ep"),
      all * 3 / 2);
}

TEST(ExpertParallel, GraphsOfManyLayoutsAreSoundAndRunToTheirEnd) {
  int graphs = 0;
  for (const char* dense :
       {"tp: 1", "tp: 2, sequence_parallel: true", "cp: 2", "tp: 2, sequence_parallel: true, cp: 2"}) {
    for (const char* experts :
         {"ep: 1, etp: 1", "ep: 4, etp: 1", "ep: 2, etp: 2", "ep: 8, etp: 1, moe_token_dispatcher_type: flex",
          "ep: 2, etp: 2, moe_token_dispatcher_type: allgather", "ep: 4, etp: 1, moe_router_load: {deviation: 1.0}"}) {
      for (const char* rest : {"pp: 1", "pp: 2",
                               "pp: 2, zero: {stage: 1, overlap_grad_reduce: true, bucket: 16KiB,"
                               " overlap_param_gather: true}"}) {
        const std::int64_t ranks = std::string(rest) == "pp: 1" ? 8 : 16;
        const JobText job = job_of(fmt::format("{}, {}, {}", dense, experts, rest), ranks,
                                   ", moe_shared_expert_intermediate_size: 32", ", recompute: full");
        ASSERT_THAT(job.problems(), IsEmpty()) << dense << "; " << experts << "; " << rest;
        const StepPlan plan = job.plan();
        EXPECT_EQ(check_task_graph(plan.graph), "") << dense << "; " << experts << "; " << rest;
        EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << dense << "; " << experts << "; " << rest;
        ++graphs;
      }
    }
  }
  EXPECT_EQ(graphs, 4 * 6 * 3);
}

}  // namespace
}  // namespace ringwright::workload::expert_test
