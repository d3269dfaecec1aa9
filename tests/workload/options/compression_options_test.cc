#include "workload/options/compression_options.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::compression_options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string job_of(const std::string& compression, const std::string& parallel = "dp: auto") {
  return small_model(2) + "training: {global_batch: 8, compression: {" + compression + "}}\nparallel: {" + parallel +
         "}\n";
}

Bytes encoded(const std::string& compression, std::int64_t elements) {
  const JobText job(job_of(compression), 4);
  EXPECT_THAT(job.problems(), IsEmpty());
  return job.training.compression.encoded(elements, 4);
}

TEST(Compression, EncodedBytesAreThoseOfTheFormat) {
  EXPECT_EQ(encoded("codec: none", 10'000), Bytes(40'000));
  EXPECT_EQ(encoded("codec: fp16", 10'000), Bytes(20'000));
  EXPECT_EQ(encoded("codec: int8", 10'000), Bytes(10'000 + 5 * 4));  // ceil(10000 / 2048) scales
  EXPECT_EQ(encoded("codec: int4, block: 1000", 10'000), Bytes(5'000 + 10 * 4));
  EXPECT_EQ(encoded("codec: 1bit", 10'001), Bytes(1'251 + 4));
  EXPECT_EQ(encoded("codec: topk, ratio: 1%", 10'000), Bytes(100 * (4 + 4)));
  EXPECT_EQ(encoded("codec: topk, ratio: 1%", 10), Bytes(8));  // at least one value
  // 100 x 100 in two factors of 100 x 2; 10001 elements need 101 x 101.
  EXPECT_EQ(encoded("codec: powersgd, rank: 2", 10'000), Bytes(2 * 100 * 2 * 4));
  EXPECT_EQ(encoded("codec: powersgd, rank: 2", 10'001), Bytes(2 * 101 * 2 * 4));
  EXPECT_EQ(encoded("codec: powersgd, rank: 16", 9), Bytes(2 * 3 * 3 * 4));  // no more columns than the matrix
}

TEST(Compression, OfShardedGradientsIsRefused) {
  EXPECT_THAT(JobText(job_of("codec: int8", "zero: {stage: 1}"), 4).problems(),
              ElementsAre(HasSubstr("E570: training.compression.codec compresses gradients that every replica")));
  EXPECT_THAT(JobText(job_of("codec: int8", "fsdp: {}"), 4).problems(), ElementsAre(HasSubstr("E570")));
}

TEST(Compression, SettingsOfOtherCodecsAreReported) {
  EXPECT_THAT(JobText(job_of("codec: fp16, ratio: 1%, rank: 2, block: 8"), 4).problems(),
              ElementsAre(HasSubstr("W131: training.compression.ratio has no effect"), HasSubstr("compression.rank"),
                          HasSubstr("compression.block")));
  EXPECT_THAT(JobText(job_of("codec: none, error_feedback: true"), 4).problems(), ElementsAre(HasSubstr("W131")));
}

TEST(Compression, ThatDoesNotShrinkIsReported) {
  EXPECT_THAT(JobText(small_model(2) + "training: {global_batch: 8, grad_reduce_dtype: bf16, "
                                       "compression: {codec: fp16}}\nparallel: {dp: auto}\n",
                      4)
                  .problems(),
              ElementsAre(HasSubstr("W570")));
}

TEST(Compression, ErrorsTakeFourBytesForEveryParameter) {
  const JobText with(job_of("codec: 1bit"), 4);
  const JobText without(job_of("codec: 1bit, error_feedback: false"), 4);
  const JobText alone(job_of("codec: 1bit"), 1);
  const StageMemory memory = memory_ledger(with.inputs(), {}).front();
  // Gradients are fp32 as well.
  EXPECT_EQ(memory.of("error feedback"), memory.of("gradients"));
  // One bucket, of this rank and of all four: 5 (n / 8 + 4) for n = gradients / 4.
  EXPECT_EQ(memory.of("compressed gradients"), Bytes(5 * ((memory.of("gradients").count() / 4 + 7) / 8 + 4)));
  EXPECT_EQ(memory_ledger(without.inputs(), {}).front().of("error feedback"), Bytes(0));
  EXPECT_EQ(memory_ledger(alone.inputs(), {}).front().of("compressed gradients"), Bytes(0));
}

}  // namespace
}  // namespace ringwright::workload::compression_options_test
