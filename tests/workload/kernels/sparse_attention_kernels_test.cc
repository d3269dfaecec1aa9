// DeepSeek sparse attention: its weights, kernels and stored activations.
#include "workload/kernels/sparse_attention_kernels.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/memory/activations.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::sparse_attention_kernels_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// h 64, 8 heads, latent queries of 24, latent keys of r 16 and p 4 rotated, 8 plain and 12 values a head; s 32.
JobText job_of(const std::string& model, const std::string& parallel = "", const std::string& training = "") {
  return JobText(
      "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000,"
      " seq_length: 32, multi_latent_attention: true, q_lora_rank: 24, kv_lora_rank: 16, qk_head_dim: 8,"
      " qk_pos_emb_head_dim: 4, v_head_dim: 12" +
          model + "}\ntraining: {global_batch: 8" + training + "}\nparallel: {" + parallel + "}\n",
      4);
}
// Of 32 tokens the best 8, by 2 index heads of 6.
const std::string kSparse = ", dsa_indexer_topk: 8, dsa_indexer_n_heads: 2, dsa_indexer_head_dim: 6";
const std::string kTrained = kSparse + ", dsa_indexer_loss_coeff: 0.01";

std::vector<Kernel> kernels(LayerSection section, const JobText& job) {
  return kernels_of(section, make_kernel_context(job.shape, job.training, job.parallel));
}
std::vector<std::string> names_of(const std::vector<Kernel>& kernels) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) names.push_back(kernel.name);
  return names;
}
double flops_of(const std::vector<Kernel>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  EXPECT_NE(found, kernels.end()) << name;
  return found == kernels.end() ? 0.0 : found->flops.count();
}

// Queries 24 x 12, a key 64 x 6 with its norm of 2 x 6, weights 64 x 2, in each of two layers.
TEST(SparseAttention, AnIndexerHasItsTensors) {
  const JobText dense = job_of("");
  const JobText sparse = job_of(kSparse);
  ASSERT_THAT(sparse.problems(), IsEmpty());
  EXPECT_EQ(parameters(sparse.shape) - parameters(dense.shape), 2 * (24 * 12 + 64 * 6 + 2 * 6 + 64 * 2));
}

// Checkpoints without scales: DeepSeek-V3.2 has 685,355,329,792 elements, DeepSeek-V3 684,489,845,504, both with a
// layer of multi-token prediction, which has an indexer as well.
TEST(SparseAttention, DeepSeekV32HasThePublishedParameters) {
  const auto parameters_of = [](const std::string& preset) {
    const JobText job("model: {preset: " + preset + "}\ntraining: {global_batch: 1}\nparallel: {}\n", 1);
    EXPECT_THAT(job.problems(), IsEmpty()) << preset;
    return parameters(job.shape) + count_elements(attention_tensors(job.shape, 1));
  };
  EXPECT_EQ(parameters_of("deepseek-v3.2") - parameters_of("deepseek-v3"), 685'355'329'792 - 684'489'845'504);
}

// Scores: 2 n d for each of s^2 / 2 pairs. A token attends to k - k^2 / (2s) = 7 others, by 8 heads: scores of r + p 20
// and sums of r 16 values. Backward the scores again, and gradients of probabilities, values, queries and keys.
TEST(SparseAttention, NeedsTheFlopsOfTheChosenTokens) {
  const JobText job = job_of(kTrained);
  ASSERT_THAT(job.problems(), IsEmpty());
  const auto forward = kernels(LayerSection::kAttention, job);
  EXPECT_EQ(flops_of(forward, "indexer scores"), 2.0 * 2 * 6 * 32 * 32 / 2);
  EXPECT_EQ(flops_of(forward, "sparse attention"), 2.0 * 32 * 8 * 7 * (20 + 16));
  EXPECT_EQ(flops_of(forward, "indexer target"), 2.0 * 32 * 8 * 7 * 20);
  const auto backward = kernels(LayerSection::kAttentionBackward, job);
  EXPECT_EQ(flops_of(backward, "sparse attention backward"), 2.0 * 32 * 8 * 7 * (3 * 20 + 2 * 16));
  EXPECT_EQ(flops_of(backward, "indexer scores backward"), 2.0 * 32 * 2 * 7 * 3 * 6);
  // Absorbed into queries and applied to results, the projection of keys and values needs as many FLOPs as before.
  const auto dense = kernels(LayerSection::kAttention, job_of(""));
  EXPECT_EQ(flops_of(forward, "query absorption") + flops_of(forward, "values up"),
            flops_of(dense, "key and value up"));
  EXPECT_THAT(names_of(forward), Not(Contains("key and value up")));
}

