#include "workload/step/step_builder.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"

namespace ringwright::workload::step_builder_test {
namespace {

using testing::IsEmpty;

StepPlan plan_of(const std::string& parallel, const std::string& training = "", std::int64_t ranks = 8) {
  const JobText job(small_model(4) + "training: {global_batch: 8" + training + "}\nparallel: {" + parallel + "}\n",
                    ranks);
  EXPECT_THAT(job.problems(), IsEmpty()) << parallel;
  return job.plan();
}

// One activation of the small model: 32 tokens x 64 channels x 2 bytes. tp 2, pp 2, dp 2: four microbatches of one
// sequence on each replica, two layers on each stage.
constexpr std::int64_t kActivation = 4096;
constexpr std::int64_t kMicrobatches = 4;
constexpr std::int64_t kLayers = 2;
constexpr std::int64_t kLoss = 3 * 32 * 4;  // three reductions of one fp32 number per token

TEST(StepBuilder, TensorParallelismTakesFourAllReducesPerLayer) {
  const std::int64_t layers = kMicrobatches * kLayers * 4 * kActivation;
  const StepPlan plan = plan_of("tp: 2, pp: 2");
  // First stage: the embedding's all-reduce. Last stage: the logits' backward all-reduce, the loss.
  EXPECT_EQ(traffic(plan, 0, "tp"), Bytes(layers + kMicrobatches * kActivation));
  EXPECT_EQ(traffic(plan, 1, "tp"), Bytes(layers + kMicrobatches * (kActivation + kLoss)));
  // And the gathered incoming gradient, or activation.
  const StepPlan split = plan_of("tp: 2, pp: 2, scatter_gather_p2p: true");
  EXPECT_EQ(traffic(split, 0, "tp"), Bytes(layers + kMicrobatches * 2 * kActivation));
  EXPECT_EQ(traffic(split, 1, "tp"), Bytes(layers + kMicrobatches * (2 * kActivation + kLoss)));
}

TEST(StepBuilder, SequenceParallelismGathersColumnInputsAgain) {
  const StepPlan plan = plan_of("tp: 2, pp: 2, sequence_parallel: true");
  // Forward 2 gathers and 2 scatters, backward the same and 2 more gathers.
  const std::int64_t layers = kMicrobatches * kLayers * 10 * kActivation;
  // Norm weights of two layers see half of the sequence: 4 x 64 fp32 gradients are summed once per step.
  const std::int64_t norms = 4 * 64 * 4;
  EXPECT_EQ(traffic(plan, 0, "tp"), Bytes(layers + kMicrobatches * 2 * kActivation + norms));
  EXPECT_EQ(traffic(plan, 1, "tp"), Bytes(layers + kMicrobatches * (3 * kActivation + kLoss) + norms + 64 * 4));
}

TEST(StepBuilder, FullRecomputationRepeatsTheForwardCommunication) {
  const StepPlan once = plan_of("tp: 2, pp: 2");
  const StepPlan again = plan_of("tp: 2, pp: 2", ", recompute: full");
  const Bytes more = traffic(again, 0, "tp") - traffic(once, 0, "tp");
  EXPECT_EQ(more, Bytes(kMicrobatches * kLayers * 2 * kActivation));
}

TEST(StepBuilder, PipelineMessagesAreActivationsSplitOverTensorRanks) {
  EXPECT_EQ(traffic(plan_of("pp: 2", "", 4), 0, "pp"), Bytes(kMicrobatches * kActivation));
  const std::string split = "tp: 2, pp: 2, scatter_gather_p2p: true";
  EXPECT_EQ(traffic(plan_of(split), 0, "pp"), Bytes(kMicrobatches * kActivation / 2));
  EXPECT_EQ(traffic(plan_of("tp: 2, pp: 2, sequence_parallel: true"), 1, "pp"), Bytes(kMicrobatches * kActivation / 2));
  EXPECT_EQ(traffic(plan_of("tp: 2, pp: 2"), 1, "pp"), Bytes(kMicrobatches * kActivation)) << "as Megatron-Core";
}

// Of each microbatch stage 1 sends one gradient, none of which is gathered then.
TEST(StepBuilder, GradientsOfActivationsMayTravelWhole) {
  const std::string split = "tp: 2, pp: 2, scatter_gather_p2p: true";
  const StepPlan plan = plan_of(split + ", scatter_gather_p2p_gradients: false");
  EXPECT_EQ(traffic(plan, 0, "pp"), Bytes(kMicrobatches * kActivation / 2));
  EXPECT_EQ(traffic(plan, 1, "pp"), Bytes(kMicrobatches * kActivation));
  const Bytes gathered = traffic(plan_of(split), 0, "tp") - traffic(plan, 0, "tp");
  EXPECT_EQ(gathered, Bytes(kMicrobatches * kActivation));
}

// BF16_Optimizer all-reduces all gradients in fp32 and gathers the weights that each replica has updated.
TEST(StepBuilder, CopiedGradientsAreAllReducedEvenWhereTheOptimizerIsSharded) {
  const StepPlan plan = plan_of("zero: {stage: 1}", ", gradient_accumulation: copied");
  std::vector<CollectiveKind> kinds;
  for (const CollectiveSpec& spec : plan.graph.collectives) {
    if (spec.bytes > Bytes(4)) kinds.push_back(spec.kind);
  }
  EXPECT_THAT(kinds, testing::Contains(CollectiveKind::kAllReduce));
  EXPECT_THAT(kinds, testing::Contains(CollectiveKind::kAllGather));
  EXPECT_THAT(kinds, testing::Not(testing::Contains(CollectiveKind::kReduceScatter)));
}

TEST(StepBuilder, InterleavingSendsAtEveryBoundaryBetweenParts) {
  // Two stages of two chunks: three boundaries, each crossed by every microbatch in both directions. The first stage
  // sends two activations and one gradient of each microbatch.
  const StepPlan plan = plan_of("pp: 2, schedule: interleaved-1f1b, virtual_stages: 2", "", 4);
  EXPECT_EQ(traffic(plan, 0, "pp"), Bytes(kMicrobatches * 3 * kActivation));
  EXPECT_EQ(traffic(plan, 1, "pp"), Bytes(kMicrobatches * 3 * kActivation));
}

std::int64_t padded(std::int64_t elements, std::int64_t multiple) {
  return (elements + multiple - 1) / multiple * multiple;
}

TEST(StepBuilder, DataParallelismReducesFp32Gradients) {
  const StepPlan plan = plan_of("dp: 2", "", 2);
  EXPECT_EQ(traffic(plan, 0, "dp"), Bytes(4 * padded(plan.stage_parameters[0], 2 * 64)));
  const StepPlan narrow = plan_of("dp: 2", ", grad_reduce_dtype: bf16", 2);
  EXPECT_EQ(traffic(narrow, 0, "dp"), Bytes(2 * padded(plan.stage_parameters[0], 2 * 64)));
}

TEST(StepBuilder, ZeroStageOneScattersGradientsAndGathersParameters) {
  const StepPlan plan = plan_of("dp: 2, zero: {stage: 1}", "", 2);
  const std::int64_t elements = padded(plan.stage_parameters[0], 2 * 64);
  EXPECT_EQ(traffic(plan, 0, "dp"), Bytes(4 * elements + 2 * elements + 4));  // and one number for the norm
}

TEST(StepBuilder, BucketsAddUpToThePaddedGradients) {
  const StepPlan plan =
      plan_of("dp: 2, zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 64KiB}", "", 2);
  std::int64_t reduced = 0;
  std::int64_t gathered = 0;
  int buckets = 0;
  for (const Task& task : plan.graph.programs[0].tasks) {
    if (task.kind != TaskKind::kCollective) continue;
    const CollectiveSpec& spec = plan.graph.collectives[task.detail];
    if (spec.kind == CollectiveKind::kReduceScatter) {
      ++buckets;
      reduced += spec.bytes.count();
      EXPECT_EQ(spec.bytes.count() % (4 * 2 * 64), 0);
    }
    if (spec.kind == CollectiveKind::kAllGather) gathered += spec.bytes.count();
  }
  EXPECT_GT(buckets, 3);
  EXPECT_EQ(gathered * 2, reduced);
  EXPECT_GE(reduced, 4 * plan.stage_parameters[0]);
  EXPECT_LT(reduced, 4 * (plan.stage_parameters[0] + buckets * 2 * 64));
}

StepPlan with_tied_embeddings(const std::string& parallel, std::int64_t ranks) {
  const JobText job(
      "model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, vocab_size: 1000, seq_length: 32,"
      " untie_embeddings_and_output_weights: false}\n"
      "training: {global_batch: 8}\nparallel: {tp: 2, pp: 4" +
          parallel + "}\n",
      ranks);
  return job.plan();
}

TEST(StepBuilder, TiedEmbeddingsAreSummedBetweenFirstAndLastStage) {
  const StepPlan plan = with_tied_embeddings("", 8);
  // 1,000 tokens padded to 1,024, half of them on each tensor rank.
  EXPECT_EQ(traffic(plan, 0, "embedding"), Bytes(512 * 64 * 4));
  EXPECT_EQ(traffic(plan, 1, "embedding"), Bytes(0));
  EXPECT_EQ(traffic(plan, 3, "embedding"), Bytes(512 * 64 * 4));
}

// Of a gradient that two replicas share each sums its half; the distributed optimizer's buffer is whole on both.
TEST(StepBuilder, OfShardedGradientsOfTiedEmbeddingsEachReplicaSumsItsShare) {
  const auto summed = [](int stage) {
    return traffic(with_tied_embeddings(fmt::format(", dp: 2, zero: {{stage: {}}}", stage), 16), 0, "embedding");
  };
  EXPECT_EQ(summed(1), Bytes(512 * 64 * 4));
  EXPECT_EQ(summed(2), Bytes(512 * 64 * 4 / 2));
  EXPECT_EQ(summed(3), Bytes(512 * 64 * 4 / 2));
}

// --- arithmetic ---

StepPlan gpt(const std::string& training, const std::string& parallel, std::int64_t ranks) {
  const JobText job(
      "model: {num_layers: 4, hidden_size: 128, num_attention_heads: 8, vocab_size: 2048, seq_length: 64, activation: "
      "gelu}\n"
      "training: {global_batch: 8, attention: unfused" +
          training + "}\nparallel: {" + parallel + "}\n",
      ranks);
  EXPECT_THAT(job.problems(), IsEmpty());
  return job.plan();
}

constexpr double kB = 8, kL = 4, kS = 64, kH = 128, kV = 2048;

TEST(StepBuilder, HardwareFlopsAreTheModelsWithoutRecomputation) {
  const double closed = 72 * kB * kL * kS * kH * kH * (1 + kS / (6 * kH) + kV / (12 * kH * kL));
  for (const char* layout : {"tp: 1", "tp: 2, sequence_parallel: true", "tp: 8", "pp: 4", "tp: 2, pp: 2, dp: 2"}) {
    const StepPlan plan = gpt("", layout,
                              std::string(layout) == "tp: 1"                            ? 1
                              : std::string(layout) == "pp: 4"                          ? 4
                              : std::string(layout) == "tp: 2, sequence_parallel: true" ? 2
                                                                                        : 8);
    EXPECT_NEAR(plan.hardware_flops.count() / closed, 1.0, 1e-12) << layout;
    EXPECT_NEAR(plan.model_flops_full_attention.count() / closed, 1.0, 1e-12) << layout;
  }
}

TEST(StepBuilder, FullRecomputationNeeds96InsteadOf72) {
  const double closed = 96 * kB * kS * kL * kH * kH * (1 + kS / (6 * kH) + kV / (16 * kL * kH));
  EXPECT_NEAR(gpt(", recompute: full", "tp: 2, pp: 2", 8).hardware_flops.count() / closed, 1.0, 1e-12);
}

TEST(StepBuilder, SelectiveRecomputationRepeatsTheAttentionCore) {
  // 4 b s^2 h for each layer; model 12 b s^2 h.
  const double model = 72 * kB * kL * kS * kH * kH * (1 + kS / (6 * kH) + kV / (12 * kH * kL));
  const double extra = 4 * kB * kL * kS * kS * kH;
  EXPECT_NEAR(gpt(", recompute: selective", "tp: 2, pp: 2", 8).hardware_flops.count() / (model + extra), 1.0, 1e-12);
}

// --- time without a network ---

struct Pipeline {
  const char* schedule;
  int stages;
  int chunks;
  int microbatches;
};

std::int64_t played(const Pipeline& p, std::int64_t forward, std::int64_t backward) {
  const JobText job(
      fmt::format("{}training: {{global_batch: {}}}\nparallel: {{pp: {}, schedule: {}, virtual_stages: {}}}\n",
                  small_model(p.stages * p.chunks), p.microbatches, p.stages, p.schedule, p.chunks),
      p.stages);
  EXPECT_THAT(job.problems(), IsEmpty());
  const StepPlan plan = job.plan();
  return FreePlayer(plan.graph, {{"forward", forward / p.chunks}, {"backward", backward / p.chunks}})
      .play()
      .value_or(-1);
}

TEST(StepBuilder, TheBubbleIsPMinusOneForwardAndBackwardPasses) {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    for (const int p : {2, 3, 4, 8}) {
      for (const int m : {8, 9, 24}) {
        EXPECT_EQ(played({schedule, p, 1, m}, 10, 23), (m + p - 1) * (10 + 23)) << schedule << " " << p << " " << m;
      }
    }
  }
}

TEST(StepBuilder, InterleavingDividesTheBubbleByTheChunks) {
  for (const int v : {2, 3}) {
    for (const int p : {2, 4}) {
      for (const int m : {4, 8, 16}) {
        const int forward = 12;
        const int backward = 24;
        EXPECT_EQ(played({"interleaved-1f1b", p, v, m}, forward, backward),
                  m * (forward + backward) + (p - 1) * (forward + backward) / v)
            << v << " " << p << " " << m;
      }
    }
  }
}

// --- soundness ---

TEST(StepBuilder, GraphsOfManyLayoutsAreSoundAndRunToTheirEnd) {
  int graphs = 0;
  for (const char* tp : {"tp: 1", "tp: 2", "tp: 2, sequence_parallel: true"}) {
    for (const char* pp : {"pp: 1", "pp: 2", "pp: 2, schedule: gpipe", "pp: 4, overlap_p2p_comm: true",
                           "pp: 2, schedule: interleaved-1f1b, virtual_stages: 2", "pp: 4, stage_layers: trim-ends"}) {
      for (const char* zero : {"{stage: 0}", "{stage: 0, overlap_grad_reduce: true}", "{stage: 1}",
                               "{stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 32KiB}"}) {
        for (const char* recompute : {"none", "full"}) {
          const bool trims = std::string(pp).find("trim") != std::string::npos;
          const JobText job(
              fmt::format("{}training: {{global_batch: 16, recompute: {}}}\nparallel: {{{}, {}, dp: 2, zero: {}}}\n",
                          small_model(trims ? 6 : 4), recompute, tp, pp, zero),
              (std::string(tp) == "tp: 1" ? 1 : 2) * (pp[4] - '0') * 2);
          ASSERT_THAT(job.problems(), IsEmpty()) << tp << "; " << pp << "; " << zero;
          const StepPlan plan = job.plan();
          EXPECT_EQ(check_task_graph(plan.graph), "") << tp << "; " << pp << "; " << zero;
          EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << tp << "; " << pp << "; " << zero;
          ++graphs;
        }
      }
    }
  }
  EXPECT_EQ(graphs, 3 * 6 * 4 * 2);
}

TEST(StepBuilder, AGraphOf405BOn16384RanksStaysSmall) {
  const JobText job(
      "model: {preset: llama3.1-405b}\ntraining: {global_batch: 2048}\n"
      "parallel: {tp: 8, pp: 16, schedule: 1f1b, stage_layers: trim-ends, sequence_parallel: true,"
      " zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true}}\n",
      16384);
  ASSERT_THAT(job.problems(), IsEmpty());
  EXPECT_EQ(job.parallel.dp, 128);
  const StepPlan plan = job.plan();
  EXPECT_EQ(check_task_graph(plan.graph), "");
  EXPECT_EQ(plan.graph.programs.size(), 16U);
  EXPECT_LT(plan.graph.works.size(), 200U);
  EXPECT_LT(plan.graph.collectives.size(), 100U);
  EXPECT_LT(plan.graph.messages.size(), 64U);
  EXPECT_EQ(plan.tokens, 2048 * 8192);
  EXPECT_EQ(plan.microbatches, 16);
  std::size_t tasks = 0;
  for (const Program& program : plan.graph.programs) tasks += program.tasks.size();
  EXPECT_LT(tasks, 60'000U);
}

// Passes of chunks without layers only pass messages on.
TEST(StepBuilder, DependenciesOfChunksWithoutLayersGrowWithTheMicrobatches) {
  for (const char* overlap : {"true", "false"}) {
    const auto dependencies = [&](int microbatches) {
      const std::string text = fmt::format(
          "training: {{global_batch: {0}, micro_batch: 1}}\n"
          "parallel: {{pp: 4, virtual_stages: 8, stage_layers: balanced, schedule: interleaved-1f1b, "
          "overlap_p2p_comm: {1}, microbatch_group_size_per_vp_stage: {0}}}\n",
          microbatches, overlap);
      const JobText job(small_model(8) + text, 4);
      EXPECT_TRUE(job.problems().empty()) << job.problems().front();
      std::size_t count = 0;
      for (const Program& program : job.compact_plan().graph.programs) count += program.dependencies.size();
      return count;
    };
    EXPECT_LT(dependencies(256), 5 * dependencies(64)) << overlap;
  }
}

TEST(StepBuilder, OverlappedReductionsStartBeforeTheLastBackwardPassEnds) {
  const StepPlan plan = plan_of("dp: 2, zero: {stage: 1, overlap_grad_reduce: true, bucket: 64KiB}", "", 2);
  const std::vector<Task>& tasks = plan.graph.programs[0].tasks;
  std::size_t first_reduction = tasks.size();
  std::size_t last_backward = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string& label = plan.graph.labels[tasks[i].label];
    if (label == "dp reduce_scatter gradients") first_reduction = std::min(first_reduction, i);
    if (label.starts_with("B")) last_backward = i;
  }
  EXPECT_LT(first_reduction, last_backward);
}

// A fused backward pass computes the scores again: 2.5 times the forward core, of which the model needs 2. So kernels
// do half a forward core more than the model needs, packed or not.
TEST(StepBuilder, PackedDocumentsNeedScoresOfTheirOwnTokensOnly) {
  for (const char* model : {"llama3-8b, seq_length: 4096", "mistral-7b, seq_length: 8192, sliding_window: 1024",
                            "deepseek-v2-lite, seq_length: 4096, mtp_num_layers: 1"}) {
    double before = 0.0;
    for (const std::int64_t size : {0, 2000, 512}) {
      const JobText job(fmt::format("model: {{preset: {}, num_layers: 4, make_vocab_size_divisible_by: 1}}\n"
                                    "training: {{global_batch: 2, document_length: {}}}\n",
                                    model, size),
                        1);
      ASSERT_THAT(job.problems(), IsEmpty());
      const StepPlan plan = job.plan();
      ModelShape part = job.shape;
      const std::int64_t documents = job.training.documents(part.sequence);
      part.sequence /= documents;
      double core = 0.0;
      for (std::int64_t layer = 0; layer < part.layers + part.predictors; ++layer)
        core += attention_core_flops(part, 2 * documents, AttentionCount::kCausal, layer).count();
      EXPECT_NEAR(plan.stage_flops[0].count() / (plan.model_flops.count() + core / 2.0), 1.0, 1e-9) << model << size;
      EXPECT_TRUE(before == 0.0 || plan.model_flops.count() < before) << model << size;
      before = plan.model_flops.count();
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::step_builder_test
