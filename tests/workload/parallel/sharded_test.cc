#include "workload/parallel/sharded.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"

namespace ringwright::workload::sharded_test {
namespace {

using testing::IsEmpty;

JobText job_of(const std::string& parallel, std::int64_t ranks, int batch, const std::string& training = "") {
  return JobText(small_model(4) +
                     fmt::format("training: {{global_batch: {}{}}}\nparallel: {{{}}}\n", batch, training, parallel),
                 ranks);
}

// Bytes of a rank's buffers by dimension and kind, over the whole program.
std::map<std::pair<std::string, CollectiveKind>, std::int64_t> volumes(const StepPlan& plan) {
  std::map<std::pair<std::string, CollectiveKind>, std::int64_t> result;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCollective) continue;
    const CollectiveSpec& spec = plan.graph.collectives[task.detail];
    const std::string& name = plan.graph.dimensions[task.dimension.index()].name;
    if (spec.bytes > Bytes(4)) result[{name, spec.kind}] += spec.bytes.count();
  }
  return result;
}

std::int64_t volume(const StepPlan& plan, const std::string& dimension, CollectiveKind kind) {
  return volumes(plan)[{dimension, kind}];
}

using enum CollectiveKind;

// Elements moved per microbatch, for P parameters (ZeRO, arXiv 1910.02054, section 7): 2P up to stage 2, since an
// all-reduce is a reduce-scatter and an all-gather; 3P in stage 3.
TEST(Sharded, Stages0To2MoveTwoPsiAndStage3ThreePsi) {
  const auto plan_of = [](int stage) {
    const std::string all = stage == 3 ? ", stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0" : "";
    const JobText job = job_of(fmt::format("zero: {{stage: {}{}}}", stage, all), 4, 4, ", grad_reduce_dtype: bf16");
    EXPECT_THAT(job.problems(), IsEmpty());
    return job.plan();
  };
  const std::int64_t psi = plan_of(0).stage_parameters[0];
  const std::int64_t padded = (psi + 255) / 256 * 256;  // Megatron's buckets; shards need no more than psi % 4 = 0
  EXPECT_EQ(volume(plan_of(0), "dp", kAllReduce), 2 * padded);  // bytes of a buffer that travels around the ring twice
  for (const int stage : {1, 2}) {
    EXPECT_EQ(volume(plan_of(stage), "dp", kReduceScatter) + volume(plan_of(stage), "dp", kAllGather), 2 * 2 * padded);
  }
  EXPECT_EQ(volume(plan_of(3), "dp", kAllGather), 2 * 2 * psi);
  EXPECT_EQ(volume(plan_of(3), "dp", kReduceScatter), 2 * psi);
}

TEST(Sharded, Stage3GathersAndScattersInEveryMicrobatch) {
  const auto plan_of = [](int batch) {
    return job_of("zero: {stage: 3, stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0}", 4, batch)
        .plan();
  };
  const StepPlan one = plan_of(4);
  const StepPlan three = plan_of(12);
  EXPECT_EQ(volume(three, "dp", kAllGather), 3 * volume(one, "dp", kAllGather));
  EXPECT_EQ(volume(three, "dp", kReduceScatter), 3 * volume(one, "dp", kReduceScatter));
}

// DeepSpeed, allreduce_gradients in runtime/engine.py: stage 1 communicates where accumulation ends, stage 2 in every
// micro-step. Two bytes per gradient; parameters are gathered once.
TEST(Sharded, Stage2ScattersInEveryMicrobatchAndStage1Once) {
  const auto plan_of = [](int stage, int batch) {
    return job_of(fmt::format("zero: {{stage: {}}}", stage), 4, batch, ", grad_reduce_dtype: bf16").plan();
  };
  const std::int64_t psi = (plan_of(1, 4).stage_parameters[0] + 255) / 256 * 256;
  for (const int microbatches : {1, 3}) {
    EXPECT_EQ(volume(plan_of(1, 4 * microbatches), "dp", kReduceScatter), 2 * psi);
    EXPECT_EQ(volume(plan_of(2, 4 * microbatches), "dp", kReduceScatter), microbatches * 2 * psi);
    EXPECT_EQ(volume(plan_of(2, 4 * microbatches), "dp", kAllGather), 2 * psi);
  }
}

