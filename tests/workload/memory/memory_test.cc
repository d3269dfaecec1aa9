#include "workload/memory/memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/table.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::memory_test {
namespace {

using namespace ringwright::literals;

double gib(Bytes bytes) {
  return static_cast<double>(bytes.count()) / static_cast<double>((1_GiB).count());
}

StageMemory first_stage(const TableRow& row, const std::string& recompute, bool sequence_parallel) {
  const JobText job(
      fmt::format(
          "model: {{preset: {}}}\n"
          "training: {{global_batch: {}, micro_batch: {}, precision: fp16, attention: unfused, recompute: {}}}\n"
          "parallel: {{tp: 8, pp: {}, virtual_stages: {}, schedule: {}, sequence_parallel: {}}}\n",
          row.at("model"), whole(row, "global_batch"), whole(row, "micro_batch"), recompute, whole(row, "pp"),
          whole(row, "virtual_stages"), whole(row, "virtual_stages") > 1 ? "interleaved-1f1b" : "1f1b",
          sequence_parallel),
      8 * whole(row, "pp"));
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return memory_ledger(job.inputs(), {}).front();
}

TEST(Memory, ActivationsAreThoseOfKorthikantiWithinOnePercent) {
  const std::vector<TableRow> rows = read_table("korthikanti_memory.csv");
  ASSERT_EQ(rows.size(), 4U);
  for (const TableRow& row : rows) {
    const double baseline = gib(first_stage(row, "none", false).of("layer activations"));
    const double best = gib(first_stage(row, "selective", true).of("layer activations"));
    EXPECT_NEAR(baseline / number(row, "activations_gib"), 1.0, 0.001) << row.at("model");
    EXPECT_NEAR(best / number(row, "selective_sequence_gib"), 1.0, 0.001) << row.at("model");
  }
}

// The figure's percentages lie within 0.14 points of the paper's own formulas (2 / 21 = 9.52 % where 9.42 % is read).
TEST(Memory, SavingsAreThoseOfKorthikantiWithinAFractionOfAPercentOfTheBaseline) {
  for (const TableRow& row : read_table("korthikanti_memory.csv")) {
    const double baseline = gib(first_stage(row, "none", false).of("layer activations"));
    const auto percent = [&](const std::string& recompute, bool sequence_parallel) {
      return 100.0 * gib(first_stage(row, recompute, sequence_parallel).of("layer activations")) / baseline;
    };
    EXPECT_NEAR(number(row, "none_pct"), 100.0, 1e-9);
    EXPECT_NEAR(percent("none", true), number(row, "sequence_pct"), 0.15) << row.at("model");
    EXPECT_NEAR(percent("selective", false), number(row, "selective_pct"), 0.15) << row.at("model");
    EXPECT_NEAR(percent("selective", true), number(row, "sequence_selective_pct"), 0.15) << row.at("model");
    EXPECT_NEAR(percent("full", false), number(row, "full_pct"), 0.15) << row.at("model");
  }
}

// The figure counts the layers' matrices only, 18 bytes for each of 12 L h^2 / (tp pp) parameters; biases, norms and
// the embedding of the first stage are left out of it, so the embedding's share is subtracted here too.
TEST(Memory, ModelStateIsThatOfKorthikantiWithinOnePercent) {
  for (const TableRow& row : read_table("korthikanti_memory.csv")) {
    const StageMemory memory = first_stage(row, "none", false);
    const Bytes state = memory.of("weights") + memory.of("gradients") + memory.of("optimizer");
    const JobText job("model: {preset: " + row.at("model") + "}\ntraining: {global_batch: 1}\n", 1);
    std::int64_t edges = count_elements(embedding_tensors(job.shape, 8));
    if (whole(row, "pp") == 1) edges += count_elements(head_tensors(job.shape, 8, OutputWeights::kShared));
    EXPECT_NEAR(gib(state - Bytes(18 * edges)) / number(row, "state_gib"), 1.0, 0.01) << row.at("model");
  }
}

TEST(Memory, ModernLayersStoreTheTensorsThatFlashAttentionAndSwigluNeed) {
  // (s b / t)(8h + 4ad + 4kd + 4a + 6f) with sequence parallelism: s 8192, h 16384, ad 16384, kd 1024, a 128, f 53248,
  // t 8.
  const JobText job(
      "model: {preset: llama3.1-405b}\ntraining: {global_batch: 2}\nparallel: {tp: 8, sequence_parallel: true}\n", 8);
  const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
  const std::int64_t expected = 8192 / 8 * (8 * 16384 + 4 * 16384 + 4 * 1024 + 4 * 128 + 6 * 53248);
  EXPECT_EQ(layer_activations(context), Bytes(expected));
}

// In two bytes: inputs of the layer's norms and of the first GEMMs (4 h), for each head queries and keys of 192, values
// and results of 128, latent vectors before and after their norms, and 3 f of the MLP; and 4 a for the softmax.
// DeepSeek-V2-Lite has no latent vector of queries.
TEST(Memory, LatentAttentionStoresItsLatentVectorsBeforeAndAfterTheirNorms) {
  const auto kept = [](const std::string& model, const std::string& training) {
    const JobText job("model: {preset: " + model + ", seq_length: 4096}\ntraining: {global_batch: 1" + training + "}\n",
                      1);
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel), {.mlp = MlpKind::kDense});
  };
  const auto layer = [](std::int64_t h, std::int64_t a, std::int64_t f, std::int64_t latent) {
    return Bytes(4096 * (2 * (4 * h + a * (2 * 192 + 2 * 128) + latent + 3 * f) + 4 * a));
  };
  EXPECT_EQ(kept("deepseek-v3", ""), layer(7168, 128, 18432, 2 * (1536 + 512)));
  EXPECT_EQ(kept("deepseek-v2-lite", ""), layer(2048, 16, 10944, 2 * 512));
  // Norms that start from their output store it alone.
  EXPECT_EQ(kept("deepseek-v3", "") - kept("deepseek-v3", ", memory_efficient_layer_norm: true"),
            Bytes(4096 * 2 * (2 * 7168 + 1536 + 512)));
}

