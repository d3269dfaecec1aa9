#include "workload/options/document_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::document_mix_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobText job_of(const std::string& training, const std::string& model = "") {
  return JobText(
      "model: {hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96, vocab_size: 1000, seq_length: "
      "1024, num_layers: 1" +
          model + "}\ntraining: {global_batch: 1" + training + "}\nparallel: {}\n",
      1);
}

// Documents of 128 and 512 fill 1024 tokens 1.6 times: half of 1.6 (128^2 + 512^2) pairs.
TEST(DocumentMix, ScoresGrowWithTheSumOfSquares) {
  const JobText job = job_of(", document_lengths: [128, 512]");
  ASSERT_THAT(job.problems(), IsEmpty());
  EXPECT_DOUBLE_EQ(document_pairs(job.shape, job.training, false), 1.6 * (128.0 * 128 + 512.0 * 512) / 2);
  const JobText equal = job_of(", document_length: 320");
  EXPECT_LT(document_pairs(equal.shape, equal.training, false), 0.8 * document_pairs(job.shape, job.training, false));
}

TEST(DocumentMix, OfOneLengthIsThatLength) {
  const JobText one = job_of(", document_lengths: [256]");
  const JobText mean = job_of(", document_length: 256");
  EXPECT_DOUBLE_EQ(one.plan().hardware_flops.count(), mean.plan().hardware_flops.count());
  EXPECT_DOUBLE_EQ(one.plan().model_flops.count(), mean.plan().model_flops.count());
}

// Of the layer of attention with 64 columns of keys and of values: 2 (64 + 64) a pair, 3.5 times that with the backward
// pass, which computes scores again; the model's count has 3 times.
TEST(DocumentMix, CountsInKernelsAndInTheModel) {
  const JobText job = job_of(", document_lengths: [128, 512]");
  const JobText whole = job_of("");
  const double left_out =
      document_pairs(whole.shape, whole.training, false) - document_pairs(job.shape, job.training, false);
  EXPECT_NEAR(whole.plan().hardware_flops.count() - job.plan().hardware_flops.count(), 3.5 * 256 * left_out, 1.0);
  EXPECT_NEAR(whole.plan().model_flops.count() - job.plan().model_flops.count(), 3.0 * 256 * left_out, 1.0);
}

// A window of 64 tokens leaves 64 l - 64^2 / 2 pairs of longer documents.
TEST(DocumentMix, WindowsCutLongDocumentsAlone) {
  const JobText job = job_of(", document_lengths: [32, 480]", ", sliding_window: 64");
  ASSERT_THAT(job.problems(), IsEmpty());
  EXPECT_DOUBLE_EQ(document_pairs(job.shape, job.training, true), 2.0 * (32.0 * 32 / 2 + 64.0 * 480 - 64.0 * 64 / 2));
}

// Chunks of 64: 2 and 3 for each 100 and 156 tokens, four times.
TEST(DocumentMix, DocumentsBeginNewChunks) {
  const JobText job = job_of(", document_lengths: [100, 156]");
  EXPECT_EQ(document_chunks(job.training, 1024, 64), 4 * (2 + 3));
}

TEST(DocumentMix, MistakesAreExplained) {
  EXPECT_THAT(job_of(", document_lengths: [128], document_length: 128").problems(),
              ElementsAre(HasSubstr("E141: training.document_lengths and training.document_length both give")));
  EXPECT_THAT(job_of(", document_lengths: [128, 2048]").problems(),
              ElementsAre(HasSubstr("E141: training.document_lengths: a document of 2048 tokens does not fit into "
                                    "model.seq_length = 1024")));
  EXPECT_THAT(job_of(", document_lengths: [128], attention: unfused").problems(),
              ElementsAre(HasSubstr("W131: training.document_lengths has no effect")));
  EXPECT_THAT(job_of(", document_lengths: [0]").problems(), testing::SizeIs(1));
}

}  // namespace
}  // namespace ringwright::workload::document_mix_test
