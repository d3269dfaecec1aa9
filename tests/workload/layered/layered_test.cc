// Layer tables: published sizes of the shipped ones, gradient buckets, FLOPs, memory, and mistakes.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "tests/paths.h"
#include "workload/layered/layered_config.h"
#include "workload/layered/layered_memory.h"
#include "workload/layered/layered_step.h"

namespace ringwright::workload::layered_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct ReadTable {
  LayeredModel model;
  std::vector<std::string> codes;
};

ReadTable read(const std::string& table, std::int64_t ranks = 1, GpuSpec gpu = {}) {
  ConfigDocument document =
      ConfigDocument::load_text(
          "job.yaml", "layer_table: {" + table + "}\n",
          {.presets = {{.path = "layer_table", .folder = "layer_tables"}}, .share_folders = {share_dir()}})
          .value();
  ConfigMap map = document.root().map("layer_table", "the table");
  ReadTable result{.model = read_layered(map, {.gpu = gpu, .ranks = ranks})};
  document.check_all_read();
  for (const Diagnostic& diagnostic : document.log().diagnostics().all()) result.codes.push_back(diagnostic.code);
  return result;
}

LayeredModel shipped(const std::string& name) {
  const ReadTable table = read("preset: " + name + ", global_batch: 64");
  EXPECT_THAT(table.codes, IsEmpty());
  return table.model;
}

// Parameters and multiply-adds of one image: torchvision's documentation of resnet50 (25557032, 4.09 G), resnet101
// (44549160, 7.80 G), vgg16 (138357544, 15.47 G) and inception_v3 (27161264 with the auxiliary classifier, 5.71 G
// without it: 768 x 128 x 25 + 3200 x 768 + 768 x 1000 more). Additions of biases are left out, as in a GEMM.
TEST(LayerTable, ShippedOnesHaveThePublishedSizes) {
  EXPECT_EQ(parameter_count(shipped("resnet50")), 25557032);
  EXPECT_EQ(parameter_count(shipped("resnet101")), 44549160);
  EXPECT_EQ(parameter_count(shipped("vgg16")), 138357544);
  EXPECT_NEAR(forward_flops(shipped("resnet50")) / 2e9, 4.09, 0.005);
  EXPECT_NEAR(forward_flops(shipped("resnet101")) / 2e9, 7.80, 0.005);
  EXPECT_NEAR(forward_flops(shipped("vgg16")) / 2e9, 15.47, 0.005);
  EXPECT_EQ(parameter_count(shipped("inception-v3")), 27161264);
  constexpr double kAuxiliary = 768.0 * 128 * 25 + 3200.0 * 768 + 768.0 * 1000;
  EXPECT_NEAR((forward_flops(shipped("inception-v3")) / 2.0 - kAuxiliary) / 1e9, 5.71, 0.005);
}

// Three layers of 1000 x 256 weights without bias: 1,024,000 bytes of gradients each.
LayeredModel three_layers(Bytes first, Bytes bucket) {
  return {.name = "three",
          .layers = {{.name = "fc", .count = 3, .k = 1000, .n = 256, .inputs = 1000,
                      .epilogue = LayerEpilogue::kNone, .activates = false}},
          .global_batch = 8,
          .first_bucket = first,
          .bucket = bucket};
}

TEST(LayerTable, ABucketIsReducedOnceItIsFull) {
  const Bytes one(1'024'000);
  EXPECT_THAT(gradient_buckets(three_layers(one, one)), ElementsAre(one, one, one));
  EXPECT_THAT(gradient_buckets(three_layers(one, one + Bytes(1))), ElementsAre(one, one * 2));
  EXPECT_THAT(gradient_buckets(three_layers(one * 2, one)), ElementsAre(one * 2, one));
  EXPECT_THAT(gradient_buckets(three_layers(one * 100, one * 100)), ElementsAre(one * 3));
}