// use_multi_rank_bucket_allreduce: every rank gets all sums. Reductions move twice the bytes; gathers are unchanged.
TEST(Sharded, BucketsOfSeveralRanksMayBeAllReduced) {
  const auto plan_of = [](const std::string& key) {
    return job_of("zero: {stage: 2" + key + "}", 4, 8, ", grad_reduce_dtype: bf16").plan();
  };
  const StepPlan apart = plan_of("");
  for (const std::string key : {", use_multi_rank_bucket_allreduce: true", ", reduce_scatter: false"}) {
    const StepPlan together = plan_of(key);
    EXPECT_EQ(volume(together, "dp", kAllReduce), volume(apart, "dp", kReduceScatter));
    EXPECT_EQ(volume(together, "dp", kReduceScatter), 0);
    EXPECT_EQ(volume(together, "dp", kAllGather), volume(apart, "dp", kAllGather));
  }
}

// DeepSpeed, stage3.py: average_tensor. Each rank takes its shard of the sums.
TEST(Sharded, Stage3MayAllReduce) {
  const auto plan_of = [](const std::string& key) { return job_of("zero: {stage: 3" + key + "}", 4, 8).plan(); };
  const StepPlan apart = plan_of("");
  const StepPlan together = plan_of(", reduce_scatter: false");
  EXPECT_GT(volume(apart, "dp", kReduceScatter), 0);
  EXPECT_EQ(volume(together, "dp", kAllReduce), volume(apart, "dp", kReduceScatter));
  EXPECT_EQ(volume(together, "dp", kReduceScatter), 0);
  EXPECT_EQ(volume(together, "dp", kAllGather), volume(apart, "dp", kAllGather));
  const auto copies_sums = [](const StepPlan& plan) {
    return std::ranges::any_of(plan.graph.works, [](const Work& work) { return work.name == "copy sums"; });
  };
  EXPECT_TRUE(copies_sums(together));
  EXPECT_FALSE(copies_sums(apart));
}

// Modules of a recomputed layer are released after their recomputation and gathered again, two bytes for each
// parameter. Within the reuse distance of a layer nothing is released in between.
TEST(Sharded, Stage3GathersModulesOfRecomputedLayersAThirdTime) {
  const auto gathered = [](const std::string& recompute, std::int64_t distance) {
    return volume(job_of(fmt::format("zero: {{stage: 3, stage3_param_persistence_threshold: 0, "
                                     "stage3_max_reuse_distance: {}}}",
                                     distance),
                         4, 4, recompute)
                      .plan(),
                  "dp", kAllGather);
  };
  const auto parameters = [](int layers) {
    const std::string text = small_model(layers) + "training: {global_batch: 4}\nparallel: {}\n";
    return JobText(text, 4).plan().stage_parameters[0];
  };
  const std::int64_t of_layers = 4 * (parameters(5) - parameters(4));  // ends are not recomputed
  EXPECT_EQ(gathered(", recompute: full", 0) - gathered("", 0), 2 * of_layers);
  EXPECT_EQ(gathered(", recompute: full", 1'000'000'000), gathered("", 1'000'000'000));
}

// Two chunks per stage, groups of two microbatches: each chunk's gradients are scattered once for each of two groups.
TEST(Sharded, GroupsOfMicrobatchesAreReducedWhenTheyHavePassedAChunk) {
  const auto scattered = [](const std::string& zero) {
    const StepPlan plan = job_of("pp: 2, virtual_stages: 2, schedule: interleaved-1f1b, zero: {" + zero + "}", 4, 8,
                                 ", grad_reduce_dtype: bf16")
                              .plan();
    return volume(plan, "dp", kReduceScatter);
  };
  const std::int64_t once = scattered("stage: 1");
  EXPECT_EQ(scattered("stage: 2, reduce_every: microbatch"), 4 * once);
  EXPECT_EQ(scattered("stage: 2, reduce_every: microbatch_group"), 2 * once);
}

