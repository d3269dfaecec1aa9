#include "traces/kineto/replay.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/task_graph.h"
#include "traces/chakra/replay.h"
#include "traces/kineto/step_work.h"

namespace ringwright::traces::kineto::replay_test {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;

// A trace in the making: times in microseconds.
class Profile {
 public:
  Profile(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  // Work on a stream; launched at `launch`.
  Profile& work(const std::string& name, int stream, int start, int time, int launch, const std::string& more = "") {
    ++correlation_;
    add("kernel", name, start, time,
        fmt::format(R"("device": 0, "stream": {}, "correlation": {}{})", stream, correlation_, more));
    add("cuda_runtime", "cudaLaunchKernel", launch, 2, fmt::format(R"("correlation": {})", correlation_));
    return *this;
  }
  // Of 4-byte elements.
  Profile& all_reduce(int elements, int start, int time, int launch, const std::string& group, int stream = 20) {
    return work("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", stream, start, time, launch,
                fmt::format(R"(, "Collective name": "allreduce", "In msg nelems": {0}, "Out msg nelems": {0}, )"
                            R"("Group size": 2, "dtype": "Float", "Process Group Name": "1", )"
                            R"("Process Group Ranks": "{1}")",
                            elements, group));
  }
  Profile& all_to_all(int elements, int start, int time, int launch) {
    return work("ncclDevKernel_SendRecv(x)", 20, start, time, launch,
                fmt::format(R"(, "Collective name": "all_to_allv", "In msg nelems": {0}, "Out msg nelems": {0}, )"
                            R"("Group size": 2, "dtype": "Float", "Process Group Name": "1", )"
                            R"("Process Group Ranks": "[0, 1]")",
                            elements));
  }
  Profile& step(int start, int time) { return step(++steps_, start, time); }
  Profile& step(int number, int start, int time) {
    add("gpu_user_annotation", fmt::format("ProfilerStep#{}", number), start, time, "");
    return *this;
  }
  [[nodiscard]] KinetoTrace trace() const {
    const std::string text = fmt::format(R"({{"distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}}, )"
                                         R"("traceEvents": [{}]}})",
                                         rank_, ranks_, events_);
    auto reading = read_kineto_text(fmt::format("rank{}.json", rank_), text);
    EXPECT_TRUE(reading.has_value()) << (reading ? "" : render(reading.error()));
    return reading ? std::move(reading->trace) : KinetoTrace();
  }

 private:
  void add(const std::string& category, const std::string& name, int start, int time, const std::string& arguments) {
    events_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{{}}}}})",
        events_.empty() ? "" : ",\n", category, name, start, time, arguments);
  }

  int rank_, ranks_;
  int correlation_ = 0, steps_ = 0;
  std::string events_;
};

// Ends of tasks, in microseconds, where every collective takes `collective` and streams are in order.
std::vector<std::int64_t> ends_of(const TaskGraph& graph, Duration collective) {
  const Program& program = graph.programs[graph.program_of[0].index()];
  std::vector<Duration> end(program.tasks.size());
  std::map<StreamIndex, Duration> free;
  std::vector<std::int64_t> micros;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    Duration start = task.stream == kNoStream ? Duration() : free[task.stream];
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      start = std::max(start, end[program.dependencies[task.first_dependency + d]]);
    }
    end[i] = start + (task.kind == TaskKind::kCollective ? collective : *graph.works[task.detail].recorded);
    if (task.stream != kNoStream) free[task.stream] = end[i];
    micros.push_back(end[i].count() / 1'000'000);
  }
  return micros;
}

// From 100 us: forward until 150, backward until 250; its gradients are summed from 160 (launched after the first half)
// until 300, and the optimizer waits for that. 10 us remain.
Profile step_of(int rank, int ranks, const std::string& group = "[0, 1]") {
  Profile profile(rank, ranks);
  profile.step(100, 210).work("forward", 7, 100, 50, 10).work("half", 7, 150, 10, 11);
  profile.all_reduce(1000, 160, 140, 12, group).work("backward", 7, 160, 90, 13).work("optimizer", 7, 300, 5, 14);
  return profile;
}

std::int64_t last_of(const std::vector<std::int64_t>& ends) {
  return *std::ranges::max_element(ends);
}

