#include "core/run/step/ended_tasks.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::ended_tasks_test {
namespace {

// Each task below 3 ends the next one while it is settled.
struct Chain {
  void end(std::uint32_t task) {
    ended.end({.rank_class = ClassId(0), .task = task}, [this](const EndedTasks::Ended& e) { settle(e.task); });
  }
  void settle(std::uint32_t task) {
    ++depth;
    deepest = std::max(deepest, depth);
    settled.push_back(task);
    if (task < 3) end(task + 1);
    --depth;
  }

  EndedTasks ended;
  std::vector<std::uint32_t> settled;
  int depth = 0;
  int deepest = 0;
};

TEST(EndedTasks, AreSettledInOrderWithoutRecursion) {
  Chain chain;
  chain.end(0);
  EXPECT_EQ(chain.settled, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(chain.deepest, 1);
}

TEST(EndedTasks, OfTheStartAreSettledAfterIt) {
  Chain chain;
  std::size_t settled_meanwhile = 1;
  chain.ended.settle_after(
      [&] {
        chain.end(3);
        chain.end(2);
        settled_meanwhile = chain.settled.size();
      },
      [&chain](const EndedTasks::Ended& e) { chain.settle(e.task); });
  EXPECT_EQ(settled_meanwhile, 0U);
  EXPECT_EQ(chain.settled, (std::vector<std::uint32_t>{3, 2, 3}));
}

TEST(EndedTasks, AreSettledOnce) {
  Chain chain;
  chain.end(3);
  chain.end(3);
  EXPECT_EQ(chain.settled, (std::vector<std::uint32_t>{3, 3}));
}

}  // namespace
}  // namespace ringwright::ended_tasks_test
