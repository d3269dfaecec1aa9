// Passes of classes that are members of the same rings, simulated as one event each, are exact: every time and every
// mixture of activities is as if each task and each message had been simulated.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/run/step/executor.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::passes_together_test {
namespace {

using namespace ringwright::literals;

constexpr Duration kLatency = 1_us;
constexpr StreamIndex kSide = 1;
constexpr StreamIndex kReplicas = 2;
constexpr DimensionId kTp(0);
constexpr DimensionId kCp(1);
constexpr DimensionId kDp(2);
constexpr int kTpRanks = 4;
constexpr int kCpRanks = 2;
constexpr int kRanks = 2 * kCpRanks * kTpRanks;

// A kernel of n FLOP takes n ps and half as long to issue.
class SlowHost final : public ComputeModel {
 public:
  explicit SlowHost(Duration call) : call_(call) {}
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    return Duration(static_cast<std::int64_t>(kernel.flops.count()));
  }
  [[nodiscard]] Duration issue_time(const Kernel& kernel) const override {
    return call_ > Duration(0) ? Duration(static_cast<std::int64_t>(kernel.flops.count() / 2)) : Duration(0);
  }
  [[nodiscard]] Duration call_issue_time() const override { return call_; }

 private:
  Duration call_;
};

// The groups of a dimension: ranks r, r + stride, ... of each block.
std::vector<std::vector<int>> groups(int size, int stride) {
  std::vector<std::vector<int>> groups;
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank / stride % size != 0) continue;
    groups.emplace_back();
    for (int member = 0; member < size; ++member) groups.back().push_back(rank + member * stride);
  }
  return groups;
}

class RandomJob {
 public:
  explicit RandomJob(int round) : random_(23, "passes together " + std::to_string(round)) {
    test::add_dimension(graph_, "tp", groups(kTpRanks, 1));
    test::add_dimension(graph_, "cp", groups(kCpRanks, kTpRanks));
    test::add_dimension(graph_, "dp", groups(2, kTpRanks * kCpRanks));
    graph_.labels = {"task"};
    for (int i = 0; i < 4; ++i) {
      graph_.collectives.push_back({.kind = CollectiveKind::kAllGather, .bytes = Bytes(8 * (1 + below(4000)))});
    }
    for (int i = 0; i < 5; ++i) {
      graph_.works.push_back({.name = "work", .kernels = {{.name = "kernel", .flops = Flops(1e3 * below(9000))}}});
    }
    for (int i = 0; i < 3; ++i) graph_.segments.push_back(segment());
    graph_.programs = {program()};
    graph_.program_of.assign(kRanks, ProgramId(0));
    for (int rank = 0; rank < kRanks; ++rank) graph_.compute_slowdown.push_back(1.0 + 0.01 * below(60));
    graph_.iterations = 1 + below(3);
    test::place_ranks(graph_, kTpRanks);
  }
  [[nodiscard]] const TaskGraph& graph() const { return graph_; }

 private:
  int below(int limit) { return static_cast<int>(random_.next_below(static_cast<std::uint64_t>(limit))); }
  std::uint32_t any(int limit) { return static_cast<std::uint32_t>(below(limit)); }

  // Computing and collectives, some of them at the same time, and computing that waits for all of it.
  Segment segment() {
    Segment segment{.tasks = {}, .dependencies = {}, .call_dependencies = 1};
    const int tasks = 3 + below(6);
    const bool over_cp = below(2) == 0;
    for (int i = 0; i < tasks; ++i) {
      Task task{.kind = TaskKind::kCompute, .detail = any(5)};
      if (below(2) == 0) {
        task = {.kind = TaskKind::kCollective, .dimension = over_cp && below(3) == 0 ? kCp : kTp, .detail = any(4)};
        if (below(2) == 0) task.stream = kSide;
      }
      if (i > 0) depend(segment, task, any(i));
      segment.tasks.push_back(task);
    }
    Task last{.kind = TaskKind::kCompute, .detail = any(5)};
    for (std::uint32_t i = 0; i < segment.tasks.size(); ++i) depend(segment, last, i);
    segment.tasks.push_back(last);
    for (Task& task : segment.tasks) {  // the call's dependency has the number after the last task
      if (task.dependency_count > 0) continue;
      depend(segment, task, static_cast<std::uint32_t>(segment.tasks.size()));
    }
    return segment;
  }
  static void depend(Segment& segment, Task& task, std::uint32_t on) {
    if (task.dependency_count == 0) task.first_dependency = static_cast<std::uint32_t>(segment.dependencies.size());
    segment.dependencies.push_back(on);
    ++task.dependency_count;
  }

  // Calls one after another, while replicas exchange on a stream of their own.
  Program program() {
    Program program{.name = "all", .tasks = {{.kind = TaskKind::kCompute, .detail = any(5)}}, .dependencies = {}};
    program.stream_count = 3;
    std::uint32_t before = 0;
    for (int call = 0; call < 6; ++call) {
      if (below(2) == 0) {
        add(program, {.kind = TaskKind::kCollective, .stream = kReplicas, .dimension = kDp, .detail = any(4)}, before);
      }
      if (below(4) == 0) before = add(program, {.kind = TaskKind::kCompute, .detail = any(5)}, before);
      before = add(program, {.kind = TaskKind::kSegment, .detail = any(3)}, before);
    }
    return program;
  }
  static std::uint32_t add(Program& program, Task task, std::uint32_t after) {
    task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    task.dependency_count = 1;
    program.dependencies.push_back(after);
    program.tasks.push_back(task);
    return static_cast<std::uint32_t>(program.tasks.size() - 1);
  }

