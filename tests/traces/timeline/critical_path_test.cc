#include "traces/timeline/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/timeline/role_waits.h"


namespace ringwright::traces::critical_path_test {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A task of a rank, and what it waited for.
struct Done {
  int rank;
  TaskKind kind;
  std::string label;
  Duration start;
  Duration end;
  std::uint32_t after = kNoTask;  // of the same rank, in the order given
  int origin = -1;                // another rank, whose task bounds the end
  std::uint32_t origin_task = 0;
  ReleasedBy by = ReleasedBy::kTask;
};

// Every rank a stage and a class of its own; messages and collectives are of the dimension "pp".
class Step {
 public:
  Step(int ranks, const std::vector<Done>& tasks) : classes_(identity_classes(static_cast<std::size_t>(ranks))) {
    Dimension all{.name = "pp"};
    all.groups.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) {
      all.groups.back().emplace_back(rank);
      graph_.programs.push_back({.name = "stage " + std::to_string(rank)});
      graph_.program_of.emplace_back(rank);
    }
    index_groups(all, static_cast<std::size_t>(ranks));
    graph_.dimensions.push_back(std::move(all));
    graph_.collectives.push_back({.kind = CollectiveKind::kAllReduce});
    graph_.messages.emplace_back();
    record_.waits.resize(static_cast<std::size_t>(ranks));
    record_.iteration_end.emplace_back();
    for (const Done& task : tasks) add(task);
    for (std::size_t rank = 0; rank < record_.waits.size(); ++rank) fill_origins(rank);
  }

  RunRecord& record() { return record_; }
  [[nodiscard]] StepDependencies dependencies() const { return {record_, graph_, classes_}; }

 private:
  void add(const Done& done) {
    Program& program = graph_.programs[static_cast<std::size_t>(done.rank)];
    std::vector<TaskWait>& waits = record_.waits[static_cast<std::size_t>(done.rank)];
    program.tasks.push_back({.kind = done.kind,
                             .stream = done.kind == TaskKind::kCompute ? kComputeStream : kNoStream,
                             .dimension = DimensionId(0),
                             .label = static_cast<std::uint32_t>(graph_.labels.size())});
    graph_.labels.push_back(done.label);
    waits.push_back({.start = TimePoint(done.start),
                     .end = TimePoint(done.end),
                     .after = done.after,
                     .origin = ClassId(done.origin < 0 ? done.rank : done.origin),
                     .origin_task = done.origin < 0 ? static_cast<std::uint32_t>(waits.size()) : done.origin_task,
                     .by = done.after == kNoTask && done.by == ReleasedBy::kTask ? ReleasedBy::kIteration : done.by});
    record_.iteration_end.back() = std::max(record_.iteration_end.back(), TimePoint(done.end));
  }
  void fill_origins(std::size_t rank) {
    for (TaskWait& wait : record_.waits[rank]) {
      wait.origin_start = record_.waits[wait.origin.index()][wait.origin_task].start;
    }
  }

  TaskGraph graph_;
  RunRecord record_;
  RankClasses classes_;
};

std::vector<std::string> words_of(const StepDependencies& step) {
  std::vector<std::string> words;
  TimePoint at = step.start();
  for (const PathPart& part : path_parts(step)) {
    EXPECT_EQ(part.start, at);
    EXPECT_LT(part.start, part.end);
    at = part.end;
    const std::string name = part.task != kNoTask ? step.name({.rank_class = part.rank_class, .task = part.task})
                             : part.kind == PathKind::kHost ? "host"
                                                            : "nothing";
    words.push_back(step.role(part.rank_class) + ": " + name + " " + to_string(part.end - part.start));
  }
  EXPECT_EQ(at, step.end());
  return words;
}

// Stage 1 posts its receive at once and waits 12 ms: 10 for stage 0's forward pass, 2 for the message.
Step two_stages() {
  return {2,
          {{0, TaskKind::kCompute, "F0.0 forward", 0_ms, 10_ms},
           {0, TaskKind::kSend, "F0.0", 10_ms, 12_ms, 0},
           {1, TaskKind::kReceive, "F0.0", 0_ms, 12_ms, kNoTask, 0, 1},
           {1, TaskKind::kCompute, "F0.0 forward", 12_ms, 20_ms, 0},
           {1, TaskKind::kCompute, "B0.0 backward", 20_ms, 36_ms, 1}}};
}

TEST(CriticalPath, GoesFromAReceiveToItsSend) {
  const Step step = two_stages();
  EXPECT_THAT(words_of(step.dependencies()),
              ElementsAre("stage 0: F0.0 forward 10 ms", "stage 1: F0.0 pp receive 2 ms", "stage 1: F0.0 forward 8 ms",
                          "stage 1: B0.0 backward 16 ms"));
}