TEST(Memory, OptimizerStateIsShardedOverReplicas) {
  const auto stage = [](const std::string& zero) {
    const JobText job(small_model(4) + "training: {global_batch: 8}\nparallel: {dp: 4, zero: {stage: " + zero + "}}\n",
                      4);
    return memory_ledger(job.inputs(), {}).front();
  };
  const JobText job(small_model(4) + "training: {global_batch: 8}\n", 4);
  const std::int64_t elements = job.plan().stage_parameters[0];
  EXPECT_EQ(stage("0").of("weights"), Bytes(2 * elements));
  EXPECT_EQ(stage("0").of("gradients"), Bytes(4 * elements));
  EXPECT_EQ(stage("0").of("optimizer"), Bytes(12 * elements));
  // A quarter of the elements, padded to 4 x 64.
  EXPECT_EQ(stage("1").of("optimizer"), Bytes(12 * ((elements + 255) / 256 * 64)));
}

// ZeRO, arXiv 1910.02054, figure 1: 7.5 billion parameters on 64 GPUs take 120, 31.4, 16.6 and 1.9 GB.
TEST(Memory, ModelStateByStageIsThatOfTheZeroPaper) {
  const std::vector<double> published = {120.0, 31.4, 16.6, 1.9};
  for (std::size_t stage = 0; stage < published.size(); ++stage) {
    const std::string all = stage == 3 ? ", stage3_param_persistence_threshold: 0" : "";
    const JobText job("model: {preset: llama3-8b}\ntraining: {global_batch: 64, grad_reduce_dtype: bf16}\n" +
                          fmt::format("parallel: {{zero: {{stage: {}{}}}}}\n", stage, all),
                      64);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    const StageMemory memory = memory_ledger(job.inputs(), {}).front();
    const Bytes state = memory.of("weights") + memory.of("gradients") + memory.of("optimizer");
    const double each = static_cast<double>(state.count()) / static_cast<double>(job.plan().stage_parameters[0]);
    EXPECT_NEAR(7.5 * each, published[stage], 0.05) << stage;
  }
}