TEST(Sharded, WithoutSyncGradientsAreScatteredOnce) {
  const StepPlan plan = job_of("fsdp: {no_sync: true}", 4, 12).plan();
  EXPECT_EQ(volume(plan, "dp", kReduceScatter), 4 * plan.stage_parameters[0]);
}

// FSDP2's modules in pipeline stages: two bytes per parameter are gathered and four scattered, once per step.
TEST(Sharded, ParametersGatheredThroughAllMicrobatchesMoveOnce) {
  const std::string kept = "fsdp: {no_sync: true, reshard_after_forward: false, reshard_after_backward: false}";
  for (const int batch : {4, 12}) {
    const StepPlan plan = job_of(kept, 4, batch).plan();
    EXPECT_EQ(volume(plan, "dp", kAllGather), 2 * plan.stage_parameters[0]);
    EXPECT_EQ(volume(plan, "dp", kReduceScatter), 4 * plan.stage_parameters[0]);
  }
}

// The root unit (embedding and output layer) is gathered once per microbatch, layers twice.
TEST(Sharded, FsdpKeepsItsRootUnitGatheredUntilTheBackwardPass) {
  const StepPlan plan = job_of("fsdp: {}", 4, 4).plan();
  const JobText job = job_of("fsdp: {}", 4, 4);
  const std::int64_t root = count_elements(embedding_tensors(job.shape, 1)) +
                            count_elements(head_tensors(job.shape, 1, OutputWeights::kOwn));
  const std::int64_t psi = plan.stage_parameters[0];
  EXPECT_EQ(volume(plan, "dp", kAllGather), 2 * (2 * (psi - root) + root));
  EXPECT_EQ(volume(plan, "dp", kReduceScatter), 4 * psi);
}

TEST(Sharded, ShardGradOpGathersOnceAMicrobatch) {
  const StepPlan plan = job_of("fsdp: {sharding_strategy: shard_grad_op}", 4, 8).plan();
  EXPECT_EQ(volume(plan, "dp", kAllGather), 2 * 2 * plan.stage_parameters[0]);
}

TEST(Sharded, HybridShardingScattersAmongSomeAndSumsOverCopies) {
  const StepPlan plan = job_of("fsdp: {sharding_strategy: hybrid_shard, shard_degree: 4}", 8, 8).plan();
  const std::int64_t psi = plan.stage_parameters[0];
  EXPECT_EQ(volume(plan, "dp_shard", kReduceScatter), 4 * psi);
  EXPECT_EQ(volume(plan, "dp_replicate", kAllReduce), 4 * psi / 4);
  // Neighbours share a copy: ranks 0-3 and 4-7.
  const Dimension& shard = plan.graph.dimensions.at(0);
  EXPECT_THAT(shard.groups.at(0), testing::ElementsAre(RankId(0), RankId(1), RankId(2), RankId(3)));
  EXPECT_THAT(plan.graph.dimensions.at(1).groups.at(1), testing::ElementsAre(RankId(1), RankId(5)));
}

TEST(Sharded, MicsSumsOverCopiesInTheLastMicrobatchOnly) {
  const auto plan_of = [](const std::string& parallel) { return job_of(parallel, 8, 24).plan(); };
  const StepPlan mics = plan_of("zero: {stage: 3, mics_shard_size: 4}");
  const StepPlan hybrid = plan_of("fsdp: {sharding_strategy: hybrid_shard, shard_degree: 4}");
  EXPECT_EQ(3 * volume(mics, "dp_replicate", kAllReduce), volume(hybrid, "dp_replicate", kAllReduce));
}

