// Sharded and offloaded training steps against formulas, with the same results folded and unfolded.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::sharded_step_test {
namespace {

using namespace literals;

// One host whose GPUs compute in no time; every pair of them is joined by 100 GB/s and 2 us.
std::string free_compute(int gpus) {
  return fmt::format(
      "cluster: {{nodes: 1, node: {{preset: dgx-h100, gpus: {}, gpu: {{kernel_launch: 0us, memory_bandwidth: "
      "1000000000TB/s, peak: {{bf16: 1000000000PFLOPS, fp32: 1000000000PFLOPS}}}}, nvlink: {{bandwidth: 100GB/s, "
      "efficiency: 100%, latency: 2us}}, pcie: {{switches: 1}}, nic: {{count: 0}}}}, fabric: {{type: single_node}}}}\n"
      "simulate: {{network: alpha_beta}}\ncompute: {{model: roofline}}\n",
      gpus);
}

// --- no computation to hide behind: gathers and scatters one after another ---

TEST(ShardedStep, WithoutComputationIsTheSumOfItsCollectives) {
  for (const int n : {2, 4, 8}) {
    const Scenario scenario = load(
        std::string(kTinyModel) + fmt::format("training: {{global_batch: {}}}\n", 2 * n) +
        "parallel: {dp: auto, fsdp: {}}\ncollectives: {overhead: none, dp: {algorithm: ring}}\n" + free_compute(n));
    const auto simulation = assemble(scenario);
    // A ring's gather or scatter takes n - 1 steps of 2 us + S / (n B), its all-reduce (of the norm) twice as many.
    Duration sum;
    const TaskGraph& graph = simulation->plan().graph;
    for (const Task& task : graph.programs.front().tasks) {
      if (task.kind != TaskKind::kCollective) continue;
      const CollectiveSpec& spec = graph.collectives[task.detail];
      const int turns = spec.kind == CollectiveKind::kAllReduce ? 2 : 1;
      const Bytes piece((spec.bytes.count() + n - 1) / n);
      sum += (2_us + transfer_time(piece, 100_GBps)) * (turns * (n - 1));
    }
    const Played played = play(scenario);
    const double ratio = to_seconds(played.time()) / to_seconds(sum);
    EXPECT_NEAR(ratio, 1.0, 2e-3) << n;  // kernels still take picoseconds, and the norm's 4 bytes do not divide
    EXPECT_GE(played.time(), played.in_flight(0, "dp"));
  }
}

// --- nothing to wait for: computation alone ---

TEST(ShardedStep, OverAnInfinitelyFastNetworkIsItsComputation) {
  const auto time_of = [](const std::string& parallel) {
    return play(load(std::string(kTinyModel) + "training: {global_batch: 8}\nparallel: {dp: auto, " + parallel + "}\n" +
                     "simulate: {network: alpha_beta}\ncollectives: {overhead: none}\n"
                     "cluster: {nodes: 1, node: {preset: dgx-h100, gpus: 4, nvlink: {bandwidth: 1000000TB/s, latency: "
                     "0us}, pcie: {switches: 1}, nic: {count: 0}}, fabric: {type: single_node}}\n"))
        .time();
  };
  // Prefetched, late or unlimited: the same work.
  EXPECT_NEAR(to_seconds(time_of("fsdp: {}")), to_seconds(time_of("fsdp: {limit_all_gathers: false}")), 1e-8);
  EXPECT_NEAR(to_seconds(time_of("fsdp: {}")), to_seconds(time_of("fsdp: {backward_prefetch: none}")), 1e-8);
}

// --- overlap ---

// A slower network costs a step with prefetched gathers less than one without.
TEST(ShardedStep, GatheringAheadHidesTime) {
  const auto time_of = [](const std::string& prefetch) {
    return play(load("model: {num_layers: 8, hidden_size: 2048, num_attention_heads: 16, ffn_hidden_size: 8192, "
                     "vocab_size: 1000, seq_length: 1024}\ntraining: {global_batch: 8}\n"
                     "parallel: {dp: auto, fsdp: {backward_prefetch: " +
                     prefetch +
                     "}}\ncluster: {nodes: 1, node: {preset: dgx-h100, nvlink: {bandwidth: 100GB/s}}, fabric: {type: "
                     "single_node}}\n"))
        .time();
  };
  EXPECT_LT(time_of("backward_pre"), time_of("none"));
  EXPECT_LE(time_of("backward_pre"), time_of("backward_post"));
}

// --- offload: one GPU, its host, and nothing else ---

TEST(OffloadedStep, TakesItsPathOverPcieAndTheCpusMemory) {
  const Scenario scenario = load(
      std::string(kTinyModel) +
      "training: {global_batch: 1}\nparallel: {zero: {offload_optimizer: {device: cpu}, cpu_adam_efficiency: 50%}}\n" +
      free_compute(1));
  const std::int64_t p = assemble(scenario)->plan().stage_parameters[0];
  // Out and back over two PCIe hops of 150 ns and 63 GB/s and into memory (100 ns); 42 bytes a parameter at half of the
  // socket's 307.2 GB/s.
  const Duration path = 150_ns * 2 + 100_ns + transfer_time(Bytes(2 * p), Bandwidth(63e9));
  const Duration adam = 100_ns + transfer_time(Bytes(84 * p), Bandwidth(307.2e9));
  const Duration expected = path * 2 + adam;
  EXPECT_NEAR(to_seconds(play(scenario).time()) / to_seconds(expected), 1.0, 1e-4);
}

// However many GPUs share a socket, its memory holds the same amount of state and is read and written as often.
TEST(OffloadedStep, RanksOfASocketShareItsMemory) {
  const auto time_of = [](int gpus) {
    return to_seconds(
        play(load(std::string(kTinyModel) +
                  fmt::format("training: {{global_batch: {}}}\nparallel: {{dp: auto, zero: {{stage: 1, "
                              "offload_optimizer: {{device: cpu}}, cpu_adam_efficiency: 1%}}}}\n",
                              gpus) +
                  fmt::format("cluster: {{nodes: 1, node: {{preset: dgx-h100, gpus: {}, pcie: {{switches: "
                              "{}}}, nic: {{count: 0}}}}, fabric: {{type: single_node}}}}\n",
                              gpus, gpus)))
            .in_flight(0, "host"));
  };
  // Each rank updates 1/n of the parameters, all at once: the same bytes through the same memory.
  EXPECT_NEAR(time_of(4) / time_of(8), 1.0, 0.02);
}

// --- folding ---

TEST(ShardedStep, FoldedIsUnfolded) {
  for (const std::string parallel :
       {"fsdp: {}", "fsdp: {sharding_strategy: hybrid_shard}", "fsdp: {cpu_offload: true}",
        "zero: {stage: 3, zero_hpz_partition_size: 4, zero_quantized_weights: true, zero_quantized_gradients: true}",
        "zero: {stage: 2, offload_optimizer: {device: nvme}}", "tp: 2, cpu_offloading_num_layers: 4"}) {
    const Scenario scenario =
        load(std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {dp: auto, " + parallel + "}\n" +
             "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4, nic: {count: 4}, pcie: {switches: 4}, storage: "
             "{drives: 2, read: 6GB/s, write: 3GB/s}}}\n");
    const Played folded = play(scenario, FoldMode::kFold);
    const Played whole = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.finished_at, whole.finished_at) << parallel;
  }
}

}  // namespace
}  // namespace ringwright::configs::sharded_step_test