// The data were under way when the receive was posted at 15 ms: what matters is when they left, at 10.
TEST(CriticalPath, GoesToTheSendAlthoughTheReceiveIsLate) {
  const Step step(2, {{0, TaskKind::kCompute, "F0 forward", 0_ms, 10_ms},
                      {0, TaskKind::kSend, "F0", 10_ms, 17_ms, 0},
                      {1, TaskKind::kCompute, "optimizer", 0_ms, 15_ms},
                      {1, TaskKind::kReceive, "F0", 15_ms, 17_ms, 0, 0, 1},
                      {1, TaskKind::kCompute, "F0 forward", 17_ms, 20_ms, 1}});
  EXPECT_THAT(words_of(step.dependencies()),
              ElementsAre("stage 0: F0 forward 10 ms", "stage 1: F0 pp receive 7 ms", "stage 1: F0 forward 3 ms"));
}

// Stage 1 joins the all-reduce at 8 ms; stage 0 waits for it from 3 ms on.
Step late_member() {
  return {2,
          {{0, TaskKind::kCompute, "backward", 0_ms, 3_ms},
           {0, TaskKind::kCollective, "gradient norm", 3_ms, 10_ms, 0, 1, 1},
           {0, TaskKind::kCompute, "optimizer", 10_ms, 12_ms, 1},
           {1, TaskKind::kCompute, "backward", 0_ms, 8_ms},
           {1, TaskKind::kCollective, "gradient norm", 8_ms, 10_ms, 0},
           {1, TaskKind::kCompute, "optimizer", 10_ms, 11_ms, 1}}};
}

TEST(CriticalPath, GoesToTheMemberThatJoinsACollectiveLast) {
  const Step step = late_member();
  EXPECT_THAT(words_of(step.dependencies()),
              ElementsAre("stage 1: backward 8 ms", "stage 0: gradient norm pp all_reduce 2 ms",
                          "stage 0: optimizer 2 ms"));
}

// Of two tasks that end at 4 ms the recorded one was waited for.
TEST(CriticalPath, FollowsWhatWasRecordedWhereTimesAreEqual) {
  for (const std::uint32_t after : {0U, 1U}) {
    const Step step(1, {{0, TaskKind::kCompute, "a", 0_ms, 4_ms},
                        {0, TaskKind::kSend, "b", 0_ms, 4_ms},
                        {0, TaskKind::kCompute, "c", 4_ms, 5_ms, after}});
    EXPECT_EQ(words_of(step.dependencies()).front(), after == 0 ? "stage 0: a 4 ms" : "stage 0: b pp send 4 ms");
  }
}

// The kernel is issued at 5 ms by a host that waited for the receive until 2 ms.
TEST(CriticalPath, GoesToWhatTheHostWaitedFor) {
  const Step step(1, {{0, TaskKind::kReceive, "F0", 0_ms, 2_ms},
                      {0, TaskKind::kCompute, "a", 2_ms, 4_ms, 0},
                      {0, TaskKind::kCompute, "b", 5_ms, 8_ms, 0, -1, 0, ReleasedBy::kHost}});
  EXPECT_THAT(words_of(step.dependencies()),
              ElementsAre("stage 0: F0 pp receive 2 ms", "stage 0: host 3 ms", "stage 0: b 3 ms"));
}

// The second step begins at 4 ms, when a kernel of it runs already.
TEST(CriticalPath, BeginsWithTheStep) {
  Step step(1, {{0, TaskKind::kCompute, "a", 0_ms, 3_ms}, {0, TaskKind::kCompute, "b", 3_ms, 8_ms, 0}});
  step.record().iteration_end = {TimePoint(4_ms), TimePoint(8_ms)};
  EXPECT_THAT(words_of(step.dependencies()), ElementsAre("stage 0: b 4 ms"));
}

TEST(CriticalPath, ShowsWhatNothingExplains) {
  Step step(1, {{0, TaskKind::kCompute, "a", 0_ms, 4_ms}});
  step.record().iteration_end.back() = TimePoint(10_ms);
  EXPECT_THAT(words_of(step.dependencies()), ElementsAre("stage 0: a 4 ms", "stage 0: nothing 6 ms"));
}

// Two tasks of no time that name each other do not stop the walk.
TEST(CriticalPath, EndsWithWaitsInACircle) {
  const Step step(2, {{0, TaskKind::kCollective, "x", 4_ms, 4_ms, kNoTask, 1, 0},
                      {1, TaskKind::kCollective, "x", 4_ms, 4_ms, kNoTask, 0, 0}});
  EXPECT_EQ(words_of(step.dependencies()).size(), 1U);
  EXPECT_THAT(path_parts(Step(1, {}).dependencies()), IsEmpty());
  EXPECT_THAT(waits_of_roles(Step(1, {}).dependencies()), IsEmpty());
}

std::vector<std::string> waits_in(const Step& step) {
  std::vector<std::string> words;
  for (const CriticalPath::Wait& wait : critical_path(step.dependencies()).waits) words.push_back(wait_text(wait));
  return words;
}

