// Host memory and drives as tiers: the models that fit on one GPU with them, and the separate read and write speeds of
// a drive.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::memory_tiers_test {
namespace {

// ZeRO-Offload (arXiv 2101.06840, section 6): 65 layers of 4096 channels are 13 billion parameters, 7 of 4096 are 1.4.
Bytes on_one_v100(int layers, const std::string& zero) {
  const Scenario scenario = load(fmt::format(
      "model: {{num_layers: {}, hidden_size: 4096, num_attention_heads: 32, ffn_hidden_size: 16384, activation: gelu, "
      "vocab_size: 50257, seq_length: 1024, untie_embeddings_and_output_weights: false}}\n"
      "training: {{global_batch: 1, precision: fp16, recompute: full, grad_reduce_dtype: bf16}}\n"
      "parallel: {{zero: {{{}}}}}\n"
      "cluster: {{nodes: 1, node: {{preset: dgx2-v100, gpus: 1}}, fabric: {{type: single_node}}}}\n",
      layers, zero));
  return memory_rows(scenario).front().total;
}

TEST(MemoryTiers, AV100HoldsTenTimesTheModelWhenTheHostHoldsItsState) {
  const Bytes v100(std::int64_t{32} << 30U);
  const std::string offloaded = "stage: 2, offload_optimizer: {device: cpu}";
  EXPECT_LT(on_one_v100(65, offloaded), v100);
  EXPECT_GT(on_one_v100(80, offloaded), v100);
  EXPECT_LT(on_one_v100(7, "stage: 0"), v100);
  EXPECT_GT(on_one_v100(10, "stage: 0"), v100);
}

double seconds(const std::string& read, const std::string& write) {
  const Scenario scenario = load(fmt::format(
      "model: {{preset: llama3-8b, num_layers: 2}}\ntraining: {{global_batch: 1}}\n"
      "parallel: {{zero: {{stage: 0, offload_optimizer: {{device: nvme}}}}}}\n"
      "cluster: {{nodes: 1, node: {{preset: dgx-h100, gpus: 1, storage: {{drives: 2, read: {}, write: {}}}}}, "
      "fabric: {{type: single_node}}}}\n",
      read, write));
  return to_seconds(play(scenario).time());
}

// Optane in app-direct mode reads 6.6 GB/s and writes 2.3 GB/s; one drive on the GPU's socket. Sub-groups are read,
// updated and written one after the other, 12 bytes of every parameter in each direction.
TEST(MemoryTiers, ADriveReadsAndWritesAtItsOwnSpeeds) {
  const Scenario scenario = load(
      "model: {preset: llama3-8b, num_layers: 2}\ntraining: {global_batch: 1}\nparallel: {}\n"
      "cluster: {nodes: 1, node: {preset: dgx-h100, gpus: 1}, fabric: {type: single_node}}\n");
  const auto parameters = static_cast<double>(assemble(scenario)->plan().stage_parameters[0]);
  const double both = seconds("6.6GB/s", "2.3GB/s");
  EXPECT_NEAR(both - seconds("6.6GB/s", "6.6GB/s"), 12.0 * parameters * (1.0 / 2.3e9 - 1.0 / 6.6e9), 1e-3 * both);
  EXPECT_NEAR(both - seconds("13.2GB/s", "2.3GB/s"), 12.0 * parameters * (1.0 / 6.6e9 - 1.0 / 13.2e9), 1e-3 * both);
}

// Narayanan et al. (arXiv 2104.04473, section 5.1): 300 billion tokens through GPT-3 take 1024 A100 at 140 TFLOP/s each
// 33.9 days by 8 T P / (n X), with all layers recomputed; their formula (3) adds attention and logits to that.
TEST(TrainingTime, IsThatOfTheFormula) {
  const Scenario scenario = load(
      "model: {preset: gpt3-175b}\ntraining: {global_batch: 1536, precision: fp16, attention: unfused, recompute: "
      "full}\n"
      "parallel: {tp: 8, pp: 8, dp: auto}\n"
      "cluster: {nodes: 128, node: {preset: dgx-a100}, fabric: {type: fat_tree, leaf: {ports: 512}}}\n");
  const auto simulation = assemble(scenario);
  const double steps = 300e9 / static_cast<double>(simulation->plan().tokens);
  const double days = simulation->plan().hardware_flops.count() * steps / (1024.0 * 140e12) / 86400.0;
  const double b = 1536, s = 2048, l = 96, h = 12288, v = 51200;
  const double closed =
      96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h)) * steps / (1024.0 * 140e12) / 86400.0;
  EXPECT_NEAR(days, closed, 2e-3 * closed);
  EXPECT_NEAR(8 * 300e9 * 174.6e9 / (1024.0 * 140e12) / 86400.0, 33.9, 0.1);
  EXPECT_NEAR(days, 33.9, 0.03 * 33.9);
}

}  // namespace
}  // namespace ringwright::configs::memory_tiers_test