// As Megatron-LM counts them (training.py): those of dense latent attention.
TEST(SparseAttention, TheModelsFlopsAreThoseOfDenseAttention) {
  EXPECT_EQ(job_of(kTrained).plan().model_flops.count(), job_of("").plan().model_flops.count());
}

TEST(SparseAttention, AnIndexerWithoutLossIsNotTrained) {
  const std::vector<std::string> names = names_of(kernels(LayerSection::kAttentionBackward, job_of(kSparse)));
  EXPECT_THAT(names, Not(Contains(HasSubstr("indexer"))));
  EXPECT_THAT(names_of(kernels(LayerSection::kAttentionBackward, job_of(kTrained))),
              testing::IsSupersetOf({"indexer queries wgrad", "indexer keys wgrad", "indexer weights wgrad"}));
}

TEST(SparseAttention, LongSequencesCostLessThanDenseAttention) {
  const auto flops = [](const std::string& model, std::int64_t sequence) {
    JobText job = job_of(model);
    job.shape.sequence = sequence;
    return job.plan().hardware_flops.count();
  };
  EXPECT_GT(flops(kTrained, 16), flops("", 16));
  EXPECT_LT(flops(kTrained, 4096), flops("", 4096));
}

// A token stores queries before and after absorption and the result of 8 heads, the rotated part of 4, and the choice
// in 8 bytes each, instead of queries and keys of 12 and values of 12; with the loss index queries, key and weights.
// Latent vectors are stored before and after their norms by both: as keys, or as inputs of the GEMMs to them.
TEST(SparseAttention, StoresLatentVectorsAndTheChoice) {
  const auto kept = [](const std::string& model) {
    return memory_ledger(job_of(model).inputs(), {}).front().of("layer activations").count();
  };
  const std::int64_t tokens = 32 * 2;  // in two layers
  EXPECT_EQ(kept(kSparse) - kept(""), tokens * (2 * (8 * (8 + 20 + 16) + 4 - 8 * 36) + 8 * 8));
  EXPECT_EQ(kept(kTrained) - kept(kSparse), tokens * 2 * (2 * 6 + 6 + 2));
}

const std::string kSplit = "tp: 2, sequence_parallel: true";
const std::string kCut = "cp: 2, cp_comm_type: all_gather";

// Attention's heads are split; every rank has the whole indexer.
TEST(SparseAttention, TensorParallelRanksSplitHeadsAndRepeatTheIndexer) {
  const auto whole = kernels(LayerSection::kAttention, job_of(kTrained));
  const JobText split = job_of(kTrained, kSplit);
  ASSERT_THAT(split.problems(), IsEmpty());
  const auto part = kernels(LayerSection::kAttention, split);
  for (const char* name : {"sparse attention", "indexer target", "query absorption", "values up"}) {
    EXPECT_EQ(2.0 * flops_of(part, name), flops_of(whole, name)) << name;
  }
  for (const char* name : {"indexer scores", "indexer queries", "indexer keys"}) {
    EXPECT_EQ(flops_of(part, name), flops_of(whole, name)) << name;
  }
}

// Of 32 tokens, in one layer of a microbatch: latent vectors of queries and keys 24 + 20, and for the indexer the
// norm's result of 64 and the 24 again; the target of 8 chosen tokens in fp32, summed forward and backward.
TEST(SparseAttention, TensorParallelRanksGatherTheIndexersInputs) {
  const auto bytes = [](const std::string& model) {
    const StepPlan plan = job_of(model, kSplit).plan();
    return traffic(plan, 0, "tp").count();
  };
  constexpr std::int64_t kPasses = 2 * 4;  // two layers, 8 sequences of two replicas
  // Gradients of the indexer's weights, which every rank has, are summed in fp32 at the end.
  const std::int64_t weights = 24 * 12 + 64 * 6 + 2 * 6 + 64 * 2;
  EXPECT_EQ(bytes(kSparse) - bytes(""), kPasses * 32 * (64 + 24) * 2 + 2 * weights * 4);
  EXPECT_EQ(bytes(kTrained) - bytes(kSparse), kPasses * 2 * 32 * 8 * 4);
}

