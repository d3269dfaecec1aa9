#include "workload/parallel/offload.h"

#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::offload_test {
namespace {

using testing::IsEmpty;

JobText job_of(const std::string& parallel, std::int64_t ranks, int batch = 4) {
  return JobText(small_model(4) + fmt::format("training: {{global_batch: {}}}\nparallel: {{{}}}\n", batch, parallel),
                 ranks);
}

// Bytes of one rank's messages to and from its host, by label.
std::map<std::string, std::int64_t> traffic(const StepPlan& plan) {
  std::map<std::string, std::int64_t> result;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kSend) continue;
    const MessageSpec& spec = plan.graph.messages[task.detail];
    if (spec.path != DmaPath::kNone) result[plan.graph.labels[task.label]] += spec.bytes.count();
  }
  return result;
}

// ZeRO-Offload, section 4.1: 2 bytes per parameter of the shard in each direction, over every rank's own PCIe.
TEST(Offload, GradientsGoOutAndParametersComeBack) {
  const StepPlan plan = job_of("zero: {stage: 2, offload_optimizer: {device: cpu}}", 4).plan();
  const std::int64_t shard = (plan.stage_parameters[0] + 255) / 256 * 64;
  const auto moved = traffic(plan);
  EXPECT_EQ(moved.at("host store gradients"), 2 * shard);
  EXPECT_EQ(moved.at("host fetch parameters"), 2 * shard);
  // Adam's 28 bytes a parameter, 8 to unscale the gradient and 6 to cast the weight, at 45 % of the memory's bandwidth.
  EXPECT_NEAR(static_cast<double>(moved.at("host adam")), 42.0 * static_cast<double>(shard) / 0.45, 1.0);
  EXPECT_EQ(check_task_graph(plan.graph), "");
}

// DeepSpeed's stage 2 (async_accumulate_grad_in_cpu_via_gpu): after the first microbatch the sums of earlier ones come
// up, are added to, and go down again. Also on one GPU, where nothing is reduced.
TEST(Offload, StageTwoAddsEveryMicrobatchToTheSumsOnTheHost) {
  for (const std::int64_t ranks : {1, 4}) {
    const auto job = [ranks](int batch) {
      return JobText(
          small_model(2) + fmt::format("training: {{global_batch: {}, grad_reduce_dtype: bf16}}\n"
                                       "parallel: {{zero: {{stage: 2, offload_optimizer: {{device: cpu}}}}}}\n",
                                       batch * ranks),
          ranks);
    };
    const auto once = traffic(job(1).plan());
    const auto thrice = traffic(job(3).plan());
    EXPECT_EQ(once.count("host fetch gradients"), 0U);
    EXPECT_EQ(thrice.at("host store gradients"), 3 * once.at("host store gradients"));
    EXPECT_EQ(thrice.at("host fetch gradients"), 2 * once.at("host store gradients"));
    EXPECT_EQ(thrice.at("host fetch parameters"), once.at("host fetch parameters"));
  }
}

// ZeRO-Offload: a GPU holds the weights, and of the gradients a bucket.
TEST(Offload, StageTwoKeepsNoGradientsOnOneGpu) {
  const auto gradients = [](const std::string& zero) {
    const JobText job(small_model(2) + "training: {global_batch: 2}\nparallel: {zero: {" + zero + "}}\n", 1);
    return memory_ledger(job.inputs(), {}).front().of("gradients");
  };
  EXPECT_GT(gradients("stage: 0"), Bytes(0));
  EXPECT_EQ(gradients("stage: 2, offload_optimizer: {device: cpu}"), Bytes(0));
}

TEST(Offload, OneGpuAloneMayOffload) {
  const StepPlan plan = job_of("zero: {stage: 0, offload_optimizer: {device: cpu}}", 1).plan();
  EXPECT_EQ(traffic(plan).at("host store gradients"), 2 * plan.stage_parameters[0]);
}

