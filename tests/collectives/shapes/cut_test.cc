// Sizes of pieces and their sums.
#include "collectives/shapes/cut.h"

#include <gtest/gtest.h>

#include "collectives/shapes/pipeline.h"

namespace ringwright::collectives::cut_test {
namespace {

TEST(Cut, GivesTheRemainderToTheFirstPieces) {
  const Cut cut(Bytes(11), 4);
  EXPECT_EQ(cut.size(0), Bytes(3));
  EXPECT_EQ(cut.size(2), Bytes(3));
  EXPECT_EQ(cut.size(3), Bytes(2));
  EXPECT_FALSE(cut.even());
  EXPECT_TRUE(Cut(Bytes(12), 4).even());
}

TEST(Cut, SumsOfStridesAreThoseOfTheirPieces) {
  for (const int bytes : {0, 1, 6, 7, 23, 24, 25, 100}) {
    const Cut cut(Bytes(bytes), 24);
    for (int first = 0; first < 24; ++first) {
      for (int stride = 1; stride <= 24; ++stride) {
        Bytes sum;
        int count = 0;
        for (int piece = first; piece < 24; piece += stride) {
          sum += cut.size(piece);
          ++count;
          EXPECT_EQ(cut.strided({.first = first, .stride = stride, .count = count}), sum);
        }
      }
    }
    EXPECT_EQ(cut.run(0, 24), Bytes(bytes));
  }
}

TEST(Pipeline, HasOneChunkWhereThereIsNothingToOverlap) {
  EXPECT_EQ(pipeline_chunks(Bytes(1), 100), 1);
  EXPECT_EQ(pipeline_chunks(Bytes(1'000'000'000), 0), 1);
  EXPECT_EQ(pipeline_chunks(Bytes(1'000'000'000), -1), 1);
}

TEST(Pipeline, GrowsWithTheRootOfSizeAndStagesUpToALimit) {
  // sqrt(4 * 4 MiB / 256 KiB) = 8
  EXPECT_EQ(pipeline_chunks(Bytes(4 << 20), 4), 8);
  EXPECT_EQ(pipeline_chunks(Bytes(16 << 20), 4), 16);
  EXPECT_EQ(pipeline_chunks(Bytes(16 << 20), 16), 32);
  EXPECT_EQ(pipeline_chunks(Bytes(std::int64_t{1} << 60), 16), 1024);
}

}  // namespace
}  // namespace ringwright::collectives::cut_test