// Of two ranks with 16 tokens each: latent vectors of 20 gathered and their gradients scattered; the indexer's key of
// 6, with the loss its gradient as well. The work is the same for all ranks together, and so are pairs.
TEST(SparseAttention, ContextParallelRanksGatherKeys) {
  const auto bytes = [](const std::string& model) { return traffic(job_of(model, kCut).plan(), 0, "cp").count(); };
  constexpr std::int64_t kPasses = 2 * 4;
  EXPECT_EQ(bytes(kSparse), kPasses * 32 * 2 * (2 * 20 + 6));
  EXPECT_EQ(bytes(kTrained), kPasses * 32 * 2 * (2 * 20 + 2 * 6));
  EXPECT_DOUBLE_EQ(job_of(kTrained, kCut).plan().hardware_flops.count(),
                   job_of(kTrained).plan().hardware_flops.count());
}

// Gathered keys stay: a local token has those of another one too.
TEST(SparseAttention, ContextParallelRanksStoreGatheredKeys) {
  const auto kept = [](const std::string& parallel) {
    const JobText job = job_of(kTrained, parallel);
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel), {}).count();
  };
  EXPECT_EQ(2 * kept(kCut) - kept(""), 32 * 2 * (20 + 6));
}

TEST(SparseAttention, SettingsWithoutACounterpartAreRefused) {
  EXPECT_THAT(job_of(kSparse, "tp: 2").problems(),
              ElementsAre(HasSubstr("E464: parallel.tp = 2: sparse attention is split over ranks with sequence")));
  EXPECT_THAT(job_of(kSparse, "cp: 2").problems(),
              ElementsAre(HasSubstr("E464: parallel.cp = 2: an indexer chooses among the keys of all ranks")));
  EXPECT_THAT(job_of(kSparse, "cp: 2, cp_comm_type: a2a").problems(), ElementsAre(HasSubstr("E464: parallel.cp = 2")));
  EXPECT_THAT(job_of(kSparse, "cp: 2, cp_comm_type: all_gather, cp_balanced: false").problems(),
              ElementsAre(HasSubstr("E464: sparse attention gathers keys in zig-zag order alone")));
  EXPECT_THAT(job_of(kSparse, "", ", attention: unfused").problems(), ElementsAre(HasSubstr("E464: sparse attention")));
  EXPECT_THAT(job_of(kSparse, "", ", document_length: 16").problems(),
              ElementsAre(HasSubstr("E464: sparse attention")));
  EXPECT_THAT(job_of(kSparse + ", attention_mask: bidirectional").problems(),
              ElementsAre(HasSubstr("E464: model.dsa_indexer_topk cannot be combined with attention_mask")));
  EXPECT_THAT(
      job_of(", dsa_indexer_loss_coeff: 0.1").problems(),
      ElementsAre(HasSubstr("W131: model.dsa_indexer_loss_coeff has no effect without model.dsa_indexer_topk")));
  EXPECT_THAT(JobText("model: {num_layers: 1, hidden_size: 64, num_attention_heads: 8, vocab_size: 64, seq_length: 32" +
                          kSparse + "}\ntraining: {global_batch: 1}\nparallel: {}\n",
                      1)
                  .problems(),
              ElementsAre(HasSubstr("E464: model.dsa_indexer_topk needs multi_latent_attention")));
}

TEST(SparseAttention, GraphsOfManyLayoutsAreSoundAndRunToTheirEnd) {
  for (const char* parallel :
       {"pp: 2", "tp: 2, sequence_parallel: true, pp: 2", "cp: 2, cp_comm_type: all_gather, pp: 2",
        "pp: 2, zero: {stage: 1, overlap_grad_reduce: true, bucket: 16KiB}", "fsdp: {sharding_strategy: full_shard}"}) {
    for (const char* training : {"", ", recompute: full", ", recompute: selective"}) {
      const JobText job = job_of(kTrained + ", mtp_num_layers: 1", parallel, training);
      ASSERT_THAT(job.problems(), IsEmpty()) << parallel << training;
      const StepPlan plan = job.plan();
      EXPECT_EQ(check_task_graph(plan.graph), "") << parallel << training;
      EXPECT_TRUE(FreePlayer(plan.graph, {}).play().has_value()) << parallel << training;
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::sparse_attention_kernels_test