// FSDP2's reshard_after_forward: N and hpZ: the backward pass gathers among few ranks.
TEST(Sharded, ASecondCopyServesTheBackwardPass) {
  const StepPlan plan = job_of("zero: {stage: 3, zero_hpz_partition_size: 2, stage3_max_reuse_distance: 0, "
                               "stage3_param_persistence_threshold: 0}",
                               8, 8)
                            .plan();
  EXPECT_EQ(volume(plan, "dp", kAllGather), 2 * plan.stage_parameters[0]);
  EXPECT_EQ(volume(plan, "dp_secondary", kAllGather), 2 * plan.stage_parameters[0]);
  const StepPlan fsdp = job_of("fsdp: {reshard_after_forward: 2, wrap_ends: true}", 8, 8).plan();
  EXPECT_GT(volume(fsdp, "dp_secondary", kAllGather), 0);
}

// Small tensors (norms: 64 elements) stay whole and are gathered once, after the update.
TEST(Sharded, PersistentParametersAreGatheredOnceAStep) {
  const StepPlan plan =
      job_of("zero: {stage: 3, stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0}", 4, 8).plan();
  const std::int64_t norms = 64 * (2 * 4 + 1);
  const std::int64_t psi = plan.stage_parameters[0];
  EXPECT_EQ(volume(plan, "dp", kAllGather), 2 * (4 * (psi - norms) + norms));
}

std::int64_t calls(const StepPlan& plan, CollectiveKind kind) {
  const std::vector<Task>& tasks = plan.graph.programs.front().tasks;
  return std::ranges::count_if(tasks, [&](const Task& task) {
    return task.kind == TaskKind::kCollective && plan.graph.collectives[task.detail].kind == kind;
  });
}

// Four layers of four GEMMs, the embedding and the output layer, each gathered forward and backward; norms are not
// sharded.
TEST(Sharded, EveryWeightMayHaveACallOfItsOwn) {
  const auto plan_of = [](const std::string& gather_calls) {
    return job_of("zero: {stage: 3, stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0, "
                  "gather_calls: " +
                      gather_calls + "}",
                  4, 4)
        .plan();
  };
  const StepPlan layers = plan_of("layers");
  const StepPlan weights = plan_of("weights");
  EXPECT_EQ(volume(weights, "dp", kAllGather), volume(layers, "dp", kAllGather));
  EXPECT_EQ(calls(layers, kAllGather), 2 * (4 + 2) + 1);  // and one of the norms after the update
  EXPECT_EQ(calls(weights, kAllGather), 2 * (4 * 4 + 2) + 1);
  EXPECT_EQ(volume(plan_of("lists"), "dp", kAllGather), volume(layers, "dp", kAllGather));
}

// Nothing computes between the host's wait for the device and the end of a gather: a gather follows the list of its
// parts, and computation follows the copies of its parts.
TEST(Sharded, GathersIntoListsDoNotOverlapComputation) {
  const std::string lists_of_all = "zero: {stage: 3, stage3_param_persistence_threshold: 0, gather_calls: lists}";
  const StepPlan plan = job_of(lists_of_all, 4, 4).plan();
  const Program& program = plan.graph.programs.front();
  const auto begins_with = [&](const Task& task, const std::string& kernel) {
    return task.kind == TaskKind::kCompute && !plan.graph.works[task.detail].kernels.empty() &&
           plan.graph.works[task.detail].kernels.back().name == kernel;
  };
  int lists = 0;
  for (std::size_t i = 0; i + 1 < program.tasks.size(); ++i) {
    if (!begins_with(program.tasks[i], "list of parts")) continue;
    ++lists;
    const Task& gather = program.tasks[i + 1];
    EXPECT_EQ(gather.kind, TaskKind::kCollective);
    EXPECT_GE(gather.dependency_count, 1);
  }
  EXPECT_GT(lists, 0);
}