TEST(LayerTable, EveryGradientIsReducedOnce) {
  const LayeredModel model = shipped("vgg16");
  Bytes sum;
  for (const Bytes bytes : gradient_buckets(model)) sum += bytes;
  EXPECT_EQ(sum, Bytes(138357544LL * 4));
  const StepPlan plan = build_layered_step(model, {.ranks = 64});
  EXPECT_EQ(plan.communication.front().front(), sum);
  EXPECT_EQ(plan.graph.rank_count(), 64U);
  EXPECT_EQ(check_task_graph(plan.graph), "");
}

TEST(LayerTable, OneRankReducesNothing) {
  const StepPlan plan = build_layered_step(three_layers(Bytes(1), Bytes(1)), {.ranks = 1});
  EXPECT_THAT(plan.graph.dimensions, IsEmpty());
  EXPECT_THAT(plan.communication.front(), IsEmpty());
  EXPECT_EQ(check_task_graph(plan.graph), "");
}

// 2 x 1000 x 256 for one GEMM and sample; 3 forward, 3 weight gradients, 2 input gradients; 8 samples.
TEST(LayerTable, TheFirstLayerNeedsNoInputGradient) {
  const StepPlan plan = build_layered_step(three_layers(Bytes(1), Bytes(1)), {.ranks = 2});
  const double expected = 2.0 * 1000 * 256 * 8 * 8;
  EXPECT_DOUBLE_EQ(plan.model_flops.count(), expected);
  Flops of_kernels;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind == TaskKind::kCompute) of_kernels += total_flops(plan.graph.works[task.detail]);
  }
  EXPECT_DOUBLE_EQ(of_kernels.count(), expected / 2);
}

std::int64_t winograd_layers(const LayeredModel& model) {
  std::int64_t count = 0;
  for (const LayerRow& row : model.layers) count += has_winograd(model, row) ? row.count : 0;
  return count;
}

// All 3 x 3 convolutions of VGG-16 but the one of three channels; those of ResNet-50 without the three of stride 2 that
// begin its stages, and without the first layer's 7 x 7.
TEST(LayerTable, ConvolutionsOfStrideOneHaveWinograd) {
  EXPECT_EQ(winograd_layers(shipped("vgg16")), 12);
  EXPECT_EQ(winograd_layers(shipped("resnet50")), 13);
  EXPECT_EQ(winograd_layers(read("preset: vgg16, global_batch: 64, convolution: direct").model), 0);
  EXPECT_EQ(winograd_layers(read("preset: vgg16, global_batch: 64, precision: fp16").model), 0);
}

// 16 instead of 36 products for four outputs of a channel, and 32 additions an input channel, 24 an output channel.
TEST(LayerTable, WinogradHasFewerProducts) {
  constexpr double kPositions = 784, kChannels = 64, kOutputs = 32, kSamples = 8;
  LayeredModel model{.name = "one",
                     .layers = {{.name = "conv", .positions = 784, .k = 576, .n = 32, .inputs = 784 * 64,
                                 .epilogue = LayerEpilogue::kNone, .activates = false}},
                     .global_batch = 8,
                     .first_bucket = Bytes(1),
                     .bucket = Bytes(1)};
  const auto forward = [&] {
    const StepPlan plan = build_layered_step(model, {.ranks = 1});
    return plan.graph.works.front().kernels.front().flops.count();
  };
  const double tiles = kPositions / 4 * kSamples;
  EXPECT_DOUBLE_EQ(forward(), tiles * (32 * kChannels * kOutputs + 32 * kChannels + 24 * kOutputs));
  model.convolution = ConvolutionAlgorithm::kDirect;
  EXPECT_DOUBLE_EQ(forward(), 2 * kPositions * 9 * kChannels * kOutputs * kSamples);
}

