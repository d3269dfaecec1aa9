#include "core/run/step/task_streams.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine/engine.h"
#include "core/plan/longer_loop.h"
#include "tests/support/played_graph.h"

namespace ringwright::task_streams_test {
namespace {

using namespace ringwright::literals;
using test::ProgramBuilder;

constexpr StreamIndex kCommStream = 1;
constexpr ClassId kOnly(0);

// Tasks 0 and 1 on the compute stream; 2 on another, after 0; 3 on none.
TaskGraph four_tasks() {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  const auto first = program.compute(3_us);
  program.compute(4_us);
  program.compute(5_us, {first}, kCommStream);
  program.compute(1_us, {}, kNoStream);
  program.run_on({0});
  test::place_ranks(graph, 1);
  return graph;
}

// The streams of the only rank of a graph.
struct RankStreams {
  explicit RankStreams(TaskGraph of) : graph(std::move(of)) { streams.begin_iteration(kOnly); }

  const TaskGraph graph;
  const RankClasses classes = identity_classes(1);
  const test::PlainRing ring;
  const test::PlainCompute compute;
  const test::AlwaysChoose chooser{ring};
  Engine engine;
  test::WireNetwork network{engine, 1_us, 1_GBps};
  PlayedPrograms plan{{.engine = engine, .graph = graph, .classes = classes, .network = network,
                             .chooser = chooser, .compute = compute}, {}};
  TaskStreams streams{graph, classes, plan};
};

class Streams : public testing::Test, protected RankStreams {
 protected:
  Streams() : RankStreams(four_tasks()) {}

  [[nodiscard]] std::vector<std::uint32_t> next_of(std::uint32_t ended) {
    std::vector<std::uint32_t> next;
    streams.for_each_next(kOnly, ended, [&next](std::uint32_t task) { next.push_back(task); });
    return next;
  }
};

TEST_F(Streams, BeginWithTheFirstTaskOfEachAndWhatIsOnNone) {
  std::vector<std::uint32_t> first;
  streams.for_each_first(kOnly, [&first](std::uint32_t task) { first.push_back(task); });
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST_F(Streams, ATaskWaitsForItsStreamAndItsDependencies) {
  EXPECT_TRUE(streams.take(kOnly, 0));
  EXPECT_FALSE(streams.take(kOnly, 0)) << "it runs";
  EXPECT_FALSE(streams.take(kOnly, 1)) << "its stream is busy";
  EXPECT_FALSE(streams.take(kOnly, 2)) << "task 0 has not ended";
  EXPECT_TRUE(streams.take(kOnly, 3));

  EXPECT_FALSE(streams.end(kOnly, 0));
  EXPECT_EQ(next_of(0), (std::vector<std::uint32_t>{2, 1}));
  EXPECT_TRUE(streams.take(kOnly, 1));
  EXPECT_TRUE(streams.take(kOnly, 2));
}

TEST_F(Streams, TheLastTaskEndsTheIteration) {
  for (const std::uint32_t task : {0U, 3U, 1U}) {
    ASSERT_TRUE(streams.take(kOnly, task));
    EXPECT_FALSE(streams.end(kOnly, task));
    (void)next_of(task);
  }
  ASSERT_TRUE(streams.take(kOnly, 2));
  EXPECT_TRUE(streams.end(kOnly, 2));
}

// A cycle of the loop (tasks 0 and 1) is inserted before task 2, while task 0 runs.
TEST(LongerStreams, GoOnWithTheInsertedTasks) {
  TaskGraph graph;
  ProgramBuilder program(graph, "only");
  program.compute(3_us);
  program.compute(4_us);
  program.compute(5_us);
  program.run_on({0});
  test::place_ranks(graph, 1);
  graph.programs.front().loop = {.first = 0, .size = 1, .cycles = 2};
  RankStreams rank(std::move(graph));
  ASSERT_TRUE(rank.streams.take(kOnly, 0));
  rank.plan.own = {with_more_cycles(rank.plan.programs().front(), 1)};
  rank.streams.replace_programs(rank.graph, rank.classes, rank.plan,
                                {index_program(rank.graph, rank.plan.own.front())});
  rank.streams.insert_tasks(kOnly, 2, 1);
  for (const std::uint32_t task : {0U, 1U, 2U, 3U}) {
    EXPECT_EQ(rank.streams.end(kOnly, task), task == 3);
    rank.streams.for_each_next(kOnly, task, [&](std::uint32_t next) { EXPECT_TRUE(rank.streams.take(kOnly, next)); });
  }
}

}  // namespace
}  // namespace ringwright::task_streams_test