TEST(Sharded, ListsAreOlderThanZeroPlusPlus) {
  const JobText job = job_of("zero: {stage: 3, gather_calls: lists, zero_hpz_partition_size: 2}", 8, 8);
  EXPECT_THAT(job.problems(), testing::Contains(testing::HasSubstr("E141")));
}

TEST(Sharded, ALayerUsedAgainSoonIsNotReleased) {
  const StepPlan all = job_of("zero: {stage: 3, stage3_param_persistence_threshold: 0}", 4, 4).plan();
  EXPECT_EQ(volume(all, "dp", kAllGather), 2 * all.stage_parameters[0]);  // the whole model is below 1e9 elements
}

// --- ZeRO++ ---

// Between nodes ZeRO-3 moves 3M bytes for M bytes of weights (2 bytes each): two gathers and a scatter. With qwZ 0.5M,
// with hpZ none in the backward pass, with qgZ 0.25M (arXiv 2306.10209, table 1). Block scales are added: 4 bytes for
// 8000 weights and 8 for 2048 gradients, partial blocks count as whole.
TEST(Sharded, ZeroPlusPlusMovesAQuarterBetweenNodes) {
  const std::string threshold = "stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0";
  const auto plan_of = [&](const std::string& more) {
    const JobText job(
        "model: {num_layers: 4, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 4096, vocab_size: 8192, "
        "seq_length: 32}\ntraining: {global_batch: 32, grad_reduce_dtype: bf16}\nparallel: {zero: {stage: 3, " +
            threshold + more + "}}\n",
        32, 8);
    EXPECT_THAT(job.problems(), IsEmpty());
    return job.plan();
  };
  const StepPlan plain = plan_of("");
  const auto m = static_cast<double>(2 * plain.stage_parameters[0]);
  const double before =
      static_cast<double>(volume(plain, "dp", kAllGather) + volume(plain, "dp", kReduceScatter));
  EXPECT_NEAR(before / m, 3.0, 1e-9);
  const StepPlan zpp = plan_of(", zero_hpz_partition_size: 8, zero_quantized_weights: true, "
                               "zero_quantized_gradients: true");
  // A rank's all-to-all between nodes has 1/8 of the gradients, of which 8 ranks of a node make the whole.
  const double after = static_cast<double>(volume(zpp, "dp", kAllGather) + 8 * volume(zpp, "dp_across", kAllToAll));
  EXPECT_EQ(volume(zpp, "dp", kReduceScatter), 0);
  EXPECT_NEAR(after / m, 0.5 * (1 + 4.0 / 8000) + 0.25 * (1 + 8.0 / 1024), 1e-4);
  EXPECT_NEAR(static_cast<double>(volume(zpp, "dp_secondary", kAllGather)) / m, 1.0, 1e-9);
  EXPECT_NEAR(static_cast<double>(volume(zpp, "dp_node", kAllToAll)) / m, 0.25 * (1 + 8.0 / 1024), 1e-4);
}

TEST(Sharded, QuantisingIsSeparateWorkConcurrentWithTheComputation) {
  const StepPlan plan = job_of("zero: {stage: 3, zero_quantized_weights: true, zero_quantized_gradients: true}", 4, 4)
                            .plan();
  int on_other_streams = 0;
  for (const Task& task : plan.graph.programs[0].tasks) {
    if (task.kind == TaskKind::kCompute && task.stream != kComputeStream) ++on_other_streams;
  }
  EXPECT_GT(on_other_streams, 0);
}

// --- order ---

std::vector<std::string> names_of(const std::string& parallel) {
  const StepPlan plan = job_of(parallel, 4, 4).plan();
  return task_names(plan.graph, plan.graph.programs[0]);
}

// Gathers and scatters of the backward pass in the order in which they are issued.
std::string backward_order(const std::string& prefetch) {
  std::string order;
  bool backward = false;
  for (const std::string& name : names_of("fsdp: {wrap_ends: true, backward_prefetch: " + prefetch + "}")) {
    backward = backward || name == "B0";
    if (!backward) continue;
    if (name == "B0") order += 'B';
    if (name == "fsdp all_gather parameters") order += 'g';
    if (name == "fsdp reduce_scatter gradients") order += 's';
  }
  return order;
}

