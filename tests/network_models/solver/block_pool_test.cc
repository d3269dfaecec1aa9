#include "network_models/solver/block_pool.h"

#include <gtest/gtest.h>

namespace ringwright::network_models::block_pool_test {
namespace {

TEST(BlockPool, OrderIsTheSmallestPowerOfTwoThatHolds) {
  EXPECT_EQ(block_order(1), 0U);
  EXPECT_EQ(block_order(2), 1U);
  EXPECT_EQ(block_order(5), 3U);
  EXPECT_EQ(block_order(8), 3U);
  EXPECT_EQ(block_order(9), 4U);
}

TEST(BlockPool, BlocksDoNotOverlap) {
  BlockPool<int> pool;
  const std::uint32_t four = pool.take(2);
  const std::uint32_t two = pool.take(1);
  for (std::uint32_t i = 0; i < 4; ++i) pool[four + i] = 4;
  for (std::uint32_t i = 0; i < 2; ++i) pool[two + i] = 2;
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(pool[four + i], 4);
  EXPECT_EQ(pool.size(), 6U);
}

TEST(BlockPool, ABlockThatIsGivenBackIsTakenAgain) {
  BlockPool<int> pool;
  const std::uint32_t first = pool.take(3);
  pool.give_back(first, 3);
  EXPECT_EQ(pool.take(3), first);
  EXPECT_EQ(pool.size(), 8U);
}

}  // namespace
}  // namespace ringwright::network_models::block_pool_test