TEST(RoleWaits, NameTheMessageAndTheStageItComesFrom) {
  EXPECT_THAT(waits_in(two_stages()), ElementsAre("stage 0 waits 26 ms for the end of the step on other ranks",
                                                  "stage 1 waits 12 ms for the activations of stage 0, microbatch 0"));
}

TEST(RoleWaits, NameTheMemberThatJoinsLast) {
  EXPECT_THAT(waits_in(late_member()), ElementsAre("stage 0 waits 7 ms for stage 1, the last to join 'gradient norm'",
                                                   "stage 1 waits 2 ms for 'gradient norm'",
                                                   "stage 1 waits 1 ms for the end of the step on other ranks"));
}

// Of 10 ms without kernels the message takes 9 and the all-gather behind it 1.
TEST(RoleWaits, NameWhatTakesMostOfTheTime) {
  const Step step(2, {{0, TaskKind::kCompute, "F7.2 forward", 0_ms, 9_ms},
                      {0, TaskKind::kSend, "F7.2", 9_ms, 10_ms, 0},
                      {1, TaskKind::kCompute, "clear gradients", 0_ms, 1_ms},
                      {1, TaskKind::kReceive, "F7.2", 0_ms, 10_ms, kNoTask, 0, 1},
                      {1, TaskKind::kCollective, "F7.2", 10_ms, 11_ms, 1},
                      {1, TaskKind::kCompute, "F7.2 forward", 11_ms, 20_ms, 2}});
  EXPECT_EQ(waits_in(step)[1], "stage 1 waits 10 ms for the activations of stage 0, microbatch 7, model chunk 2");
}

// Three gaps of 1, 2 and 1 ms for the same call: one row of 4 ms.
TEST(RoleWaits, ForTheSameThingAreOneRow) {
  std::vector<Done> tasks;
  for (const auto& [start, end] : {std::pair(1_ms, 2_ms), std::pair(3_ms, 5_ms), std::pair(6_ms, 7_ms)}) {
    const std::uint32_t before = tasks.empty() ? kNoTask : static_cast<std::uint32_t>(tasks.size() - 1);
    tasks.push_back({0, TaskKind::kCompute, "gemm", start - 1_ms, start, before});
    tasks.push_back({0, TaskKind::kCollective, "F0", start, end, static_cast<std::uint32_t>(tasks.size() - 1)});
  }
  tasks.push_back({0, TaskKind::kCompute, "optimizer", 7_ms, 8_ms, 5});
  const std::vector<CriticalPath::Wait> waits = waits_of_roles(Step(1, tasks).dependencies());
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(wait_text(waits[0]), "stage 0 waits 4 ms for 'pp all_reduce' (3 times)");
  EXPECT_EQ(waits[0].longest, 2_ms);
  EXPECT_EQ(waits[0].first, 1_ms);
}

TEST(CriticalPath, HasTheTimeOfEachKindAndLegsFromRankToRank) {
  const CriticalPath path = critical_path(two_stages().dependencies());
  EXPECT_EQ(path.time, 36_ms);
  EXPECT_EQ(path.changes, 1U);
  ASSERT_EQ(path.kinds.size(), 2U);
  EXPECT_EQ(path.kinds[0].name, "computing");
  EXPECT_EQ(path.kinds[0].time, 34_ms);
  EXPECT_EQ(path.kinds[1].name, "PP communication");
  ASSERT_EQ(path.legs.size(), 3U);
  EXPECT_EQ(path.legs[1].what, "PP communication with stage 0");
  EXPECT_EQ(path.legs[2].what, "F0.0 to B0.0");
  EXPECT_EQ(path.legs[2].computing, 24_ms);
  const std::string text = render_critical_path(path);
  EXPECT_THAT(text, HasSubstr("Critical path of the step: 36 ms, 4 tasks, from rank to rank once"));
  EXPECT_THAT(text, HasSubstr("computing                         34 ms   94.4 %"));
}

TEST(SliceNames, HoldThePassAndTheDimension) {
  const auto pass = pass_of("B12.1 pp send");
  ASSERT_TRUE(pass.has_value());
  EXPECT_EQ(pass->direction, 'B');
  EXPECT_EQ(pass->microbatch, "12");
  EXPECT_EQ(pass->chunk, "1");
  for (const std::string_view name : {"", "F", "F3", "forward x", "F forward", "dp all_reduce"}) {
    EXPECT_FALSE(pass_of(name).has_value()) << name;
  }
  EXPECT_EQ(call_label("gradient norm mp all_reduce"), "gradient norm");
  EXPECT_EQ(call_label("dp all_reduce"), "dp all_reduce");
  EXPECT_EQ(communication_kind("F3.0 tp all_gather"), "TP communication");
  EXPECT_EQ(communication_kind("embedding all_reduce"), "embedding communication");
  EXPECT_EQ(communication_kind("x"), "communication");
  EXPECT_EQ(communication_kind(" x"), "communication");
}

}  // namespace
}  // namespace ringwright::traces::critical_path_test