// Kineto marks a step on each stream apart. The all-reduce begins 40 us after the step and ends before its last kernel.
TEST(KinetoReplay, AStepSpansTheMarksOfAllItsStreams) {
  Profile profile(0, 2);
  profile.step(1, 0, 50).work("gemm", 7, 0, 50, 0);
  profile.work("gemm", 7, 100, 60, 90).all_reduce(1024, 140, 30, 130, "[0, 1]").work("adam", 7, 180, 20, 150);
  profile.step(2, 100, 100).step(2, 140, 30);
  const KinetoTrace trace = profile.trace();
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.steps[1].start_ns, 100'000);
  EXPECT_EQ(trace.steps[1].time, 100_us);
  const auto step = work_of_step(trace, "ProfilerStep#2");
  ASSERT_TRUE(step.has_value()) << render(step.error());
  EXPECT_EQ(step->items.size(), 3U);
  EXPECT_EQ(step->span, 100_us);
}

// A stream may still work for a step when another one begins the next.
TEST(KinetoReplay, StepsWhoseMarksOverlapFollowEachOther) {
  Profile profile(0, 2);
  profile.work("gemm", 7, 0, 50, 0).work("gemm", 7, 100, 60, 90).all_reduce(1024, 40, 90, 30, "[0, 1]");
  profile.step(1, 0, 50).step(1, 40, 90).step(2, 100, 60);
  const KinetoTrace trace = profile.trace();
  ASSERT_EQ(trace.steps.size(), 2U);
  EXPECT_EQ(trace.steps[0].time, 100_us);
  EXPECT_EQ(trace.steps[1].time, 60_us);
}

TEST(KinetoReplay, TakesTheRecordedStepWithTheRecordedCollective) {
  const auto made = kineto_as_job({step_of(0, 2).trace()}, 2);
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_EQ(made->recorded, 210_us);
  EXPECT_EQ(made->job.traces.size(), 1U);  // both ranks do the same
  const auto replay = replay_chakra(made->job, made->groups);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_EQ(last_of(ends_of(replay->graph, 140_us)), 210);
}

TEST(KinetoReplay, WhatWaitedForACollectiveWaitsForAFasterOne) {
  const auto made = kineto_as_job({step_of(0, 2).trace()}, 2);
  const auto replay = replay_chakra(made->job, made->groups);
  // The optimizer follows the end of backward, 150 us after the beginning, or that of the collective.
  EXPECT_EQ(last_of(ends_of(replay->graph, 100_us)), 60 + 100 + 5 + 5);
  EXPECT_EQ(last_of(ends_of(replay->graph, 10_us)), 150 + 5 + 5);
  EXPECT_EQ(last_of(ends_of(replay->graph, 400_us)), 60 + 400 + 5 + 5);
}

TEST(KinetoReplay, TimeOfTheHostStays) {
  Profile profile(0, 1);
  profile.work("first", 7, 10, 20, 5).work("late", 7, 50, 10, 45);  // launched 15 us after the first had ended
  const auto made = kineto_as_job({profile.trace()}, 1);
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_EQ(made->recorded, 50_us);
  const auto replay = replay_chakra(made->job, made->groups);
  EXPECT_THAT(ends_of(replay->graph, {}), ElementsAre(20, 40, 50));
}

// 10 us of a kernel, 10 us of a collective of unknown size, 20 us of the host, 30 us of a kernel.
TEST(KinetoReplay, AScaleIsOfComputingAndNotOfTheHostOrOfRecordedCommunication) {
  Profile profile(0, 1);
  profile.work("first", 7, 0, 10, 0).work("ncclDevKernel_SendRecv(x)", 7, 10, 10, 1).work("last", 7, 40, 30, 35);
  const auto made = kineto_as_job({profile.trace()}, 1, 0.5);
  ASSERT_TRUE(made) << render(made.error());
  const auto replay = replay_chakra(made->job, made->groups);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_EQ(last_of(ends_of(replay->graph, {})), 5 + 10 + 20 + 15);
}