// The whole ledger, with microbatches to add up: stage 2 holds only a rank's share of gradients, those of the current
// microbatch, and the bucket (reduce_bucket_size, here a million elements of two bytes; two that overlap).
TEST(Memory, Stage2StoresABucketWhereStage1StoresAllGradients) {
  const auto ledger = [](const std::string& zero) {
    const JobText job(
        "model: {preset: llama3-8b}\ntraining: {global_batch: 128, grad_reduce_dtype: bf16}\n"
        "parallel: {zero: {" +
            zero + "}}\n",
        64);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    return memory_ledger(job.inputs(), {}).front();
  };
  const StageMemory one = ledger("stage: 1");
  const StageMemory two = ledger("stage: 2, reduce_bucket_size: 1000000");
  EXPECT_EQ(one.of("gradients"), one.of("weights"));
  EXPECT_NEAR(gib(two.of("gradients")), gib(one.of("weights")) / 64, 0.001);
  EXPECT_EQ(two.of("microbatch gradients"), two.of("gradients"));
  EXPECT_EQ(two.of("reduction buffer"), Bytes(2'000'000));
  const StageMemory overlapped = ledger("stage: 2, reduce_bucket_size: 1000000, overlap_comm: true");
  EXPECT_EQ(overlapped.of("reduction buffer"), Bytes(4'000'000));
  EXPECT_EQ(two.of("gradient accumulators"), Bytes(0));
  const Bytes saved = one.of("gradients") - two.of("gradients") * 2 - two.of("reduction buffer");
  EXPECT_EQ(one.total() - two.total(), saved);
}

// Whole gradients of one chunk at a time: half of a stage's, where stage 1 has all of them.
TEST(Memory, GroupsOfMicrobatchesNeedTheGradientsOfOneChunk) {
  const JobText job(small_model(8) +
                        "training: {global_batch: 8}\nparallel: {pp: 2, virtual_stages: 2, "
                        "schedule: interleaved-1f1b, zero: {stage: 2, reduce_every: microbatch_group}}\n",
                    4);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  const std::vector<ModelChunk> parts = stage_chunks(job.shape, job.parallel, 0);
  const std::int64_t larger = std::max(count_trainable({parts[0]}), count_trainable({parts[1]}));
  EXPECT_EQ(memory_ledger(job.inputs(), {}).front().of("gradient accumulators"), Bytes(4 * larger));
}

// Megatron's --memory-efficient-layer-norm: the inputs of two norms, 2 bytes each of s h values, are not stored.
TEST(Memory, NormsThatStartFromTheirOutputFreeTheirInput) {
  const auto kept = [](const std::string& key) {
    const JobText job(small_model(2) + "training: {global_batch: 1" + key + "}\n", 1);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
    return std::pair(layer_activations(context), Bytes(2 * 2 * context.tokens() * job.shape.hidden));
  };
  const auto [plain, inputs] = kept("");
  EXPECT_EQ(plain - kept(", memory_efficient_layer_norm: true").first, inputs);
  EXPECT_EQ(kept(", memory_efficient_layer_norm: true, recompute: selective, recompute_modules: [layernorm]").first,
            kept(", recompute: selective, recompute_modules: [layernorm]").first);
}