// DeepSpeed allows stage 3 with offload_param on one GPU: all parameters are its shard, fetched for every pass, and
// gathered from no other rank.
TEST(Offload, OneGpuAloneMayFetchItsParameters) {
  const JobText job = job_of(
      "zero: {stage: 3, stage3_param_persistence_threshold: 0, offload_optimizer: {device: cpu}, "
      "offload_param: {device: cpu}}",
      1);
  EXPECT_THAT(job.problems(), IsEmpty());
  const StepPlan plan = job.plan();
  EXPECT_EQ(check_task_graph(plan.graph), "");
  // At least once, in 2 bytes each; units that are still present are not fetched again.
  EXPECT_GE(traffic(plan).at("host fetch parameters"), 2 * plan.stage_parameters[0]);
  EXPECT_TRUE(plan.graph.collectives.empty());
  EXPECT_THAT(job_of("fsdp: {cpu_offload: true}", 1).problems(), IsEmpty());
}

// Without overlap_comm DeepSpeed's stage 3 stores gradients on the stream that fetches parameters and computes: a fetch
// begins when the gradients of the layer before are on the host.
TEST(Offload, FetchesWaitForStoredGradientsUnlessTheyOverlap) {
  const auto waits = [](const std::string& overlap) {
    const StepPlan plan = job_of("zero: {stage: 3, stage3_param_persistence_threshold: 0, "
                                 "stage3_max_reuse_distance: 0, reduce_bucket_size: 0, "
                                 "stage3_prefetch_bucket_size: 0, offload_optimizer: {device: cpu, "
                                 "gradient_copies: overlapped}, "
                                 "offload_param: {device: cpu}, overlap_comm: " +
                                     overlap + "}",
                                 4)
                              .plan();
    const Program& program = plan.graph.programs.front();
    int found = 0;
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::kSend || plan.graph.labels[task.label] != "host fetch parameters") continue;
      for (std::uint32_t i = 0; i < task.dependency_count; ++i) {
        const Task& before = program.tasks[program.dependencies[task.first_dependency + i]];
        found += before.kind == TaskKind::kSend && plan.graph.labels[before.label] == "host store gradients" ? 1 : 0;
      }
    }
    return found;
  };
  EXPECT_EQ(waits("true"), 0);
  EXPECT_GE(waits("false"), 4);  // of the layers and the embedding before the output layer
}

// DeepSpeed's stage3.py, partition_grads: every microbatch's sums are stored and fetched again in 2 bytes, the last
// ones stored in 4 more.
TEST(Offload, StageThreeStoresGradientsInTheirTypeAndAtLastInFp32) {
  const auto job = [](int batch, const std::string& more) {
    return job_of("zero: {stage: 3, stage3_param_persistence_threshold: 0, " + more + "}", 4, 4 * batch).plan();
  };
  const auto overlapped = traffic(job(1, "offload_optimizer: {device: cpu, gradient_copies: overlapped}"));
  const std::int64_t once = overlapped.at("host store gradients");
  EXPECT_EQ(overlapped.count("host store fp32 gradients"), 0U);
  for (const int batch : {1, 3}) {
    const auto moved = traffic(job(batch, "offload_optimizer: {device: cpu}"));
    EXPECT_EQ(moved.at("host store gradients"), batch * once);
    EXPECT_EQ(moved.at("host fetch gradients for norm"), batch * once);
    EXPECT_EQ(moved.at("host store fp32 gradients"), 2 * once);
  }
  EXPECT_EQ(traffic(job(1, "gather_calls: lists, offload_optimizer: {device: cpu}")), overlapped);
}