// From 10 to 60, from 40 to 70, from 45 to 50 (within both), then 5 us of the host until 75.
TEST(KinetoReplay, WorkOfAStreamThatOverlapsTakesItsRecordedTimeAndIsNamed) {
  Profile profile(0, 1);
  profile.work("first", 7, 10, 50, 1).work("early", 7, 40, 30, 2).work("within", 7, 45, 5, 3);
  profile.work("last", 7, 75, 10, 4);
  const auto made = kineto_as_job({profile.trace()}, 1);
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_EQ(made->recorded, 75_us);
  const auto replay = replay_chakra(made->job, made->groups);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_EQ(last_of(ends_of(replay->graph, {})), 75);
  EXPECT_THAT(
      render(made->warnings),
      HasSubstr("warning[W629]: 2 of 4 kernels and copies of the step begin before earlier work of their stream "
                "has ended, by 0.025 ms in all"));
}

TEST(KinetoReplay, AnOverlapOfRoundedTimesIsNotNamed) {
  Profile profile(0, 1);
  profile.work("first", 7, 10, 500, 1).work("second", 7, 509, 100, 2);
  const auto made = kineto_as_job({profile.trace()}, 1);
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_TRUE(made->warnings.all().empty());
}

TEST(KinetoReplay, GroupsOfOneRankAreRepeatedOverTheJob) {
  const auto made = kineto_as_job({step_of(0, 8, "[0, 4]").trace()}, 8);
  ASSERT_TRUE(made) << render(made.error());
  ASSERT_EQ(made->groups.groups.size(), 4U);
  EXPECT_THAT(made->groups.groups[1].ranks, ElementsAre(1, 5));
  EXPECT_THAT(made->groups.groups[3].ranks, ElementsAre(3, 7));
  EXPECT_TRUE(replay_chakra(made->job, made->groups));
}

