#include "workload/parallel/context.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"

namespace ringwright::workload::context_test {
namespace {

using testing::IsEmpty;

StepPlan plan_of(const std::string& parallel, std::int64_t ranks, const std::string& training = "") {
  const JobText job(small_model(2) + "training: {global_batch: 4" + training + "}\nparallel: {" + parallel + "}\n",
                    ranks);
  EXPECT_THAT(job.problems(), IsEmpty()) << parallel;
  return job.plan();
}

// cp 4, four microbatches, two layers. A rank has 8 tokens; 4 key-value heads of 8: keys and values of 64 columns.
constexpr std::int64_t kPasses = 4 * 2;
constexpr std::int64_t kKeysAndValues = 8 * 64 * 2;

TEST(ContextParallel, ARingSendsKeysAndValuesThreeTimesAndTheirGradientsAsOften) {
  // Forward 3 n; backward 3 n and 3 n of gradients.
  EXPECT_EQ(traffic(plan_of("cp: 4", 4), 0, "cp"), Bytes(kPasses * 9 * kKeysAndValues));
}

// Attention in fp8: a byte for each key and value that travels, two for each gradient.
TEST(ContextParallel, KeysAndValuesTravelInFp8) {
  const std::string fp8 = ", fp8_recipe: delayed, fp8_dot_product_attention: true";
  EXPECT_EQ(traffic(plan_of("cp: 4", 4, fp8), 0, "cp"), Bytes(kPasses * (6 * kKeysAndValues / 2 + 3 * kKeysAndValues)));
  EXPECT_EQ(traffic(plan_of("cp: 4, cp_comm_type: a2a", 4, fp8), 0, "cp"), Bytes(kPasses * 2 * 8 * (64 + 64 + 64)));
  EXPECT_EQ(traffic(plan_of("cp: 4, cp_comm_type: all_gather", 4, fp8), 0, "cp"),
            Bytes(kPasses * 3 * 4 * kKeysAndValues));
}

TEST(ContextParallel, GatheredKeysAndValuesAreGatheredTwiceAndTheirGradientsScattered) {
  EXPECT_EQ(traffic(plan_of("cp: 4, cp_comm_type: all_gather", 4), 0, "cp"), Bytes(kPasses * 3 * 4 * kKeysAndValues));
}

// Keys and values are tensors of their own, as are their gradients.
TEST(ContextParallel, KeysAndValuesAreGatheredByACallEach) {
  const StepPlan plan = plan_of("cp: 4, cp_comm_type: all_gather", 4);
  const auto names = task_names(plan.graph, plan.graph.programs[0]);
  EXPECT_EQ(std::ranges::count(names, "cp all_gather keys and values"), kPasses * 2 * 2);
  EXPECT_EQ(std::ranges::count(names, "cp reduce_scatter gradients"), kPasses * 2);
}

// PyTorch: keys and values of all 8 query heads of 8, gathered forward and backward; the gradients of a block in fp32
// four times around the ring.
TEST(ContextParallel, GatheredBlocksSendGradientsInFp32) {
  constexpr std::int64_t kOfQueryHeads = 8 * 2 * 64 * 2;
  EXPECT_EQ(traffic(plan_of("cp: 4, cp_comm_type: all_gather_blocks", 4), 0, "cp"),
            Bytes(kPasses * (2 * 4 * kOfQueryHeads + 4 * 2 * kOfQueryHeads)));
}

// A trace waits for the gather before its first block; eager code computes its own block first.
TEST(ContextParallel, EagerCodeComputesItsOwnBlockWhileOthersArrive) {
  for (const bool eager : {false, true}) {
    const StepPlan plan =
        plan_of("cp: 2, cp_comm_type: all_gather_blocks", 2, eager ? ", pointwise: eager" : ", pointwise: fused");
    const Program& program = plan.graph.programs[0];
    const auto names = task_names(plan.graph, program);
    const auto gather = static_cast<std::size_t>(std::ranges::find(names, "cp all_gather keys and values") -
                                                 names.begin());
    ASSERT_LT(gather + 2, names.size());
    EXPECT_THAT(kernel_names(plan.graph, program.tasks[gather + 1]), testing::Contains("attention block"));
    EXPECT_EQ(waits_for(program, gather + 1, gather), !eager);
  }
}

TEST(ContextParallel, ExchangedHeadsMoveQueriesKeysValuesAndResults) {
  // Queries and results have 64 columns: 2 x 64 + 64 of 8 tokens, forward and backward.
  EXPECT_EQ(traffic(plan_of("cp: 4, cp_comm_type: a2a", 4), 0, "cp"), Bytes(kPasses * 2 * 8 * (64 + 64 + 64) * 2));
}

TEST(ContextParallel, HierarchicalRanksExchangeHeadsNearbyAndPassBlocksBeyond) {
  const StepPlan plan = plan_of("cp: 4, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 2]", 4);
  // For the backward pass the ring needs the results as well as their gradients.
  EXPECT_EQ(traffic(plan, 0, "cp_a2a"), Bytes(kPasses * 8 * (2 * (64 + 64 + 64) + 64) * 2));
  EXPECT_EQ(traffic(plan, 0, "cp_p2p"), Bytes(kPasses * 3 * kKeysAndValues));  // a ring of two: one send each
}

TEST(ContextParallel, LatentAttentionSendsTheKeysOfEveryHead) {
  const JobText job(
      "model: {num_layers: 1, hidden_size: 64, num_attention_heads: 4, vocab_size: 1000, seq_length: 32,"
      " multi_latent_attention: true, kv_lora_rank: 16, qk_head_dim: 8, qk_pos_emb_head_dim: 4, v_head_dim: 6}\n"
      "training: {global_batch: 1}\nparallel: {cp: 2}\n",
      2);
  ASSERT_THAT(job.problems(), IsEmpty());
  // 16 tokens, 4 heads of 12 and 6; one send forward, one and one gradient backward.
  EXPECT_EQ(traffic(job.plan(), 0, "cp"), Bytes(3 * 16 * 4 * (12 + 6) * 2));
}

TEST(ContextParallel, OnlyTensorAndPipelineTrafficShrinksWithTheTokens) {
  const StepPlan whole = plan_of("tp: 2, pp: 2", 4);
  const StepPlan part = plan_of("tp: 2, pp: 2, cp: 2", 8);
  EXPECT_EQ(traffic(part, 0, "tp"), traffic(whole, 0, "tp") / 2);
  EXPECT_EQ(traffic(part, 1, "pp"), traffic(whole, 1, "pp") / 2);
}

TEST(ContextParallel, GradientsAreReducedOverContextAndDataParallelRanks) {
  const StepPlan plan = plan_of("cp: 2, dp: 2", 4);
  EXPECT_EQ(plan.graph.dimensions.back().name, "dp");
  EXPECT_EQ(plan.graph.dimensions.back().groups.size(), 1U);
  EXPECT_EQ(plan.microbatches, 2);
}

TEST(ContextParallel, EveryPathComputesTheScoresOnce) {
  const double alone = plan_of("", 1).hardware_flops.count();
  for (const char* path : {"cp: 4", "cp: 4, cp_comm_type: all_gather", "cp: 4, cp_comm_type: a2a",
                          "cp: 4, cp_comm_type: all_gather_blocks",
                          "cp: 4, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 2]",
                          "cp: 4, cp_balanced: false", "cp: 4, cp_comm_type: all_gather, cp_balanced: false"}) {
    EXPECT_NEAR(plan_of(path, 4).hardware_flops.count() / alone, 1.0, 1e-9) << path;
  }
}

// Without zig-zag order the last rank has most of a causal mask's scores: seven of sixteen blocks' halves.
TEST(ContextParallel, WithoutZigZagTheLastRankHasMostToDo) {
  for (const char* path : {"cp: 4, cp_balanced: false", "cp: 4, cp_comm_type: all_gather, cp_balanced: false"}) {
    const StepPlan plan = plan_of(path, 4);
    ASSERT_EQ(plan.graph.programs.size(), 4U);
    std::vector<double> scores;
    for (const Program& program : plan.graph.programs) {
      double flops = 0.0;
      for (const Task& task : program.tasks) {
        if (task.kind != TaskKind::kCompute) continue;
        for (const Kernel& kernel : plan.graph.works[task.detail].kernels) {
          if (kernel.family == KernelFamily::kAttentionForward) {
            flops += kernel.flops.count() * static_cast<double>(kernel.launches);
          }
        }
      }
      scores.push_back(flops);
    }
    EXPECT_NEAR(scores[1] / scores[0], 3.0, 1e-9) << path;
    EXPECT_NEAR(scores[3] / scores[0], 7.0, 1e-9) << path;
  }
}

TEST(ContextParallel, BlocksAreComputedWhileTheNextArrives) {
  const StepPlan plan = plan_of("cp: 2", 2);
  const Program& program = plan.graph.programs[0];
  const auto names = task_names(plan.graph, program);
  const auto sent = static_cast<std::size_t>(std::ranges::find(names, "cp send keys and values") - names.begin());
  ASSERT_LT(sent + 2, names.size());
  EXPECT_EQ(names[sent + 1], "cp receive keys and values");
  EXPECT_THAT(kernel_names(plan.graph, program.tasks[sent + 2]),
              testing::ElementsAre("ring halves", "attention block", "ring merge of results"));
  EXPECT_FALSE(waits_for(program, sent + 2, sent + 1));
  EXPECT_TRUE(waits_for(program, sent + 3, sent + 1));
}

// FLOPs of all ranks do not depend on how they split a layer, and a core that was not saved needs all keys again.
TEST(ContextParallel, SingleOperatorsAreRecomputedAsOnOneRank) {
  const auto recomputed = [](const std::string& parallel, std::int64_t ranks, const std::string& recompute) {
    const auto flops = [&](const std::string& training) {
      return plan_of(parallel, ranks, training).hardware_flops.count();
    };
    return flops(", recompute: " + recompute) - flops("");
  };
  for (const std::string saved : {"selective-ops", "except-saved, recompute_saves: [qkv, core_attn]",
                                  "except-saved, recompute_saves: [core_attn, proj]", "except-saved"}) {
    const double alone = recomputed("cp: 1", 1, saved);
    EXPECT_GT(alone, 0.0) << saved;
    for (const std::string exchange : {"p2p", "all_gather", "all_gather_blocks", "a2a"}) {
      EXPECT_NEAR(recomputed("cp: 4, cp_comm_type: " + exchange, 4, saved) / alone, 1.0, 1e-9) << saved << exchange;
    }
  }
}

TEST(ContextParallel, ACoreThatIsRecomputedExchangesKeysAndValuesAgain) {
  const auto moved = [](const std::string& recompute) {
    return traffic(plan_of("cp: 4", 4, ", recompute: " + recompute), 0, "cp");
  };
  EXPECT_EQ(moved("selective"), Bytes(kPasses * 12 * kKeysAndValues));
  EXPECT_EQ(moved("except-saved"), Bytes(kPasses * 12 * kKeysAndValues));
  EXPECT_EQ(moved("except-saved, recompute_saves: [core_attn]"), Bytes(kPasses * 9 * kKeysAndValues));
  EXPECT_EQ(moved("selective-ops"), Bytes(kPasses * 9 * kKeysAndValues));
}

// Queries, keys and values are copied twice each before attention, and the result three times after it; backward the
// gradient of the result twice, and of the others three times.
TEST(ContextParallel, ACoreThatIsRecomputedCopiesExchangedHeadsAgain) {
  const auto copies = [](const std::string& training) {
    const StepPlan plan = plan_of("cp: 4, cp_comm_type: a2a", 4, training);
    std::int64_t count = 0;
    for (const Task& task : plan.graph.programs[0].tasks) {
      if (task.kind != TaskKind::kCompute) continue;
      for (const Kernel& kernel : plan.graph.works[task.detail].kernels) {
        if (kernel.name == "heads copy") count += kernel.launches;
      }
    }
    return count;
  };
  EXPECT_EQ(copies(", recompute: selective") * (9 + 11), copies("") * (9 + 9 + 11));
}

TEST(ContextParallel, GraphsOfManyLayoutsAreSoundAndRunToTheirEnd) {
  for (const char* path :
       {"cp: 2", "cp: 4", "cp: 8", "cp: 4, cp_comm_type: all_gather", "cp: 2, cp_comm_type: a2a",
        "cp: 4, cp_comm_type: all_gather_blocks",
        "cp: 8, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 4]", "cp: 4, cp_balanced: false"}) {
    for (const char* rest : {"tp: 1", "tp: 2", "tp: 2, sequence_parallel: true, pp: 2",
                             "pp: 2, schedule: gpipe, zero: {stage: 1, overlap_grad_reduce: true}"}) {
      for (const char* recompute : {"none", "selective", "selective-ops", "except-saved", "full"}) {
        const std::string layout = fmt::format("{}, {}, dp: 1", path, rest);
        const int tp = std::string(rest).starts_with("tp: 2") ? 2 : 1;
        const int pp = std::string(rest).find("pp: 2") == std::string::npos ? 1 : 2;
        const StepPlan plan = plan_of(layout, (path[4] - '0') * tp * pp, fmt::format(", recompute: {}", recompute));
        EXPECT_EQ(check_task_graph(plan.graph), "") << layout;
        EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << layout;
      }
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::context_test
