#include "workload/program/gradient_buckets.h"

#include <gtest/gtest.h>

namespace ringwright::workload::gradient_buckets_test {
namespace {

TEST(GradientBuckets, AreFullFromTheirSizeOn) {
  GradientBuckets buckets(Bytes(100), Bytes(10));
  EXPECT_EQ(buckets.add(Bytes(9)), Bytes(0));
  EXPECT_EQ(buckets.add(Bytes(3)), Bytes(12));  // the first one, from 10 on
  EXPECT_EQ(buckets.add(Bytes(99)), Bytes(0));
  EXPECT_EQ(buckets.add(Bytes(1)), Bytes(100));
  EXPECT_EQ(buckets.add(Bytes(250)), Bytes(250));  // gradients of one layer are not split
  EXPECT_EQ(buckets.add(Bytes(7)), Bytes(0));
  EXPECT_EQ(buckets.close(), Bytes(7));
  EXPECT_EQ(buckets.close(), Bytes(0));
}

}  // namespace
}  // namespace ringwright::workload::gradient_buckets_test
