#include "network_models/flow/latency_queues.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::network_models::latency_queues_test {
namespace {

TimePoint at(std::int64_t picoseconds) { return TimePoint(Duration(picoseconds)); }

std::vector<std::uint32_t> pop(LatencyQueues& queues) {
  std::vector<std::uint32_t> items;
  queues.pop_earliest(items);
  return items;
}

TEST(LatencyQueues, AShortLatencyOvertakesALongOne) {
  LatencyQueues queues;
  queues.push(0, at(0), Duration(100));
  queues.push(1, at(10), Duration(20));
  EXPECT_EQ(queues.earliest(), at(30));
  EXPECT_EQ(pop(queues), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(queues.earliest(), at(100));
  EXPECT_EQ(pop(queues), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(queues.earliest(), kNever);
}

TEST(LatencyQueues, ItemsOfOneQueueKeepTheirOrder) {
  LatencyQueues queues;
  for (std::uint32_t item = 5; item > 0; --item) queues.push(item, at(0), Duration(7));
  EXPECT_EQ(pop(queues), (std::vector<std::uint32_t>{5, 4, 3, 2, 1}));
}

TEST(LatencyQueues, QueuesThatAreDueTogetherArePoppedTogether) {
  LatencyQueues queues;
  queues.push(0, at(0), Duration(30));
  queues.push(1, at(10), Duration(20));
  std::vector<std::uint32_t> items = pop(queues);
  std::ranges::sort(items);
  EXPECT_EQ(items, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(queues.earliest(), kNever);
}

TEST(LatencyQueues, NoLatencyIsDueAtOnce) {
  LatencyQueues queues;
  queues.push(0, at(40), Duration(0));
  EXPECT_EQ(queues.earliest(), at(40));
}

TEST(LatencyQueues, AgreesWithASortedMapOnManyLatencies) {
  RandomStream random(5, "queues");
  LatencyQueues queues;
  std::multimap<TimePoint, std::uint32_t> twin;
  TimePoint now;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    if (random.next_below(5) < 3 || twin.empty()) {
      const Duration latency(static_cast<std::int64_t>(10 * random.next_below(150)));
      queues.push(step, now, latency);
      twin.emplace(now + latency, step);
    } else {
      now = twin.begin()->first;
      ASSERT_EQ(queues.earliest(), now);
      std::vector<std::uint32_t> items = pop(queues);
      std::ranges::sort(items);
      std::vector<std::uint32_t> expected;
      const auto [begin, end] = twin.equal_range(now);
      for (auto entry = begin; entry != end; ++entry) expected.push_back(entry->second);
      std::ranges::sort(expected);
      ASSERT_EQ(items, expected);
      twin.erase(begin, end);
    }
    ASSERT_EQ(queues.earliest(), twin.empty() ? kNever : twin.begin()->first);
  }
}

}  // namespace
}  // namespace ringwright::network_models::latency_queues_test