// Peak of the fullest stage, without allocator and library overhead.
TEST(Memory, PeakIsThatOfMegatronOnB200WithinTwoPercent) {
  const std::vector<TableRow> rows = read_table("simumax_b200_memory.csv");
  ASSERT_EQ(rows.size(), 4U);
  for (const TableRow& row : rows) {
    const JobText job(
        fmt::format("model: {{preset: llama3-70b, num_layers: 12, seq_length: 4096}}\n"
                    "training: {{global_batch: {}, micro_batch: 1, transformer_impl: transformer_engine}}\n"
                    "parallel: {{tp: {}, pp: {}, sequence_parallel: {}, zero: {{stage: 1}}}}\n",
                    4 * whole(row, "dp"), whole(row, "tp"), whole(row, "pp"), row.at("sequence_parallel")),
        8);
    double most = 0.0;
    for (const StageMemory& stage : memory_ledger(job.inputs(), {})) most = std::max(most, gib(stage.total()));
    EXPECT_NEAR(most / number(row, "measured_gib"), 1.0, 0.02) << "tp " << row.at("tp");
  }
}

// Two bytes per parameter, in addition to the four of the sums.
TEST(Memory, CopiedGradientsOfAMicrobatchStay) {
  const auto of = [](const std::string& kind) {
    const JobText job(small_model(2) + "training: {global_batch: 1, gradient_accumulation: " + kind + "}\n", 1);
    return memory_ledger(job.inputs(), {}).front();
  };
  EXPECT_EQ(of("copied").of("microbatch gradients"), of("copied").of("weights"));
  EXPECT_EQ(of("copied").of("gradients"), of("copied").of("weights") * 2);
  EXPECT_EQ(of("separate").of("microbatch gradients"), Bytes(0));
}

// DeepSpeed: a weight's gradient of 2 bytes in addition to those of the step, in fp32 once more for its BF16_Optimizer.
TEST(Memory, AGradientThatIsAddedLaterNeedsExtraMemory) {
  const auto largest = [](const std::string& sum) {
    const JobText job(
        "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 4, vocab_size: 1024, seq_length: 32}\n"
        "training: {global_batch: 1, gradient_accumulation: " +
            sum + "}\nparallel: {}\n",
        1);
    return memory_ledger(job.inputs(), {}).front().of("largest gradient");
  };
  EXPECT_EQ(largest("fused"), 0_B);
  EXPECT_EQ(largest("separate"), Bytes(2 * 1024 * 64));  // of the embedding
  EXPECT_EQ(largest("copied"), Bytes((2 + 4) * 1024 * 64));
}

// Of the gradients of two ranks' weights each updates a half: 2 bytes as received and 4 as used.
TEST(Memory, DeepSpeedUpdatesFromOneTensor) {
  const auto ledger = [](const std::string& zero, const std::string& dtype) {
    const JobText job(
        "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 4, vocab_size: 1024, seq_length: 32}\n"
        "training: {global_batch: 2, grad_reduce_dtype: " +
            dtype + "}\nparallel: {zero: {stage: 1, " + zero + "}}\n",
        2);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    return memory_ledger(job.inputs(), {}).front();
  };
  const StageMemory plain = ledger("flat_gradients: false", "bf16");
  const StageMemory flat = ledger("flat_gradients: true", "bf16");
  EXPECT_EQ(plain.of("flat gradients"), 0_B);
  EXPECT_EQ(flat.of("flat gradients").count(), plain.of("optimizer").count() / 2);  // 6 bytes for 12
  EXPECT_EQ(flat.of("reduction buffer"), Bytes(2 * 500'000'000));                   // reduce_bucket_size, always
  EXPECT_EQ(ledger("flat_gradients: true", "fp32").of("flat gradients"), 0_B);      // they are views
}

