#include "workload/memory/sharded_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::sharded_memory_test {
namespace {

using testing::ElementsAre;

// A layer of 10 elements (attention 4, MLP 6) between an embedding of 7 and a head of 5.
std::vector<ModelChunk> one_layer(bool shares_output) {
  ModelChunk part{.number = 0, .layers = 1, .embedding = true, .head = true, .points = {}, .tensors = {}};
  part.shares_output = shares_output;
  const auto add = [&part](PointKind kind, std::int64_t elements) {
    part.points.push_back(kind);
    part.tensors.push_back({{.name = "w", .elements = elements}});
  };
  add(PointKind::kEmbedding, 7);
  add(PointKind::kAttention, 4);
  add(PointKind::kMlp, 6);
  add(PointKind::kHead, 5);
  return {part};
}

// Of a backward pass, from the head to the embedding; gradients are bf16 and reduced in fp32.
std::vector<std::int64_t> unreduced(const std::string& parallel, bool shares_output = false) {
  const JobText job(small_model(1) + "training: {global_batch: 2}\nparallel: {" + parallel + "}\n", 2);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  ShardingOptions options = job.parallel.sharding;
  options.shard = 1;  // no padding
  const ShardUnits units(one_layer(shares_output), options);
  const std::vector<Slot> slots = {{Pass::kForward, 0, 0}, {Pass::kBackward, 0, 0}};
  const GatherSchedule schedule(units, options, units.uses(slots));
  ShardedMemory memory(job.inputs(), units, schedule);
  std::vector<std::int64_t> result;
  for (std::size_t point = 0; point < 4; ++point) {
    GatheredBytes held;
    memory.enter(0, point, held);
    EXPECT_EQ(held.unreduced, Bytes(0));
  }
  memory.end_pass(0);
  for (std::size_t point = 4; point-- > 0;) {
    GatheredBytes held;
    memory.enter(0, point, held);
    result.push_back(held.unreduced.count());
  }
  return result;
}

TEST(ShardedMemory, AUnitHoldsItsGradientsInBothTypes) {
  EXPECT_THAT(unreduced("fsdp: {wrap_ends: true}"), ElementsAre(6 * 5, 6 * 10, 6 * 10, 6 * 7));
}

// The root unit is reduced after the embedding; until then it has the gradients of its head.
TEST(ShardedMemory, TheRootsGradientsWaitForItsEmbedding) {
  EXPECT_THAT(unreduced("fsdp: {}"), ElementsAre(2 * 5, 6 * 10 + 2 * 5, 6 * 10 + 2 * 5, 6 * 12));
}

// The output layer computes a gradient of the embedding's weights, to which the embedding's is added.
TEST(ShardedMemory, ASharedOutputLayerComputesTheEmbeddingsGradient) {
  for (const std::string fsdp : {"fsdp: {}", "fsdp: {wrap_ends: true}"}) {
    EXPECT_THAT(unreduced(fsdp, true), ElementsAre(2 * 12, 6 * 10 + 2 * 12, 6 * 10 + 2 * 12, 6 * 12));
  }
}

// Two adapters of rank 4 at the GEMM of queries, keys and values (64 to 128 columns) of each layer. FSDP2 accumulates
// in the type of the reduction, four bytes, FSDP1 in that of the gradients; of one microbatch a rank keeps its half.
TEST(ShardedMemory, UnshardedGradientsAreThoseOfTrainedParameters) {
  const auto gradients = [](int batch, const std::string& fsdp) {
    const JobText job(
        "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96,"
        " vocab_size: 1000, seq_length: 32, lora: {rank: 4, target_modules: [linear_qkv]}}\n"
        "training: {global_batch: " +
            std::to_string(batch) + "}\nparallel: {fsdp: {no_sync: true" + fsdp + "}}\n",
        2);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    return memory_ledger(job.inputs(), {}).front().of("gradients");
  };
  EXPECT_EQ(gradients(4, ""), Bytes(4 * 2 * 4 * (64 + 128)));
  EXPECT_EQ(gradients(4, ", reshard_after_backward: false"), gradients(4, ""));
  EXPECT_EQ(gradients(4, ", version: 1"), Bytes(2 * 2 * 4 * (64 + 128)));
  EXPECT_EQ(gradients(2, ""), Bytes(4 * 2 * 4 * (64 + 128) / 2));
}

}  // namespace
}  // namespace ringwright::workload::sharded_memory_test
