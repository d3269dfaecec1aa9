#include "workload/options/training_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::workload::training_options_test {
namespace {

using testing::ElementsAre;

struct Reading {
  explicit Reading(const std::string& keys)
      : document(ConfigDocument::load_text("job.yaml", "training: {" + keys + "}\n").value()) {
    ConfigMap training = document.root().map("training", "the training");
    options = read_training_options(training);
    document.check_all_read();
  }
  [[nodiscard]] std::vector<std::string> codes() const {
    std::vector<std::string> result;
    for (const Diagnostic& diagnostic : document.log().diagnostics().all()) result.push_back(diagnostic.code);
    return result;
  }
  ConfigDocument document;
  TrainingOptions options;
};

TEST(TrainingOptions, DefaultsAreThoseOfMegatron) {
  const Reading reading("global_batch: 64");
  EXPECT_THAT(reading.codes(), ElementsAre());
  EXPECT_EQ(reading.options.global_batch, 64);
  EXPECT_EQ(reading.options.micro_batch, 1);
  EXPECT_EQ(reading.options.precision, DataType::kBf16);
  EXPECT_EQ(reading.options.grad_reduce, DataType::kFp32);
  EXPECT_EQ(reading.options.recompute, Recompute::kNone);
  EXPECT_EQ(reading.options.attention, AttentionKernel::kFused);
}

TEST(TrainingOptions, EveryWordIsUnderstood) {
  const Reading reading(
      "global_batch: 64, micro_batch: 4, precision: fp16, grad_reduce_dtype: bf16, recompute: full, attention: "
      "unfused");
  EXPECT_THAT(reading.codes(), ElementsAre());
  EXPECT_EQ(reading.options.micro_batch, 4);
  EXPECT_EQ(reading.options.precision, DataType::kFp16);
  EXPECT_EQ(reading.options.grad_reduce, DataType::kBf16);
  EXPECT_EQ(reading.options.recompute, Recompute::kFull);
  EXPECT_EQ(reading.options.attention, AttentionKernel::kUnfused);
  EXPECT_EQ(Reading("global_batch: 1, precision: fp32").options.precision, DataType::kFp32);
  EXPECT_EQ(Reading("global_batch: 1, recompute: selective").options.recompute, Recompute::kSelective);
}

TEST(TrainingOptions, TheBatchIsRequiredAndBounded) {
  EXPECT_THAT(Reading("micro_batch: 1").codes(), ElementsAre("E104"));
  EXPECT_THAT(Reading("global_batch: 0").codes(), ElementsAre("E106"));
  EXPECT_THAT(Reading("global_batch: 10000000000").codes(), ElementsAre("E106"));
}

TEST(TrainingOptions, DocumentsFillASequence) {
  EXPECT_EQ(Reading("global_batch: 1").options.documents(4096), 1);
  const Reading packed("global_batch: 1, document_length: 200");
  EXPECT_EQ(packed.options.documents(4096), 20);
  EXPECT_EQ(packed.options.documents(100), 1);
  EXPECT_THAT(packed.codes(), testing::IsEmpty());
  EXPECT_THAT(Reading("global_batch: 1, document_length: 200, attention: unfused").codes(), ElementsAre("W131"));
  EXPECT_THAT(Reading("global_batch: 1, document_length: -1").codes(), ElementsAre("E106"));
}

TEST(TrainingOptions, MistakesAreFound) {
  EXPECT_THAT(Reading("global_batch: 1, precision: bf17").codes(), ElementsAre("E107"));
  EXPECT_THAT(Reading("global_batch: 1, recompute_all: true").codes(), ElementsAre("E102"));
}

}  // namespace
}  // namespace ringwright::workload::training_options_test