TEST(Memory, TheLossNeedsTheMemoryOfItsKernel) {
  const auto logits = [](const std::string& kind, int tp = 1) {
    const JobText job(small_model(2) + "training: {global_batch: 1, cross_entropy: " + kind +
                          "}\nparallel: {tp: " + std::to_string(tp) + "}\n",
                      tp);
    const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
    return head_activations(context) + head_workspace(context);
  };
  // 32 tokens, 1024 logits each; inputs of the final norm and of the output layer, 64 wide, in two bytes.
  const std::int64_t inputs = 2 * 2 * 32 * 64;
  EXPECT_EQ(logits("split"), Bytes(inputs + 6 * 32 * 1024));
  EXPECT_EQ(logits("split-fused"), logits("split"));
  EXPECT_EQ(logits("fused"), Bytes(inputs + 2 * 32 * 1024));
  EXPECT_EQ(logits("eager"), Bytes(inputs + 12 * 32 * 1024));
  EXPECT_EQ(logits("eager", 2), Bytes(inputs + 16 * 32 * 1024 / 2));  // PyTorch's split loss
  EXPECT_EQ(logits("compiled"), Bytes(inputs + 4 * 32 * 1024));
  EXPECT_EQ(logits("chunked"), Bytes(inputs + 6 * 32 * 64 + 2 * (32 + 1024) * 64));  // gradients of input and weights
}

// Two layers of a small model store less than its 1024 logits of each of 32 tokens, which are the peak; an eager loss
// leaves their bf16 block to the allocator.
TEST(Memory, AnEagerLossLeavesABlockThatFitsNothingLater) {
  const auto fragments = [](const std::string& kind) {
    const JobText job(small_model(2) + "training: {global_batch: 1, cross_entropy: " + kind + "}\n", 1);
    return memory_ledger(job.inputs(), {.fragmentation = 0.0}).front().of("fragmentation");
  };
  EXPECT_EQ(fragments("eager"), Bytes(2 * 32 * 1024));
  EXPECT_EQ(fragments("compiled"), 0_B);
}

TEST(Memory, ShardedParametersAreWholeOnlyWhileTheyAreUsed) {
  const JobText job(small_model(4) + "training: {global_batch: 8}\nparallel: {fsdp: {wrap_ends: true}}\n", 8);
  const StageMemory memory = memory_ledger(job.inputs(), {}).front();
  const std::int64_t layer =
      count_elements(attention_tensors(job.shape, 1)) + count_elements(mlp_tensors(job.shape, 1));
  const std::int64_t head = count_elements(head_tensors(job.shape, 1, OutputWeights::kOwn));
  EXPECT_GE(memory.of("gathered parameters"), Bytes(2 * layer));
  EXPECT_LE(memory.of("gathered parameters"), Bytes(2 * (head + 2 * layer)));
}

// A layer more, and in two bytes the next token's embedding and two joined vectors of 64 values for each of 32 tokens.
TEST(Memory, MultiTokenPredictionStoresWhatItJoins) {
  const auto kept = [](const std::string& model) {
    const JobText job("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, vocab_size: 64, seq_length: 32" +
                          model + "}\ntraining: {global_batch: 1, cross_entropy: fused}\n",
                      1);
    return memory_ledger(job.inputs(), {}).front().of("layer activations");
  };
  EXPECT_EQ(kept(", mtp_num_layers: 1"), kept("") + kept("") / 2 + Bytes(2 * 3 * 32 * 64));
}

