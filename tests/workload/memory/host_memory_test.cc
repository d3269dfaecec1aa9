#include "workload/memory/host_memory.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::host_memory_test {
namespace {

using testing::IsEmpty;

JobText job(const std::string& parallel, std::int64_t ranks, const std::string& training = "global_batch: 8") {
  return JobText(small_model(4) + "training: {" + training + "}\nparallel: {" + parallel + "}\n", ranks);
}

Bytes of(const std::vector<MemoryItem>& items, const std::string& name) {
  const auto item = std::ranges::find(items, name, &MemoryItem::name);
  return item == items.end() ? Bytes(0) : item->bytes;
}

HostHoldings first_stage(const JobText& asked) {
  EXPECT_THAT(asked.problems(), IsEmpty());
  return host_holdings(asked.inputs()).front();
}

TEST(HostMemory, IsEmptyWhereNothingIsOffloaded) {
  EXPECT_THAT(host_holdings(job("dp: 4, zero: {stage: 1}", 4).inputs()), IsEmpty());
}

// ZeRO-Offload: 2 + 12 bytes a parameter of the shard, a quarter of them padded to 64.
TEST(HostMemory, HoldsStateAndGradientsOfTheShard) {
  const JobText asked = job("dp: 4, zero: {stage: 2, offload_optimizer: {device: cpu}}", 4);
  const std::int64_t shard = (asked.plan().stage_parameters[0] + 255) / 256 * 64;
  const HostHoldings holdings = first_stage(asked);
  EXPECT_EQ(of(holdings.memory, "optimizer"), Bytes(12 * shard));
  EXPECT_EQ(of(holdings.memory, "gradients"), Bytes(2 * shard));
  EXPECT_THAT(holdings.drives, IsEmpty());
}

// The paper's example: all of a model's 16 bytes a parameter but the 2 of the weights leave the GPU.
TEST(HostMemory, WhatTheHostHoldsTheGpuDoesNot) {
  const JobText kept = job("dp: 4, zero: {stage: 2}, tp: 1", 4, "global_batch: 8, grad_reduce_dtype: bf16");
  const JobText offloaded =
      job("dp: 4, zero: {stage: 2, offload_optimizer: {device: cpu}}", 4, "global_batch: 8, grad_reduce_dtype: bf16");
  const StageMemory before = memory_ledger(kept.inputs(), {}).front();
  const StageMemory after = memory_ledger(offloaded.inputs(), {}).front();
  const HostHoldings holdings = first_stage(offloaded);
  EXPECT_EQ(of(holdings.memory, "optimizer"), before.of("optimizer") - after.of("optimizer"));
  EXPECT_EQ(of(holdings.memory, "gradients"), before.of("gradients") - after.of("gradients"));
}

TEST(HostMemory, StatesOnDrivesLeaveOnlySubGroupsInMemory) {
  const std::string zero =
      "zero: {{stage: 3, sub_group_size: 1000, stage3_param_persistence_threshold: 0, offload_optimizer: {{device: "
      "nvme, "
      "pipeline_read: {0}, pipeline_write: {0}}}, offload_param: {{device: nvme}}}}";
  const JobText asked = job(fmt::format(fmt::runtime(zero), "true"), 4);
  const std::int64_t shard = asked.plan().stage_parameters[0] / 4;
  const HostHoldings holdings = first_stage(asked);
  EXPECT_EQ(of(holdings.drives, "optimizer"), Bytes(12 * shard));
  EXPECT_EQ(of(holdings.drives, "parameters"), Bytes(2 * shard));
  EXPECT_EQ(of(holdings.memory, "optimizer in flight"), Bytes(12 * 3 * 1000));
  EXPECT_EQ(of(first_stage(job(fmt::format(fmt::runtime(zero), "false"), 4)).memory, "optimizer in flight"),
            Bytes(12 * 1000));
}

// FSDP's shards are the fp32 weights: 12 bytes with their moments, and 4 of gradients.
TEST(HostMemory, ShardsOfFsdpAreCountedOnce) {
  const JobText asked = job("fsdp: {cpu_offload: true}", 4);
  const HostHoldings holdings = first_stage(asked);
  EXPECT_EQ(of(holdings.memory, "gradients") * 3, of(holdings.memory, "optimizer"));
  EXPECT_EQ(of(holdings.memory, "parameters"), Bytes(0));
}

// The first of two stages has two microbatches in flight, and four layers' worth of tensors of each.
TEST(HostMemory, ActivationsAreCountedWhileTheyWait) {
  const JobText asked = job("pp: 2, cpu_offloading_num_layers: 1", 2);
  const Bytes layer = layer_activations(make_kernel_context(asked.shape, asked.training, asked.parallel));
  EXPECT_EQ(of(first_stage(asked).memory, "layer activations"), layer * 2);
  const JobText all = job("pp: 2, cpu_offloading_num_layers: 9", 2);
  EXPECT_EQ(of(first_stage(all).memory, "layer activations"), layer * 4);
}

TEST(HostMemory, CheckpointsMayWaitInHostMemory) {
  const JobText asked = job("dp: 1", 1, "global_batch: 1, recompute: full, cpu_checkpointing: true");
  const Bytes input(32 * 64 * 2);
  EXPECT_EQ(of(first_stage(asked).memory, "layer activations"), input * 4);
  const JobText groups =
      job("dp: 1", 1, "global_batch: 1, recompute: full, recompute_num_layers: 2, cpu_checkpointing: true");
  EXPECT_EQ(of(first_stage(groups).memory, "layer activations"), input * 2);
}

// Each group's input is offloaded once and reloaded once, before the group is recomputed.
TEST(HostMemory, CheckpointsGoOutAndComeBack) {
  const StepPlan plan =
      job("dp: 1", 1, "global_batch: 1, recompute: full, recompute_num_layers: 2, cpu_checkpointing: true").plan();
  std::int64_t out = 0;
  std::int64_t back = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kSend) continue;
    const MessageSpec& message = plan.graph.messages[task.detail];
    if (message.path == DmaPath::kToMemory) out += message.bytes.count();
    if (message.path == DmaPath::kFromMemory) back += message.bytes.count();
  }
  EXPECT_EQ(out, 2 * 32 * 64 * 2);
  EXPECT_EQ(back, out);
}

TEST(HostMemory, CheckpointsNeedFullRecomputation) {
  EXPECT_THAT(job("dp: 1", 1, "global_batch: 1, cpu_checkpointing: true").problems(),
              testing::ElementsAre("W131: training.cpu_checkpointing has no effect: recompute is not full"));
}

}  // namespace
}  // namespace ringwright::workload::host_memory_test
