#include "network_models/flow/completion_queue.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::network_models::completion_queue_test {
namespace {

TimePoint at(std::int64_t picoseconds) { return TimePoint(Duration(picoseconds)); }

std::vector<std::uint32_t> pop(CompletionQueue& queue) {
  std::vector<std::uint32_t> items;
  queue.pop_earliest(items);
  std::ranges::sort(items);
  return items;
}

TEST(CompletionQueue, AnEmptyQueueNeverEnds) {
  const CompletionQueue queue;
  EXPECT_EQ(queue.earliest(), kNever);
}

TEST(CompletionQueue, GivesAllItemsOfTheEarliestMomentTogether) {
  CompletionQueue queue;
  queue.set(0, at(20));
  queue.set(1, at(10));
  queue.set(2, at(20));
  queue.set(3, at(10));
  EXPECT_EQ(queue.earliest(), at(10));
  EXPECT_EQ(pop(queue), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(queue.earliest(), at(20));
  EXPECT_EQ(pop(queue), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(queue.earliest(), kNever);
}

TEST(CompletionQueue, AnItemMovesInBothDirections) {
  CompletionQueue queue;
  queue.set(0, at(20));
  queue.set(1, at(30));
  queue.set(0, at(40));
  EXPECT_EQ(queue.earliest(), at(30));
  queue.set(0, at(5));
  EXPECT_EQ(pop(queue), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(pop(queue), (std::vector<std::uint32_t>{1}));
}

TEST(CompletionQueue, AMomentWhoseItemsAllLeaveIsGone) {
  CompletionQueue queue;
  queue.set(0, at(10));
  queue.set(1, at(10));
  queue.set(2, at(30));
  queue.erase(0);
  EXPECT_EQ(queue.earliest(), at(10));
  queue.erase(1);
  EXPECT_EQ(queue.earliest(), at(30));
  queue.erase(1);  // not present: no effect
  queue.erase(77);
  EXPECT_EQ(pop(queue), (std::vector<std::uint32_t>{2}));
}

TEST(CompletionQueue, AnItemRemovedAndInsertedAgainIsPoppedOnce) {
  CompletionQueue queue;
  queue.set(0, at(10));
  queue.set(1, at(10));
  queue.set(0, at(20));
  queue.set(0, at(10));
  EXPECT_EQ(pop(queue), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(queue.earliest(), kNever);
}

TEST(CompletionQueueDeathTest, NothingComesOutOfAnEmptyQueue) {
  CompletionQueue queue;
  std::vector<std::uint32_t> items;
  EXPECT_DEATH(queue.pop_earliest(items), "empty queue");
}

// Against a sorted map; `spread` sets how many items share a moment, and thus which of its two forms the queue takes.
void compare_with_map(std::uint64_t seed, std::uint64_t spread) {
  constexpr std::uint32_t kItems = 300;
  RandomStream random(seed, "queue");
  CompletionQueue queue;
  std::map<TimePoint, std::set<std::uint32_t>> twin;
  std::map<std::uint32_t, TimePoint> when;
  TimePoint now;
  const auto take_out = [&](std::uint32_t item) {
    const auto known = when.find(item);
    if (known == when.end()) return;
    twin[known->second].erase(item);
    if (twin[known->second].empty()) twin.erase(known->second);
    when.erase(known);
  };
  for (int step = 0; step < 8000; ++step) {
    const auto item = static_cast<std::uint32_t>(random.next_below(kItems));
    const std::uint64_t what = random.next_below(8);
    if (what < 5) {
      const TimePoint moment = now + Duration(static_cast<std::int64_t>(random.next_below(spread)));
      queue.set(item, moment);
      take_out(item);
      twin[moment].insert(item);
      when[item] = moment;
    } else if (what < 6) {
      queue.erase(item);
      take_out(item);
    } else if (!twin.empty()) {
      now = twin.begin()->first;
      const std::vector<std::uint32_t> expected(twin.begin()->second.begin(), twin.begin()->second.end());
      ASSERT_EQ(queue.earliest(), now);
      ASSERT_EQ(pop(queue), expected);
      for (const std::uint32_t popped : expected) when.erase(popped);
      twin.erase(twin.begin());
    }
    ASSERT_EQ(queue.earliest(), twin.empty() ? kNever : twin.begin()->first) << "step " << step;
  }
}

TEST(CompletionQueue, AgreesWithASortedMapWhenMomentsAreShared) { compare_with_map(1, 20); }
TEST(CompletionQueue, AgreesWithASortedMapWhenMomentsAreNotShared) { compare_with_map(2, 1'000'000'000); }
TEST(CompletionQueue, AgreesWithASortedMapInBetween) { compare_with_map(3, 400); }

// First lock-step, then one by one, then lock-step again: the queue changes its form twice with items pending.
TEST(CompletionQueue, ChangesItsFormWithoutLosingItems) {
  constexpr std::uint32_t kItems = 64;
  CompletionQueue queue;
  std::int64_t now = 0;
  for (std::uint32_t item = 0; item < kItems; ++item) queue.set(item, at(0));
  std::size_t given = 0;
  for (int step = 0; step < 3000; ++step) {
    const bool lock_step = step < 600 || step >= 2400;
    const std::vector<std::uint32_t> items = pop(queue);
    given += items.size();
    now += 1000;
    for (const std::uint32_t item : items) queue.set(item, at(now + (lock_step ? 0 : item)));
  }
  std::size_t left = 0;
  while (queue.earliest() != kNever) left += pop(queue).size();
  EXPECT_EQ(left, kItems);
  EXPECT_GE(given, 600U * kItems);
}

}  // namespace
}  // namespace ringwright::network_models::completion_queue_test