// 14 x 14 outputs are 4 x 4 tiles of 4 x 4, the last of which reach over the edge; 36 products a tile; transforms that
// write and read 36 values a tile.
TEST(LayerTable, WideConvolutionsHaveLargeTiles) {
  constexpr double kTiles = 16 * 8, kChannels = 128, kOutputs = 256;
  const LayeredModel model{.name = "one",
                           .layers = {{.name = "conv", .positions = 196, .k = 128 * 9, .n = 256, .inputs = 196 * 128,
                                       .epilogue = LayerEpilogue::kNone, .activates = false}},
                           .global_batch = 8,
                           .first_bucket = Bytes(1),
                           .bucket = Bytes(1)};
  const StepPlan plan = build_layered_step(model, {.ranks = 1});
  const std::vector<Kernel>& kernels = plan.graph.works.front().kernels;
  ASSERT_GE(kernels.size(), 3U);
  EXPECT_EQ(kernels[0].name, "winograd inputs");
  EXPECT_EQ(kernels[0].bytes.count(), 4 * (196 * 8 * 128 + static_cast<std::int64_t>(36 * kTiles * kChannels)));
  EXPECT_EQ(kernels[1].batch, 36);
  EXPECT_DOUBLE_EQ(kernels[1].flops.count(), 2 * 36 * kTiles * kChannels * kOutputs);
  EXPECT_EQ(kernels[2].bytes.count(), 4 * (196 * 8 * 256 + static_cast<std::int64_t>(36 * kTiles * kOutputs)));
}

// Weights 3 x 256,000 x 4 bytes; 4 samples of 1000 inputs and 3 x 256 outputs in fp32; one momentum.
TEST(LayerTable, MemoryIsThatOfItsTensors) {
  const StageMemory memory = layered_memory(three_layers(Bytes(1), Bytes(1)), {.ranks = 2}, {});
  EXPECT_EQ(memory.of("weights"), Bytes(3'072'000));
  EXPECT_EQ(memory.of("gradients"), Bytes(3'072'000));
  EXPECT_EQ(memory.of("optimizer state"), Bytes(3'072'000));
  EXPECT_EQ(memory.of("activations"), Bytes(4 * (1000 + 3 * 256) * 4));
}

TEST(LayerTable, MistakesHaveTheirCodes) {
  EXPECT_THAT(read("global_batch: 8, layers: []").codes, ElementsAre("E540"));
  EXPECT_THAT(read("global_batch: 8, layers: [{name: a, count: 10000, k: 1, n: 1, inputs: 1}, "
                   "{name: b, k: 1, n: 1, inputs: 1}]")
                  .codes,
              ElementsAre("E540"));
  const ReadTable uneven = read("preset: resnet50, global_batch: 100", 16);
  EXPECT_THAT(uneven.codes, ElementsAre("E541"));
  EXPECT_EQ(uneven.model.global_batch, 96);
  // 2^48 weights of 4 bytes are 1.1e15 bytes each time.
  EXPECT_THAT(read("global_batch: 1, layers: [{name: a, count: 100, k: 16777216, n: 16777216, inputs: 1}]").codes,
              ElementsAre("E542"));
  // 1e9 samples of 2^48 outputs.
  const ReadTable vast = read("global_batch: 1000000000, layers: [{name: a, positions: 16777216, k: 1, n: 16777216, "
                              "inputs: 1}]");
  EXPECT_THAT(vast.codes, ElementsAre("E542"));
  EXPECT_EQ(check_task_graph(build_layered_step(vast.model, {.ranks = 1}).graph), "");
  GpuSpec gpu;
  gpu.name = "GPU";
  gpu.peak[static_cast<std::size_t>(DataType::kFp32)] = FlopRate(1e13);
  EXPECT_THAT(read("preset: resnet50, global_batch: 16, precision: bf16", 16, gpu).codes, ElementsAre("E135"));
  EXPECT_THAT(read("preset: resnet50, global_batch: 16", 16, gpu).codes, IsEmpty());
}

}  // namespace
}  // namespace ringwright::workload::layered_test
