// Since when a rank has had something to do at the current tick.
#include "core/run/astra/rank_events.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::rank_events_test {
namespace {

TEST(RankEvents, AreDueSinceTheFirstWasScheduled) {
  TickQueue queue;
  RankEvents events(queue, 2);
  std::vector<std::optional<Tick>> due;
  const auto run = [&] {
    const auto batch = queue.next();
    events.run(batch->index, [&](std::uint32_t rank, const RankEvent& /*event*/) {
      due.push_back(events.due_since(rank));
      if (queue.now() == 30) events.after(rank, 20, {});  // joins what was scheduled at 0
    });
  };
  events.after(0, 30, {});
  events.after(0, 50, {});
  events.after(1, 50, {});
  EXPECT_EQ(events.due_since(0), std::nullopt);
  run();
  run();
  EXPECT_EQ(queue.now(), 50);
  EXPECT_EQ(due, (std::vector<std::optional<Tick>>{0, 0, 0}));
  EXPECT_EQ(events.due_since(0), 0);  // done
  EXPECT_EQ(events.due_since(1), 0);  // to come
  run();
  events.after(1, 0, {});
  run();
  EXPECT_EQ(events.due_since(1), 0);  // the first of two batches
}

}  // namespace
}  // namespace ringwright::rank_events_test