// The pass waits for the fp32 copies of the last microbatch alone.
TEST(Offload, TheBackwardPassWaitsForFp32Gradients) {
  const auto waits = [](int batch) {
    const StepPlan plan = job_of("zero: {stage: 3, reduce_bucket_size: 1, offload_optimizer: {device: cpu}}", 4,
                                 4 * batch)
                              .plan();
    const Program& program = plan.graph.programs.front();
    std::map<std::string, int> found;
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::kCompute) continue;
      for (std::uint32_t i = 0; i < task.dependency_count; ++i) {
        const Task& before = program.tasks[program.dependencies[task.first_dependency + i]];
        if (before.kind == TaskKind::kSend) ++found[plan.graph.labels[before.label]];
      }
    }
    return found;
  };
  EXPECT_GE(waits(1).at("host store fp32 gradients"), 4);  // each layer's, but for the first one's
  EXPECT_EQ(waits(2), waits(1));
}

TEST(Offload, GradientCopiesThatNobodyWaitsForAreWarnedOf) {
  const JobText job = job_of("zero: {stage: 2, offload_optimizer: {device: cpu, gradient_copies: blocking}}", 4);
  EXPECT_THAT(job.problems(), testing::ElementsAre(testing::HasSubstr("W131")));
}

// ZeRO-Infinity: each state of 12 bytes is read and written once a step, sub-group by sub-group.
TEST(Offload, StatesOnDrivesAreReadAndWritten) {
  const JobText job = job_of(
      "zero: {stage: 3, sub_group_size: 10000, stage3_param_persistence_threshold: 0, "
      "offload_optimizer: {device: nvme, pipeline_read: true, pipeline_write: true}}",
      4);
  const StepPlan plan = job.plan();
  const std::int64_t shard = plan.stage_parameters[0] / 4;
  EXPECT_EQ(traffic(plan).at("host read states"), 12 * shard);
  EXPECT_EQ(traffic(plan).at("host write states"), 12 * shard);
  int updates = 0;
  for (const std::string& name : task_names(plan.graph, plan.graph.programs[0])) updates += name == "host adam" ? 1 : 0;
  EXPECT_EQ(updates, (shard + 9999) / 10000);
}

// Every rank fetches its own shard of a layer before the layer is gathered: as many bytes as it contributes.
TEST(Offload, ParametersAreFetchedShardByShard) {
  const StepPlan plan = job_of("zero: {stage: 3, stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, "
                               "offload_param: {device: cpu}}",
                               4)
                            .plan();
  EXPECT_EQ(traffic(plan).at("host fetch parameters"), gathered_bytes(plan) / 4);
}

// PyTorch's Adam clips on the GPU and casts while gathering: 28 bytes a parameter of the fp32 shard.
TEST(Offload, ShardsOfFsdpAreUpdatedInOnePass) {
  const StepPlan plan = job_of("fsdp: {sharding_strategy: full_shard, cpu_offload: true}", 4).plan();
  const auto moved = traffic(plan);
  EXPECT_NEAR(static_cast<double>(moved.at("host adam")),
              28.0 / 0.45 * static_cast<double>(plan.stage_parameters[0]) / 4, 1000.0);
}

// The GPU casts what it fetches, and reduced gradients take the shard's type before they leave (_fsdp_param.py,
// _fsdp_collectives.py): 4 bytes each, where gathers move 2. A second copy is on the GPU.
TEST(Offload, ShardsOfFsdpTravelInFp32) {
  const std::string fsdp = "fsdp: {wrap_ends: true, cpu_offload: true";
  const StepPlan plan = job_of(fsdp + "}", 4).plan();
  EXPECT_EQ(traffic(plan).at("host fetch parameters"), gathered_bytes(plan) / 4 * 2);
  EXPECT_EQ(traffic(plan).at("host store gradients"), 4 * plan.stage_parameters[0] / 4);
  const StepPlan second = job_of(fsdp + ", reshard_after_forward: 2}", 4).plan();
  EXPECT_EQ(traffic(second).at("host fetch parameters"), 4 * plan.stage_parameters[0] / 4);
}

