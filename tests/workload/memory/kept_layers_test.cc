#include "workload/memory/kept_layers.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::kept_layers_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// s 64, b 2, h 128, a 8, f 4h with all dropouts: Table 2 of Korthikanti et al. (arXiv 2205.05198) applies unchanged.
constexpr std::int64_t kSbh = 64 * 2 * 128;
constexpr std::int64_t kInput = 2 * kSbh;
constexpr std::int64_t kWhole = kSbh * (34 + 5 * 8 * 64 / 128);

JobText gpt(const std::string& recompute, const std::string& parallel = "tp: 1", std::int64_t ranks = 1,
            const std::string& model = "") {
  return JobText(
      "model: {num_layers: 8, hidden_size: 128, num_attention_heads: 8, vocab_size: 2048, seq_length: 64, activation: "
      "gelu, hidden_dropout: 0.1, attention_dropout: 0.1" +
          model + "}\ntraining: {global_batch: 8, micro_batch: 2, attention: unfused, " + recompute + "}\nparallel: {" +
          parallel + "}\n",
      ranks);
}

KeptLayers first_part(const JobText& job) {
  EXPECT_THAT(job.problems(), IsEmpty());
  return KeptLayers(stage_chunks(job.shape, job.parallel, 0).front(),
                    make_kernel_context(job.shape, job.training, job.parallel));
}

// Point 0 is the embedding, layer i has points 2i + 1 and 2i + 2.
std::vector<std::int64_t> kept_by_layer(const KeptLayers& layers, int count) {
  std::vector<std::int64_t> kept;
  for (int i = 0; i < count; ++i) kept.push_back(layers.kept(static_cast<std::size_t>(2 * i + 2)).count());
  return kept;
}

TEST(KeptLayers, WithoutRecomputationEveryLayerStoresAll) {
  const KeptLayers layers = first_part(gpt("recompute: none"));
  EXPECT_THAT(kept_by_layer(layers, 3), ElementsAre(kWhole, kWhole, kWhole));
  EXPECT_EQ(layers.computed_again_before(2), std::nullopt);
  EXPECT_EQ(layers.alive_again(2), Bytes(0));
}

TEST(KeptLayers, FullMeansEveryLayerAloneByDefault) {
  const KeptLayers layers = first_part(gpt("recompute: full"));
  EXPECT_THAT(kept_by_layer(layers, 3), ElementsAre(kInput, kInput, kInput));
  EXPECT_EQ(layers.computed_again_before(4), (KeptLayers::Span{3, 4}));
  EXPECT_EQ(layers.computed_again_before(3), std::nullopt);  // only once, before the layer's last half
}

TEST(KeptLayers, UniformGroupsStoreOneInputAndAreRecomputedWhole) {
  const KeptLayers layers = first_part(gpt("recompute: full, recompute_method: uniform, recompute_num_layers: 4"));
  EXPECT_THAT(kept_by_layer(layers, 8), ElementsAre(kInput, 0, 0, 0, kInput, 0, 0, 0));
  EXPECT_EQ(layers.computed_again_before(16), (KeptLayers::Span{9, 16}));
  EXPECT_EQ(layers.computed_again_before(14), std::nullopt);
  EXPECT_EQ(layers.computed_again_before(8), (KeptLayers::Span{1, 8}));
  // All four are present when the last one's backward pass begins, one when the first one's does.
  EXPECT_EQ(layers.alive_again(16), Bytes(4 * kWhole));
  EXPECT_EQ(layers.alive_again(10), Bytes(kWhole));
}

TEST(KeptLayers, BlockTakesTheFirstLayersOfEveryChunk) {
  const JobText job = gpt("recompute: full, recompute_method: block, recompute_num_layers: 1",
                          "pp: 2, schedule: interleaved-1f1b, virtual_stages: 2", 2);
  const KeptLayers layers = first_part(job);
  EXPECT_THAT(kept_by_layer(layers, 2), ElementsAre(kInput, kWhole));
  EXPECT_EQ(layers.computed_again_before(4), std::nullopt);
  EXPECT_EQ(layers.computed_again_before(2), (KeptLayers::Span{1, 2}));
  EXPECT_EQ(layers.alive_again(4), Bytes(0));
}

TEST(KeptLayers, MoreBlocksThanLayersAreAllLayers) {
  const KeptLayers layers = first_part(gpt("recompute: full, recompute_method: block, recompute_num_layers: 99"));
  EXPECT_THAT(kept_by_layer(layers, 8), testing::Each(kInput));
}

TEST(KeptLayers, ALayerThatPredictsIsRecomputedAloneOrNotAtAll) {
  const std::string predicts = ", mtp_num_layers: 1";
  const std::size_t last = 2 * 8 + 3;  // after eight layers and the predictor's point
  const KeptLayers uniform = first_part(gpt("recompute: full, recompute_num_layers: 8", "tp: 1", 1, predicts));
  EXPECT_EQ(uniform.computed_again_before(last), (KeptLayers::Span{last - 1, last}));
  const KeptLayers block =
      first_part(gpt("recompute: full, recompute_method: block, recompute_num_layers: 9", "tp: 1", 1, predicts));
  EXPECT_EQ(block.computed_again_before(last), std::nullopt);
  EXPECT_EQ(block.kept(last), Bytes(kWhole));
}