  RandomStream random_;
  TaskGraph graph_;
};

// What a rehearsal finds on wires of 1 us and 1 GB/s.
RehearsedCalls rehearsed(const TaskGraph& graph) {
  RehearsedCalls calls;
  calls.of_class.resize(kRanks);
  for (const DimensionId dimension : {kTp, kCp}) {
    for (std::uint32_t spec = 0; spec < graph.collectives.size(); ++spec) {
      for (const std::vector<RankId>& group : graph.dimensions[dimension.index()].groups) {
        const auto edges = static_cast<std::uint32_t>(group.size());
        const Bytes piece = graph.collectives[spec].bytes / static_cast<std::int64_t>(edges);
        RehearsedRing ring{.edges = {}, .repeats = edges - 1, .overhead = {}};
        for (std::uint32_t edge = 0; edge < edges; ++edge) {
          const ClassId c(group[edge].index());
          const Duration time = kLatency + transfer_time(piece, 1_GBps);
          ring.edges.push_back({.rank_class = c, .first = 0, .times = {time}});
          calls.of_class[c.index()].push_back({.dimension = dimension,
                                               .spec = spec,
                                               .time = time * std::int64_t{ring.repeats},
                                               .sent = piece * std::int64_t{ring.repeats},
                                               .messages = ring.repeats,
                                               .links = {},
                                               .ring = static_cast<std::uint32_t>(calls.rings.size()),
                                               .edge = edge});
        }
        calls.rings.push_back(std::move(ring));
      }
    }
  }
  return calls;
}

struct Played {
  RunResult run;
  std::uint64_t events = 0;
};

Played play(const TaskGraph& graph, const RehearsedCalls* calls, Duration call_issue_time) {
  static const test::PlainRing kRing;
  Engine engine;
  test::WireNetwork network(engine, kLatency, 1_GBps);
  const test::AlwaysChoose chooser(kRing);
  const SlowHost compute(call_issue_time);
  Played played;
  played.run = execute({.engine = engine,
                        .graph = graph,
                        .classes = identity_classes(kRanks),
                        .network = network,
                        .chooser = chooser,
                        .compute = compute,
                        .rehearsed = calls},
                       {.warmup_iterations = graph.iterations > 2 ? 1 : 0, .pass_segments_at_once = true});
  played.events = engine.events_run();
  return played;
}

TEST(PassesTogether, AreExactInThousandsOfRandomJobs) {
  std::uint64_t events_at_once = 0, events_by_task = 0;
  for (int round = 0; round < 2000; ++round) {
    const RandomJob job(round);
    ASSERT_EQ(check_task_graph(job.graph()), "") << round;
    const RehearsedCalls calls = rehearsed(job.graph());
    const Duration call_issue_time = round % 3 == 0 ? 0_us : 1_us * (round % 7);
    const Played by_task = play(job.graph(), nullptr, call_issue_time);
    const Played at_once = play(job.graph(), &calls, call_issue_time);
    events_by_task += by_task.events;
    events_at_once += at_once.events;
    ASSERT_EQ(at_once.run.outcome, RunOutcome::kFinished) << round;
    const RunRecord& found = at_once.run.record;
    const RunRecord& expected = by_task.run.record;
    ASSERT_EQ(found.iteration_end, expected.iteration_end) << round;
    ASSERT_EQ(found.finished_at, expected.finished_at) << round;
    ASSERT_EQ(found.time_in, expected.time_in) << round;
    ASSERT_EQ(found.sent, expected.sent) << round;
    ASSERT_EQ(found.messages, expected.messages) << round;
    ASSERT_EQ(found.calls.size(), expected.calls.size()) << round;
    for (std::size_t call = 0; call < expected.calls.size(); ++call) {
      ASSERT_EQ(found.calls[call].count, expected.calls[call].count) << round;
      ASSERT_EQ(found.calls[call].sum, expected.calls[call].sum) << round;
      ASSERT_EQ(found.calls[call].shortest, expected.calls[call].shortest) << round;
    }
  }
  EXPECT_GT(events_by_task, 3 * events_at_once);
}

// One rank of a ring never calls: who waits for whom is found task by task.
TEST(PassesTogether, OfAGroupThatIsNeverCompleteAreSimulatedByTask) {
  const RandomJob job(0);
  TaskGraph graph = job.graph();
  graph.programs.push_back({.name = "none", .tasks = {}, .dependencies = {}, .stream_count = 3});
  graph.program_of[0] = ProgramId(1);
  const RehearsedCalls calls = rehearsed(graph);
  const RunResult stalled = play(graph, &calls, 0_us).run;
  EXPECT_EQ(stalled.outcome, RunOutcome::kStalled);
}

}  // namespace
}  // namespace ringwright::passes_together_test
