#include "workload/kernels/compression_kernels.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::compression_kernels_test {
namespace {

constexpr std::int64_t kElements = 1'000'000;  // 4 MB in fp32; a square of 1000 x 1000

struct Moved {
  std::int64_t encode = 0;
  std::int64_t second = 0;
  std::int64_t decode = 0;
};

std::int64_t total(const std::vector<Kernel>& kernels) {
  std::int64_t bytes = 0;
  for (const Kernel& kernel : kernels) bytes += kernel.bytes.count();
  return bytes;
}

// Of four ranks.
Moved moved(const std::string& compression) {
  const JobText job(small_model(2) + "training: {global_batch: 8, compression: {" + compression +
                        "}}\nparallel: {dp: auto}\n",
                    4);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
  return {.encode = total(encode_gradients(context, kElements)),
          .second = total(second_factor(context, kElements)),
          .decode = total(decode_gradients(context, kElements, 4))};
}

TEST(CompressionKernels, CastsReadAndWriteOnce) {
  const Moved fp16 = moved("codec: fp16");
  EXPECT_EQ(fp16.encode, 6'000'000);
  EXPECT_EQ(fp16.decode, 6'000'000);  // the sum arrives encoded once
}

TEST(CompressionKernels, GatheredCodecsDecodeEveryRank) {
  const Moved int8 = moved("codec: int8, block: 1000");
  const std::int64_t encoded = 1'004'000;
  EXPECT_EQ(int8.encode, 2 * 4'000'000 + encoded);  // once for the scales, once for the values
  EXPECT_EQ(int8.decode, 4 * encoded + 4'000'000);
}

TEST(CompressionKernels, TopKReadsTheValuesForEachDigit) {
  const Moved top = moved("codec: topk, ratio: 1%, error_feedback: false");
  EXPECT_EQ(top.encode, 5 * 4'000'000 + 80'000);  // four digits of 8 bits and the copy; 10 000 pairs of 8 bytes
  EXPECT_EQ(top.decode, 4 * 80'000 + 4'000'000 + 2 * 4 * 40'000);
}

TEST(CompressionKernels, ErrorFeedbackReadsAndWritesTheErrors) {
  const std::int64_t with = moved("codec: 1bit").encode;
  const std::int64_t without = moved("codec: 1bit, error_feedback: false").encode;
  // Gradients read and written, errors read; then gradients and signs (125 004 bytes) read, errors written.
  EXPECT_EQ(with - without, 3 * 4'000'000 + 4'000'000 + 125'004 + 4'000'000);
}

TEST(CompressionKernels, PowerSgdReadsTheMatrixForEachFactor) {
  const Moved power = moved("codec: powersgd, rank: 2, error_feedback: false");
  const std::int64_t factor = 1000 * 2 * 4;
  EXPECT_EQ(power.encode, 4'000'000 + 2 * factor);
  EXPECT_EQ(power.second, 3 * factor + 4'000'000 + 2 * factor);
  EXPECT_EQ(power.decode, 2 * factor + 4'000'000);
}

}  // namespace
}  // namespace ringwright::workload::compression_kernels_test