// In whole microseconds, two collectives of different streams may have equal times.
TEST(KinetoReplay, CallsOfEqualTimesAreThoseOfTheirStreams) {
  Profile profile(0, 2);
  profile.all_reduce(1000, 0, 50, 0, "[0, 1]", 20).all_reduce(5000, 0, 50, 0, "[0, 1]", 21);
  const auto made = kineto_as_job({profile.trace()}, 2);
  ASSERT_TRUE(made) << render(made.error());
  const auto replay = replay_chakra(made->job, made->groups);
  ASSERT_TRUE(replay) << render(replay.error());
  ASSERT_EQ(replay->graph.collectives.size(), 2U);
  EXPECT_EQ(replay->graph.collectives[0].bytes, Bytes(4000));
  EXPECT_EQ(replay->graph.collectives[1].bytes, Bytes(20'000));
}

// Of a group only its size is known, from the buffers of its collectives.
TEST(KinetoReplay, AGroupOfUnknownRanksIsOfNeighbours) {
  KinetoTrace trace = step_of(5, 8, "[0, 4]").trace();
  for (CallGroup& group : trace.calls.groups) group = {.id = "", .size = 2};
  const auto made = kineto_as_job({trace}, 8);
  ASSERT_TRUE(made) << render(made.error());
  ASSERT_EQ(made->groups.groups.size(), 4U);
  EXPECT_THAT(made->groups.groups[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(made->groups.groups[2].ranks, ElementsAre(4, 5));
  ASSERT_EQ(made->warnings.all().size(), 1U);
  EXPECT_EQ(made->warnings.all()[0].code, "W628");
  for (CallGroup& group : trace.calls.groups) group.size = 3;
  EXPECT_FALSE(kineto_as_job({trace}, 8)) << "3 does not divide 8";
}

TEST(KinetoReplay, AnUnevenAllToAllHasTheLargestSize) {
  const auto of_rank = [](int rank, int elements) {
    return Profile(rank, 2).step(500, 100).work("forward", 7, 500, 30, 10).all_to_all(elements, 540, 20, 12).trace();
  };
  const auto made = kineto_as_job({of_rank(1, 3000), of_rank(0, 1000)}, 2);
  ASSERT_TRUE(made) << render(made.error());
  const auto replay = replay_chakra(made->job, made->groups);
  ASSERT_TRUE(replay) << render(replay.error());
  ASSERT_EQ(replay->graph.collectives.size(), 1U);
  EXPECT_EQ(replay->graph.collectives[0].bytes, Bytes(12'000));
}

// Rank 1 calls them in another order, or another step.
TEST(KinetoReplay, AnAllReduceHasOneSize) {
  const auto of_rank = [](int rank, int first, int second) {
    Profile profile(rank, 2);
    profile.step(0, 100).all_reduce(first, 10, 20, 1, "[0, 1]").all_reduce(second, 30, 20, 2, "[0, 1]");
    return profile.trace();
  };
  EXPECT_TRUE(kineto_as_job({of_rank(0, 1000, 3000), of_rank(1, 1000, 3000)}, 2));
  const auto made = kineto_as_job({of_rank(0, 1000, 3000), of_rank(1, 3000, 1000)}, 2);
  ASSERT_FALSE(made);
  EXPECT_THAT(render(made.error()), HasSubstr("call 1 of process group '1' in the step, all_reduce, has 4000 bytes on "
                                              "rank 0 and 12000 on rank 1"));
}

// The trace of rank 1 ends before step 2 is over, which it does not mark.
TEST(KinetoReplay, TakesTheLastStepThatAllTracesMark) {
  const auto of_rank = [](int rank) {
    return Profile(rank, 2).step(1, 0, 100).work("forward", 7, 0, 40, 1).work("forward", 7, 100, 70, 2);
  };
  const auto made = kineto_as_job({of_rank(0).step(2, 100, 130).trace(), of_rank(1).trace()}, 2);
  ASSERT_TRUE(made) << render(made.error());
  EXPECT_EQ(made->recorded, 100_us);
  Profile other(1, 2);
  other.step(7, 0, 100).work("forward", 7, 0, 40, 1);
  const auto apart = kineto_as_job({of_rank(0).trace(), other.trace()}, 2);
  ASSERT_FALSE(apart);
  EXPECT_THAT(render(apart.error()), HasSubstr("no step is marked in all traces: the last is 'ProfilerStep#1' here, "
                                               "and 'ProfilerStep#7' in rank1.json"));
  Profile unmarked(1, 2);
  unmarked.work("forward", 7, 0, 40, 1);
  EXPECT_FALSE(kineto_as_job({of_rank(0).trace(), unmarked.trace()}, 2));
}

TEST(KinetoReplay, CommunicationWithoutASizeTakesItsTimeAndIsNamed) {
  Profile profile(0, 2);
  profile.work("ncclDevKernel_SendRecv(x)", 20, 10, 30, 5).work("next", 7, 40, 5, 6);
  const auto made = kineto_as_job({profile.trace()}, 2);
  ASSERT_TRUE(made) << render(made.error());
  ASSERT_EQ(made->warnings.all().size(), 1U);
  EXPECT_THAT(made->warnings.all()[0].message, HasSubstr("1 of 1 communication kernels of the step take their"));
  EXPECT_EQ(made->recorded, 35_us);
}

TEST(KinetoReplay, MistakesHaveTheirTrace) {
  const auto mistake = [](const std::vector<KinetoTrace>& traces, std::size_t ranks) {
    const auto made = kineto_as_job(traces, ranks);
    return made ? "no error" : render(made.error());
  };
  EXPECT_THAT(mistake({step_of(0, 2).trace()}, 4), HasSubstr("the job has 2 ranks and the cluster 4 GPUs"));
  EXPECT_THAT(mistake({step_of(0, 8, "[0, 3]").trace()}, 8), HasSubstr("is not evenly spaced over 8 ranks"));
  EXPECT_THAT(mistake({step_of(0, 3).trace(), step_of(1, 3).trace()}, 3), HasSubstr("there are 2 traces and 3 GPUs"));
  EXPECT_THAT(mistake({step_of(1, 2).trace(), step_of(1, 2).trace()}, 2), HasSubstr("it is of rank 1, which"));
  Profile silent(1, 2);
  silent.step(100, 50).work("forward", 7, 100, 10, 1);
  EXPECT_THAT(mistake({step_of(0, 2).trace(), silent.trace()}, 2), HasSubstr("ranks 0 and 1 of process group '1'"));
  EXPECT_THAT(mistake({silent.step(1000, 10).trace()}, 2), HasSubstr("does nothing in the last step"));
}

}  // namespace
}  // namespace ringwright::traces::kineto::replay_test
