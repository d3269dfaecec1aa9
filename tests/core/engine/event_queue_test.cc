// The queue hands out events by time and then by order of scheduling, whatever is scheduled and cancelled meanwhile.
#include "core/engine/event_queue.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::event_queue_test {
namespace {

struct Pending {
  TimePoint when;
  EventId id;
  bool cancelled = false;
};

// The first by the definition: a search among all.
std::vector<Pending>::iterator first_of(std::vector<Pending>& pending) {
  return std::ranges::min_element(pending, [](const Pending& a, const Pending& b) {
    return std::tuple(a.when, a.id.order) < std::tuple(b.when, b.id.order);
  });
}

// More times than the queue remembers, so that moments are made again; few, so that most events share one; and all that
// is between.
void expect_order(std::uint64_t seed, std::int64_t times) {
  std::mt19937_64 random(seed);
  EventQueue queue;
  std::vector<Pending> pending;
  TimePoint now;
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t choice = random() % 16;
    if (choice < 9 || pending.empty()) {
      const TimePoint when = now + Duration(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(times)));
      pending.push_back({.when = when, .id = queue.push(when, Action())});
    } else if (choice == 9) {
      Pending& one = pending[random() % pending.size()];
      EXPECT_EQ(queue.cancel(one.id), !one.cancelled);
      one.cancelled = true;
    } else {
      const auto expected = first_of(pending);
      ASSERT_EQ(queue.earliest(), expected->when);
      ASSERT_EQ(queue.is_earliest_cancelled(), expected->cancelled);
      const EventQueue::Event event = queue.pop();
      ASSERT_EQ(event.when, expected->when);
      ASSERT_EQ(event.order, expected->cancelled ? 0 : expected->id.order);
      ASSERT_FALSE(queue.cancel(expected->id));
      now = event.when;
      pending.erase(expected);
    }
    ASSERT_EQ(queue.empty(), pending.empty());
  }
}

TEST(EventQueue, HandsOutEventsByTimeAndThenByOrderOfScheduling) {
  std::uint64_t seed = 0;
  for (const std::int64_t times : {1, 2, 5, 40, 1'000, 30'000, 1'000'000'000}) expect_order(++seed, times);
}

}  // namespace
}  // namespace ringwright::event_queue_test