// Head, four layers, embedding. Before: the next gather is issued before the computation (the first one of the backward
// pass even before the head's, which is cut off here). After: issued after it, before the gradients are copied and
// scattered. None: after the scatter.
TEST(Sharded, BackwardPrefetchSetsTheOrderOfIssue) {
  EXPECT_EQ(backward_order("backward_pre"), "BsgBsgBsgBsgBsBs");
  EXPECT_EQ(backward_order("backward_post"), "BgBsBgBsBgBsBgBsBgBsBs");
  EXPECT_EQ(backward_order("none"), "BsgBsgBsgBsgBsgBs");
}

TEST(Sharded, AGatherAheadStartsWhenTheUnitBeforeTheLastIsDone) {
  const StepPlan plan = job_of("fsdp: {wrap_ends: true, version: 1}", 4, 4, ", precision: fp32").plan();
  const Program& program = plan.graph.programs[0];
  const std::vector<std::string> names = task_names(plan.graph, program);
  // clear gradients; embedding and first layer are gathered; embedding; second layer; first layer; ...
  ASSERT_EQ(names[3], "F0");
  ASSERT_EQ(names[4], "fsdp all_gather parameters");
  EXPECT_TRUE(waits_for(program, 4, 3));
  EXPECT_TRUE(waits_for(program, 5, 2));   // the first layer for its own parameters
  EXPECT_FALSE(waits_for(program, 5, 4));  // not for those of the second
}

TEST(Sharded, UnlimitedGathersStartAtOnce) {
  const StepPlan plan = job_of("fsdp: {limit_all_gathers: false, version: 1}", 4, 4, ", precision: fp32").plan();
  const Program& program = plan.graph.programs[0];
  for (const Task& task : program.tasks) {
    const bool gathers = task.kind == TaskKind::kCollective &&
                         plan.graph.collectives[task.detail].kind == CollectiveKind::kAllGather;
    EXPECT_EQ(gathers ? task.dependency_count : 0U, 0U);
  }
}

// --- no deadlocks ---

TEST(Sharded, NoSmallLayoutWaitsForEver) {
  const std::vector<std::string> paths = {
      "fsdp: {}", "fsdp: {sharding_strategy: hybrid_shard, shard_degree: 2}", "fsdp: {backward_prefetch: none}",
      "fsdp: {backward_prefetch: backward_post, wrap_ends: true, no_sync: true}", "fsdp: {limit_all_gathers: false}",
      "zero: {stage: 3, stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0}",
      "zero: {stage: 3, zero_hpz_partition_size: 2, zero_quantized_weights: true, zero_quantized_gradients: true}",
      "zero: {stage: 3, mics_shard_size: 2, overlap_comm: false}"};
  for (const std::string& path : paths) {
    for (const std::string layout :
         {"dp: 4", "dp: 4, pp: 2", "dp: 4, tp: 2, sequence_parallel: true", "dp: 4, pp: 4",
          "dp: 4, pp: 2, schedule: interleaved-1f1b, virtual_stages: 2", "dp: 4, pp: 2, schedule: gpipe"}) {
      for (const std::string recompute : {"none", "full"}) {
        const std::int64_t ranks = 4 * (layout.find("pp: 4") != std::string::npos ? 4
                                        : layout == "dp: 4"                       ? 1
                                                                                               : 2);
        const JobText job = job_of(layout + ", " + path, ranks, 16, ", recompute: " + recompute);
        EXPECT_THAT(job.problems(), IsEmpty());
        const StepPlan plan = job.plan();
        EXPECT_EQ(check_task_graph(plan.graph), "") << layout << " " << path;
        EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << layout << " " << path;
      }
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::sharded_test