TEST(KeptLayers, TensorRanksMaySplitStoredInputs) {
  const KeptLayers layers = first_part(gpt("recompute: full, distribute_saved_activations: true", "tp: 4", 4));
  EXPECT_EQ(layers.kept(2), Bytes(kInput / 4));
}

// --- the step ---

double hardware_flops(const std::string& recompute) {
  return gpt(recompute).plan().hardware_flops.count();
}

// 72 B s L h^2 (...) once forward, twice backward; a recomputed layer adds its forward pass.
TEST(KeptLayers, RecomputationFollowsThePolicy) {
  const double none = hardware_flops("recompute: none");
  const double full = hardware_flops("recompute: full");
  const std::string block = "recompute: full, recompute_method: block, recompute_num_layers: ";
  for (const int layers : {1, 3, 8}) {
    EXPECT_DOUBLE_EQ(hardware_flops(block + std::to_string(layers)), none + (full - none) * layers / 8.0) << layers;
  }
  EXPECT_DOUBLE_EQ(hardware_flops("recompute: full, recompute_num_layers: 4"), full);
}

// 4 B s (6 h^2 + s h) FLOPs forward in each of L layers: 24 + 4 s/h per token and h^2.
TEST(KeptLayers, FullRecomputationCostsOneForwardPassOfTheLayers) {
  const double b = 8, s = 64, h = 128, l = 8;
  EXPECT_DOUBLE_EQ(hardware_flops("recompute: full") - hardware_flops("recompute: none"),
                   b * s * l * (24 * h * h + 4 * s * h));
}

TEST(KeptLayers, OnlyRecomputedLayersCommunicateAgain) {
  const auto tp = [](const std::string& recompute) { return traffic(gpt(recompute, "tp: 2", 2).plan(), 0, "tp"); };
  const Bytes none = tp("recompute: none");
  const std::int64_t activation = kInput;  // in two bytes
  const std::int64_t microbatches = 4;
  EXPECT_EQ(tp("recompute: full, recompute_method: block, recompute_num_layers: 3") - none,
            Bytes(microbatches * 3 * 2 * activation));
  EXPECT_EQ(tp("recompute: full, recompute_num_layers: 4") - none, Bytes(microbatches * 8 * 2 * activation));
  // Distributed activations are gathered before each group.
  EXPECT_EQ(tp("recompute: full, recompute_num_layers: 4, distribute_saved_activations: true") - none,
            Bytes(microbatches * (8 * 2 + 2) * activation));
}

StageMemory memory(const std::string& recompute) {
  return memory_ledger(gpt(recompute).inputs(), {}).front();
}

TEST(KeptLayers, MemoryIsThatOfTheFullestMoment) {
  // Two groups: the last one is recomputed while the inputs of both are stored.
  const StageMemory uniform = memory("recompute: full, recompute_num_layers: 4");
  EXPECT_EQ(uniform.of("layer activations"), Bytes(2 * kInput));
  EXPECT_EQ(uniform.of("recomputed layer"), Bytes(4 * kWhole));
  // Two layers are recomputed, six store all; then the peak is in the first backward pass, of a layer that stores all.
  const StageMemory block = memory("recompute: full, recompute_method: block, recompute_num_layers: 2");
  EXPECT_EQ(block.of("layer activations"), Bytes(2 * kInput + 6 * kWhole));
  EXPECT_EQ(block.of("recomputed layer"), Bytes(0));
}

// --- invalid settings ---

TEST(KeptLayers, GroupsMustBeWhole) {
  EXPECT_THAT(gpt("recompute: full, recompute_num_layers: 3").problems(),
              ElementsAre("E146: training.recompute_num_layers = 3 does not divide the 8 layers of a model chunk | "
                          "valid values: 1 2 4 8; or set training.recompute_method: block"));
  EXPECT_THAT(gpt("recompute: full, recompute_num_layers: 2", "fsdp: {}", 2).problems(),
              ElementsAre(HasSubstr("E146: training.recompute_num_layers = 2: parameters that are gathered layer by "
                                    "layer (zero.stage 3, fsdp) need groups of one layer")));
}

TEST(KeptLayers, SequenceParallelInputsAreNotDistributedAgain) {
  EXPECT_THAT(
      gpt("recompute: full, distribute_saved_activations: true", "tp: 2, sequence_parallel: true", 2).problems(),
      ElementsAre(HasSubstr("E146: training.distribute_saved_activations: with sequence parallelism every rank "
                            "already stores only its own part")));
  EXPECT_THAT(gpt("recompute: full, distribute_saved_activations: true").problems(),
              ElementsAre(HasSubstr("W131: training.distribute_saved_activations has no effect: tp is 1")));
}

TEST(KeptLayers, PoliciesNeedFullRecomputation) {
  EXPECT_THAT(gpt("recompute: selective, recompute_method: block, recompute_num_layers: 2").problems(),
              ElementsAre("W131: training.recompute_method has no effect: recompute is not full",
                          "W131: training.recompute_num_layers has no effect: recompute is not full"));
}

}  // namespace
}  // namespace ringwright::workload::kept_layers_test
