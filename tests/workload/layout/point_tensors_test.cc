#include "workload/layout/point_tensors.h"

#include <gtest/gtest.h>

namespace ringwright::workload::point_tensors_test {
namespace {

// 7 + 5 trained elements of a rank's dense copy, 11 of experts, 3 frozen; of the first two the 7 are a matrix.
PointTensors::List mixed() {
  return {{.name = "mlp up", .elements = 7},
          {.name = "bias", .elements = 5},
          {.name = "experts up", .elements = 11, .expert = true},
          {.name = "mlp down", .elements = 3, .frozen = true}};
}

TEST(PointTensors, AddsUpByHoldingWhatIsTrained) {
  const PointTensors tensors{mixed()};
  EXPECT_EQ(tensors.elements(0), 26);
  EXPECT_EQ(tensors.trained(0, Holding::kDense).elements, 12);
  EXPECT_EQ(tensors.trained(0, Holding::kDense).matrices, 7);
  EXPECT_EQ(tensors.trained(0, Holding::kDense).tensors, 2);
  EXPECT_EQ(tensors.trained(0, Holding::kExpert).elements, 11);
  EXPECT_EQ(tensors.trained(0, Holding::kExpert).matrices, 11);
  EXPECT_TRUE(tensors.is_matrix(0, 3));
  EXPECT_FALSE(tensors.is_matrix(0, 1));
}

TEST(PointTensors, PointsThatShareAListLoseItOneByOne) {
  PointTensors tensors;
  tensors.push_back(mixed());
  tensors.push_back({});
  tensors.repeat(0);
  tensors.repeat(0);
  tensors.clear(2);
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors[0].size(), 4U);
  EXPECT_TRUE(tensors[1].empty());
  EXPECT_TRUE(tensors[2].empty());
  EXPECT_EQ(tensors.trained(2, Holding::kDense).tensors, 0);
  EXPECT_EQ(tensors.elements(3), 26);
}

}  // namespace
}  // namespace ringwright::workload::point_tensors_test
