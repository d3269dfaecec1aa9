#include "core/engine/tick_queue.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::tick_queue_test {
namespace {

constexpr Tick kFar = 1'000'000;  // beyond the lists of near ticks

std::vector<std::uint32_t> drain(TickQueue& queue) {
  std::vector<std::uint32_t> order;
  while (const auto event = queue.next()) order.push_back(event->index);
  return order;
}

TEST(TickQueue, OrderIsByTickThenByScheduling) {
  TickQueue queue;
  queue.at(7, {.index = 0});
  queue.at(3, {.index = 1});
  queue.at(7, {.index = 2});
  queue.at(3, {.index = 3});
  EXPECT_EQ(drain(queue), (std::vector<std::uint32_t>{1, 3, 0, 2}));
  EXPECT_EQ(queue.now(), 7);
}

TEST(TickQueue, AnEventScheduledFromAfarComesBeforeALaterOneOfTheSameTick) {
  TickQueue queue;
  queue.at(kFar, {.index = 0});
  queue.at(kFar - 10, {.index = 1});
  ASSERT_EQ(queue.next()->index, 1U);
  queue.after(10, {.index = 2});
  EXPECT_EQ(drain(queue), (std::vector<std::uint32_t>{0, 2}));
}

TEST(TickQueue, TicksMayLieAnyDistanceApart) {
  TickQueue queue;
  const std::vector<Tick> ticks = {0, 1, 63, 64, 4095, 4096, 65535, 65536, 65537, 131072, kFar, 40 * kFar};
  for (std::uint32_t i = 0; i < ticks.size(); ++i) queue.at(ticks[i], {.index = i});
  for (std::uint32_t i = 0; i < ticks.size(); ++i) {
    EXPECT_EQ(queue.next()->index, i);
    EXPECT_EQ(queue.now(), ticks[i]);
  }
  EXPECT_FALSE(queue.next().has_value());
}

TEST(TickQueue, NothingHappensAtTheEndOfTheClock) {
  TickQueue queue;
  queue.at(kLastTick, {.index = 0});
  queue.at(5, {.index = 1});
  EXPECT_EQ(drain(queue), std::vector<std::uint32_t>{1});
  EXPECT_TRUE(queue.is_out_of_clock());
}

TEST(TickQueue, ResetForgetsEverything) {
  TickQueue queue;
  queue.at(9, {.index = 0});
  queue.at(kFar, {.index = 1});
  queue.reset();
  EXPECT_FALSE(queue.next().has_value());
  EXPECT_EQ(queue.now(), 0);
  EXPECT_FALSE(queue.is_out_of_clock());
}

}  // namespace
}  // namespace ringwright::tick_queue_test
