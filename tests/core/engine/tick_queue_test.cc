#include "core/engine/tick_queue.h"

#include <array>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

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

// As a sorted list has them: events that schedule others, near and far.
TEST(TickQueue, OrderIsThatOfASortedList) {
  TickQueue queue;
  std::multimap<Tick, std::uint32_t> sorted;  // equal ticks keep the order of insertion
  std::uint64_t random = 1;
  std::uint32_t scheduled = 0;
  const auto schedule = [&](Tick when) {
    queue.at(when, {.index = scheduled});
    sorted.emplace(when, scheduled++);
  };
  schedule(3);
  while (!sorted.empty()) {
    const auto event = queue.next();
    ASSERT_TRUE(event.has_value());
    ASSERT_EQ(event->index, sorted.begin()->second);
    ASSERT_EQ(queue.now(), sorted.begin()->first);
    sorted.erase(sorted.begin());
    for (std::uint64_t more = splitmix64(++random) % 4; more > 0 && scheduled < 20'000; --more) {
      constexpr std::array<std::uint64_t, 5> kReaches = {2, 100, 6'000, 70'000, 300'000};
      const std::uint64_t reach = kReaches[splitmix64(++random) % kReaches.size()];
      schedule(queue.now() + static_cast<Tick>(splitmix64(++random) % reach));
    }
  }
  EXPECT_GT(scheduled, 1'000U);
  EXPECT_FALSE(queue.next().has_value());
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

// The second one waits beyond the lists, the last one longer than is counted.
TEST(TickQueue, TellsHowLongAnEventHasWaited) {
  TickQueue queue;
  queue.at(7, {});
  queue.at(100'000, {});
  static_cast<void>(queue.next());
  EXPECT_EQ(queue.waited(), 7);
  queue.at(100'000, {});
  queue.at(Tick{1} << 40, {});
  static_cast<void>(queue.next());
  EXPECT_EQ(queue.waited(), 100'000);
  static_cast<void>(queue.next());
  EXPECT_EQ(queue.waited(), 100'000 - 7);
  static_cast<void>(queue.next());
  EXPECT_EQ(queue.waited(), TickQueue::kLongestWait);
}

}  // namespace
}  // namespace ringwright::tick_queue_test
