#include "workload/kernels/attention_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::attention_kernels_test {
namespace {

KernelContext context_of(const std::string& model, const std::string& parallel, std::int64_t ranks) {
  const JobText job("model: {" + model + "}\ntraining: {global_batch: 8}\nparallel: {" + parallel + "}\n", ranks);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

double flops_of(LayerSection section, const KernelContext& context) {
  double total = 0.0;
  for (const Kernel& kernel : kernels_of(section, context)) total += kernel.flops.count();
  return total;
}

TEST(AttentionKernels, ThePartsAreTheWhole) {
  for (const char* model : {"preset: llama3-8b", "preset: deepseek-v3", "preset: gpt3-175b"}) {
    const KernelContext context = context_of(model, "", 1);
    EXPECT_EQ(flops_of(LayerSection::kQkv, context) + flops_of(LayerSection::kCore, context) +
                  flops_of(LayerSection::kProjection, context),
              flops_of(LayerSection::kAttention, context))
        << model;
    EXPECT_EQ(flops_of(LayerSection::kProjectionBackward, context) + flops_of(LayerSection::kCoreBackward, context) +
                  flops_of(LayerSection::kQkvBackward, context),
              flops_of(LayerSection::kAttentionBackward, context))
        << model;
  }
}

TEST(AttentionKernels, BidirectionalAttentionComputesAllScores) {
  const std::string sizes =
      "num_layers: 1, hidden_size: 64, num_attention_heads: 8, vocab_size: 100, seq_length: 32, attention_mask: ";
  EXPECT_EQ(flops_of(LayerSection::kCore, context_of(sizes + "bidirectional", "", 1)),
            2.0 * flops_of(LayerSection::kCore, context_of(sizes + "causal", "", 1)));
}

TEST(AttentionKernels, AWindowLeavesItsWidthOfEveryRow) {
  KernelContext context = context_of("preset: gpt-oss-20b", "", 1);
  context.windowed = true;
  // s w - w^2/2 pairs of query and key, 64 heads of 64, two GEMMs of two FLOPs.
  EXPECT_EQ(flops_of(LayerSection::kCore, context), (4096.0 * 128 - 128.0 * 128 / 2) * 64 * 64 * 4);
}

TEST(AttentionKernels, PackedDocumentsDoNotSeeEachOther) {
  const KernelContext whole = context_of("preset: llama3-8b, seq_length: 4096", "", 1);
  KernelContext packed = whole;
  packed.training.document = 500;  // eight of 512 tokens: an eighth of the pairs
  EXPECT_EQ(8.0 * flops_of(LayerSection::kCore, packed), flops_of(LayerSection::kCore, whole));
  EXPECT_EQ(8.0 * flops_of(LayerSection::kCoreBackward, packed), flops_of(LayerSection::kCoreBackward, whole));
  const Kernel kernel = kernels_of(LayerSection::kCore, packed).front();
  EXPECT_EQ(kernel.m, 512);
  EXPECT_EQ(kernel.n, 512);
  EXPECT_EQ(kernel.batch, 32 * 8);  // heads, documents
  EXPECT_EQ(kernel.bytes, kernels_of(LayerSection::kCore, whole).front().bytes);
  packed.training.document = 10'000;  // longer than a sequence: one fills it
  EXPECT_EQ(flops_of(LayerSection::kCore, packed), flops_of(LayerSection::kCore, whole));
}

TEST(AttentionKernels, AWindowWiderThanADocumentHidesNothingOfIt) {
  KernelContext context = context_of("preset: gpt-oss-20b", "", 1);
  context.windowed = true;
  context.training.document = 64;  // of 4096 tokens; the window has 128
  EXPECT_EQ(flops_of(LayerSection::kCore, context), 64 * (64.0 * 64 / 2) * 64 * 64 * 4);
}

// GPT-OSS's 4096 tokens over four ranks with consecutive pieces: with a causal mask alone the last has seven times the
// first one's scores. In a window of 128 tokens each token but the first 127 has 128, and in 64 documents of 64 tokens
// all pieces are the same.
TEST(AttentionKernels, ConsecutivePiecesDifferByWhatMaskAndWindowLeave) {
  const std::string layout = "cp: 4, cp_comm_type: all_gather, cp_balanced: false";
  KernelContext context = context_of("preset: gpt-oss-20b, seq_length: 4096", layout, 4);
  const auto pairs = [&](std::int64_t piece) {
    context.piece = piece;
    return flops_of(LayerSection::kCore, context) / (64 * 64 * 4);  // heads, their size, two GEMMs
  };
  EXPECT_DOUBLE_EQ(pairs(0), 1024.0 * 1024 / 2);
  EXPECT_DOUBLE_EQ(pairs(3), 7 * 1024.0 * 1024 / 2);
  context.windowed = true;
  EXPECT_DOUBLE_EQ(pairs(0), 1024.0 * 128 - 128.0 * 128 / 2);
  EXPECT_DOUBLE_EQ(pairs(3), 1024.0 * 128);
  context.training.document = 64;
  EXPECT_DOUBLE_EQ(pairs(0), 16 * 64.0 * 64 / 2);
  EXPECT_DOUBLE_EQ(pairs(3), 16 * 64.0 * 64 / 2);
}

TEST(AttentionKernels, LatentVectorsAreWhatTensorParallelRanksGather) {
  EXPECT_EQ(gathered_columns(context_of("preset: llama3-8b", "", 1).shape), 4096);
  EXPECT_EQ(gathered_columns(context_of("preset: deepseek-v3", "", 1).shape), 1536 + 512 + 64);
  EXPECT_EQ(gathered_columns(context_of("preset: deepseek-v2-lite", "", 1).shape), 2048 + 512 + 64);
}

TEST(AttentionKernels, BlocksOfARingAddUpToTheRanksScores) {
  const KernelContext alone = context_of("preset: llama3-8b", "", 1);
  const KernelContext ring = context_of("preset: llama3-8b", "cp: 4", 4);
  EXPECT_EQ(16.0 * flops_of(LayerSection::kCoreBlock, ring), flops_of(LayerSection::kCore, alone));
  EXPECT_EQ(flops_of(LayerSection::kCoreFullBlock, ring), 2.0 * flops_of(LayerSection::kCoreBlock, ring));
  const KernelContext heads = context_of("preset: llama3-8b", "cp: 4, cp_comm_type: a2a", 4);
  EXPECT_EQ(4.0 * flops_of(LayerSection::kCore, heads), flops_of(LayerSection::kCore, alone));
}

// Llama 3 8B over four ranks: 2048 tokens of queries 4096 wide, keys and values 1024 each, in two bytes. One step in
// four is the own block, the others process halves: 13/16 of the rows, and a quarter of 3/4 of all is copied out.
// Forward, results are read twice and written; backward, the result and its gradient are halved, too, and the gradients
// of keys and values are joined before they are added.
TEST(AttentionKernels, StepsOfARingAreMerged) {
  KernelContext ring = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4", 4);
  const auto outside_attention = [&](LayerSection section) {
    double total = 0.0;
    for (const Kernel& kernel : kernels_of(section, ring)) {
      if (kernel.flops.count() <= 0.0) total += static_cast<double>(kernel.bytes.count());
    }
    return total / (2.0 * 2048.0);
  };
  const double halves = 2.0 * 3.0 / 16.0;
  EXPECT_EQ(outside_attention(LayerSection::kCoreBlock), halves * (4096 + 2048) + 3.0 * 13.0 / 16.0 * 4096);
  EXPECT_EQ(outside_attention(LayerSection::kCoreBlockBackward),
            halves * (3 * 4096 + 2048) + 13.0 / 16.0 * (3.0 * 4096 + 5.0 * 2048));
  ring = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4, cp_balanced: false", 4);
  EXPECT_EQ(outside_attention(LayerSection::kCoreFullBlock), 3.0 * 4096);  // whole
}

// In fp8 the steps of a ring find their inputs cast: queries, keys and values once after their GEMM, and the gradient
// of the result once after the projection's.
TEST(AttentionKernels, ARingInFp8CastsOnce) {
  KernelContext ring = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4", 4);
  const auto casts = [&ring](LayerSection section) {
    double bytes = 0.0;
    for (const Kernel& kernel : kernels_of(section, ring)) {
      if (kernel.family == KernelFamily::kCast) bytes += static_cast<double>(kernel.bytes.count());
    }
    return bytes;
  };
  ring.training.narrow = NarrowRecipe::kDelayed;
  const double qkv = casts(LayerSection::kQkv);
  const double projection = casts(LayerSection::kProjectionBackward);
  ring.training.fused.fp8_attention = true;
  EXPECT_EQ(casts(LayerSection::kCoreBlock), 0.0);
  EXPECT_EQ(casts(LayerSection::kCoreBlockBackward), 0.0);
  // 2048 tokens, two bytes read and two layouts of one written.
  EXPECT_EQ(casts(LayerSection::kQkv) - qkv, 2048.0 * (4096 + 2 * 1024) * 4.0);
  EXPECT_EQ(casts(LayerSection::kProjectionBackward) - projection, 2048.0 * 4096 * 4.0);
}

// Llama 3 8B over four ranks: 2048 tokens, 4096 columns of queries and results, 1024 of keys and of values; each copy
// reads and writes two bytes, or one in fp8. Twice to the attention and three times back; one each less if ranks have
// consecutive tokens.
TEST(AttentionKernels, ExchangedHeadsAreCopied) {
  KernelContext heads = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4, cp_comm_type: a2a", 4);
  const auto copied = [&heads](LayerSection section) {
    double bytes = 0.0;
    for (const Kernel& kernel : kernels_of(section, heads)) {
      if (kernel.name == "heads copy") bytes += static_cast<double>(kernel.bytes.count());
    }
    return bytes / 2048.0;
  };
  EXPECT_EQ(copied(LayerSection::kQkv), 2 * 4.0 * (4096 + 2 * 1024));
  EXPECT_EQ(copied(LayerSection::kProjection), 3 * 4.0 * 4096);
  EXPECT_EQ(copied(LayerSection::kProjectionBackward), 2 * 4.0 * 4096);
  EXPECT_EQ(copied(LayerSection::kQkvBackward), 3 * 4.0 * (4096 + 2 * 1024));
  heads.training.fused.fp8_attention = true;
  EXPECT_EQ(copied(LayerSection::kQkv), 2 * 2.0 * (4096 + 2 * 1024));
  heads = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4", 4);
  EXPECT_EQ(copied(LayerSection::kQkv), 0.0) << "a ring exchanges no heads";
}

// The same over four ranks that gather keys and values (2048 columns of all 8192 tokens, 8192 for each of a rank's).
// They are copied into the order of the sequence, and results together. Backward, sums of the gradients are cleared,
// those of the two chunks (nine eighths of all keys) added, and copied into the ranks' order.
TEST(AttentionKernels, GatheredKeysAreCopiedIntoTheOrderOfTheSequence) {
  KernelContext gathered = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4, cp_comm_type: all_gather", 4);
  const auto outside_attention = [&](LayerSection section) {
    double total = 0.0;
    for (const Kernel& kernel : kernels_of(section, gathered)) {
      if (kernel.flops.count() <= 0.0) total += static_cast<double>(kernel.bytes.count());
    }
    return total / (2.0 * 2048.0);
  };
  EXPECT_EQ(outside_attention(LayerSection::kCore), 2.0 * 8192 + 2.0 * 4096);
  EXPECT_EQ(outside_attention(LayerSection::kCoreBackward), (2.0 + 1.0 + 3.0 * 9.0 / 8.0 + 2.0) * 8192 + 2.0 * 4096);
  gathered.windowed = true;
  gathered.shape.window = 1024;  // with a chunk of 1024 a quarter of the sequence for each of both
  EXPECT_EQ(outside_attention(LayerSection::kCoreBackward), (2.0 + 1.0 + 3.0 * 0.5 + 2.0) * 8192 + 2.0 * 4096);
  gathered =
      context_of("preset: llama3-8b, seq_length: 8192", "cp: 4, cp_comm_type: all_gather, cp_balanced: false", 4);
  EXPECT_EQ(outside_attention(LayerSection::kCore), 0.0) << "they arrive in the order of the sequence";
}

// Of exchanged heads and a ring, the result is exchanged once more for the backward pass.
TEST(AttentionKernels, ResultsBeforeARingAreCopiedAgain) {
  const auto copied = [](const std::string& exchange) {
    double bytes = 0.0;
    const KernelContext context = context_of("preset: llama3-8b, seq_length: 8192", "cp: 4, " + exchange, 4);
    for (const Kernel& kernel : kernels_of(LayerSection::kProjectionBackward, context)) {
      if (kernel.name == "heads copy") bytes += static_cast<double>(kernel.bytes.count());
    }
    return bytes;
  };
  EXPECT_EQ(copied("cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [2, 2]"),
            2.0 * copied("cp_comm_type: a2a"));
}

TEST(AttentionKernels, BlocksOfARingLeaveOutWhatDocumentsDoNotSee) {
  KernelContext ring = context_of("preset: llama3-8b", "cp: 4", 4);
  const double whole = flops_of(LayerSection::kCoreBlock, ring);
  ring.training.document = ring.shape.sequence / 4;
  EXPECT_EQ(4.0 * flops_of(LayerSection::kCoreBlock, ring), whole);
}

}  // namespace
}  // namespace ringwright::workload::attention_kernels_test