TEST(Offload, ADelayedUpdateBeginsWithTheStep) {
  const StepPlan plan =
      job_of("zero: {stage: 1, delayed_param_update: true, offload_optimizer: {device: cpu}}", 4).plan();
  const Program& program = plan.graph.programs[0];
  const std::vector<std::string> names = task_names(plan.graph, program);
  ASSERT_EQ(names.front(), "host adam");
  EXPECT_EQ(program.tasks.front().dependency_count, 0U);
}

TEST(Offload, ActivationsOfSomeLayersWaitInHostMemory) {
  const JobText job = job_of("cpu_offloading_num_layers: 3", 1, 2);
  const auto moved = traffic(job.plan());
  EXPECT_EQ(moved.at("host store activations"), moved.at("host fetch activations"));
  const JobText all = job_of("pp: 1", 1, 2);
  const Bytes less = memory_ledger(job.inputs(), {}).front().of("layer activations");
  const Bytes more = memory_ledger(all.inputs(), {}).front().of("layer activations");
  // Four layers against one, and two of the others at a time while they are used.
  EXPECT_LT(less, more);
}

// Of each chunk the first layer is recomputed: its input goes to the host, and nothing of the three others. A token's
// input has 64 values.
TEST(Offload, CheckpointsOfRecomputedLayersAloneWaitInHostMemory) {
  const auto job = [](const std::string& more) {
    return JobText(
        small_model(4) + "training: {global_batch: 1, recompute: full, recompute_method: block" + more + "}\n", 1);
  };
  EXPECT_EQ(traffic(job(", cpu_checkpointing: true").plan()).at("host store activations"), 2 * 32 * 64);
  const auto kept = [&job](const std::string& more) {
    return memory_ledger(job(more).inputs(), {}).front().of("layer activations");
  };
  EXPECT_EQ(kept(", cpu_checkpointing: true") + Bytes(2 * 32 * 64), kept(""));
}

TEST(Offload, WhatIsWithTheHostIsNotOnTheGpu) {
  const auto stage = [](const std::string& more) {
    const JobText job = job_of("zero: {stage: 3, stage3_param_persistence_threshold: 0" + more + "}", 4);
    EXPECT_THAT(job.problems(), IsEmpty());
    return memory_ledger(job.inputs(), {}).front();
  };
  EXPECT_GT(stage("").of("optimizer"), Bytes(0));
  const StageMemory away = stage(", offload_optimizer: {device: cpu}, offload_param: {device: cpu}");
  EXPECT_EQ(away.of("optimizer"), Bytes(0));
  EXPECT_EQ(away.of("gradients"), Bytes(0));
  EXPECT_EQ(away.of("weights"), Bytes(0));
}

TEST(Offload, NeedsAShardedState) {
  EXPECT_THAT(job_of("zero: {offload_optimizer: {device: cpu}}", 4).problems(),
              testing::ElementsAre(
                  testing::HasSubstr("E140: parallel.zero.offload_optimizer needs a sharded optimizer state")));
  EXPECT_THAT(job_of("zero: {stage: 1, offload_param: {device: cpu}}", 4).problems(),
              testing::ElementsAre(testing::HasSubstr("E140: parallel.zero.offload_param.device needs sharded "
                                                      "parameters")));
}

TEST(Offload, EveryCombinationEnds) {
  for (const std::string tier : {"cpu", "nvme"}) {
    for (const std::string more :
         {"", ", delayed_param_update: true", ", offload_param: {device: cpu}", ", offload_param: {device: nvme}"}) {
      for (const std::string layout : {"dp: 4", "dp: 4, pp: 2", "dp: 2, tp: 2, sequence_parallel: true"}) {
        const std::int64_t ranks = layout == "dp: 4, pp: 2" ? 8 : 4;
        const StepPlan plan =
            job_of(layout + ", cpu_offloading_num_layers: 1, zero: {stage: 3, offload_optimizer: {device: " + tier +
                       "}" + more + "}",
                   ranks, 8)
                .plan();
        EXPECT_EQ(check_task_graph(plan.graph), "");
        EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << layout << tier << more;
      }
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::offload_test