// Megatron, multi_token_prediction.py: a checkpoint of _proj_and_transformer_layer has two inputs, the hidden state and
// the next token's embedding. A layer more that is recomputed, and the projection once more.
TEST(Memory, APredictorIsRecomputedWithItsProjection) {
  const auto job = [](const std::string& recompute, const std::string& model = "") {
    return JobText("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, vocab_size: 64, seq_length: 32" +
                       model + "}\ntraining: {global_batch: 1, cross_entropy: fused, recompute: " + recompute + "}\n",
                   1);
  };
  const auto projections = [&](const std::string& recompute) {
    const StepPlan plan = job(recompute, ", mtp_num_layers: 1").plan();
    std::int64_t count = 0;
    for (const Task& task : plan.graph.programs[0].tasks) {
      if (task.kind != TaskKind::kCompute) continue;
      const auto& kernels = plan.graph.works[task.detail].kernels;
      count += std::ranges::count(kernels, "predictor projection", &Kernel::name);
    }
    return count;
  };
  EXPECT_EQ(projections("none"), 1);
  EXPECT_EQ(projections("full"), 2);
  EXPECT_EQ(projections("full, recompute_method: block, recompute_num_layers: 9"), 1);
  const auto kept = [&](const std::string& model) {
    return memory_ledger(job("full", model).inputs(), {}).front().of("layer activations");
  };
  EXPECT_EQ(kept(", mtp_num_layers: 1"), kept("") + Bytes(2 * 2 * 32 * 64));
}

TEST(Memory, EarlyStagesHoldMoreMicrobatchesThanLateOnes) {
  const JobText job(small_model(8) + "training: {global_batch: 16}\nparallel: {pp: 4}\n", 4);
  const auto ledger = memory_ledger(job.inputs(), {});
  const Bytes last = ledger[3].of("layer activations");
  EXPECT_EQ(ledger[0].of("layer activations"), last * 4);
  EXPECT_EQ(ledger[2].of("layer activations"), last * 2);
}

TEST(Memory, AssumptionsAreMarkedAndCountedByCommunicator) {
  const JobText job(small_model(8) + "training: {global_batch: 16}\nparallel: {pp: 2, tp: 2}\n", 4);
  const StageMemory memory =
      memory_ledger(job.inputs(), {.cuda_context = 700_MiB, .communicator = 100_MiB, .fragmentation = 0.1}).front();
  EXPECT_EQ(memory.of("CUDA context"), 700_MiB);
  EXPECT_EQ(memory.of("communicators"), 300_MiB);  // tp, pp, and both together
  int assumed = 0;
  for (const MemoryItem& item : memory.items) assumed += item.evidence == Evidence::kAssumed ? 1 : 0;
  EXPECT_EQ(assumed, 3);
}

TEST(Memory, AFrameworkMayHaveMoreCommunicatorsThanTheLayout) {
  const JobText job(small_model(2) + "training: {global_batch: 8}\nparallel: {tp: 2}\n", 2);
  const MemoryAssumptions assumed{.cuda_context = 0_B, .communicator = 100_MiB, .more_communicators = 3};
  // In addition to those of tensor parallelism and of the gradient norm.
  EXPECT_EQ(memory_ledger(job.inputs(), assumed).front().of("communicators"), 500_MiB);
}

// They go by PCIe and no library.
TEST(Memory, CopiesToTheHostNeedNoCommunicator) {
  const auto communicators = [](const std::string& zero) {
    const JobText job(small_model(2) + "training: {global_batch: 8}\nparallel: {dp: 2, zero: {" + zero + "}}\n", 2);
    return memory_ledger(job.inputs(), {.communicator = 100_MiB}).front().of("communicators");
  };
  EXPECT_EQ(communicators("stage: 1"), 100_MiB);
  EXPECT_EQ(communicators("stage: 1, offload_optimizer: {device: cpu}"), 100_MiB);
}

TEST(Memory, DefaultAssumptionsAreListed) {
  auto document = ConfigDocument::load_text("m.yaml", "memory: {cuda_context: 1GiB}\n").value();
  ConfigMap memory = document.root().map("memory", "assumptions");
  const MemoryAssumptions assumed = read_memory_assumptions(memory);
  EXPECT_EQ(assumed.cuda_context, 1_GiB);
  ASSERT_EQ(document.log().assumptions().size(), 2U);
  EXPECT_EQ(document.log().assumptions()[0].path, "memory.communicator");
  EXPECT_EQ(document.log().assumptions()[1].path, "memory.fragmentation");
}

}  // namespace
}  // namespace ringwright::workload::memory_test
