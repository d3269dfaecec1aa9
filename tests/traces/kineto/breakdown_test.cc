#include "traces/kineto/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/kineto/kineto_summary.h"

namespace ringwright::traces::breakdown_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

GpuActivity activity(std::uint32_t name, std::int64_t start_us, std::int64_t time_us, GpuWork work = GpuWork::kKernel) {
  return {.name = name, .work = work, .start_ns = start_us * 1000, .time = Duration(time_us * 1'000'000)};
}

// A GEMM from 0 to 10 us, an all-reduce from 5 to 25, a copy from 20 to 40, nothing until 50, a GEMM until 60.
KinetoTrace example() {
  KinetoTrace trace;
  trace.names = {"gemm", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork*)", "Memcpy"};
  trace.activities = {activity(0, 0, 10), activity(1, 5, 20), activity(2, 20, 20, GpuWork::kCopy), activity(0, 50, 10)};
  return trace;
}

TEST(Breakdown, SharesAddUpToTheSpan) {
  const TimeShares whole = break_down(example()).whole;
  EXPECT_EQ(whole.span, 60_us);
  EXPECT_EQ(whole.computing, 20_us);
  EXPECT_EQ(whole.communicating, 20_us);
  EXPECT_EQ(whole.exposed, 15_us);  // from 10 to 25
  EXPECT_EQ(whole.copying, 15_us);  // from 25 to 40
  EXPECT_EQ(whole.idle, 10_us);
  EXPECT_EQ(whole.computing + whole.exposed + whole.copying + whole.idle, whole.span);
}

TEST(Breakdown, ConcurrentKernelsCountOnce) {
  KinetoTrace trace = example();
  trace.activities = {activity(0, 0, 10), activity(0, 2, 10)};
  EXPECT_EQ(break_down(trace).whole.computing, 12_us);
  EXPECT_EQ(break_down(trace).families[0].time, 20_us);
}

TEST(Breakdown, AStepIsTheSpanBetweenItsMarks) {
  KinetoTrace trace = example();
  trace.steps = {{.name = "ProfilerStep#1", .start_ns = -5'000, .time = 20_us},
                 {.name = "ProfilerStep#2", .start_ns = 15'000, .time = 30_us}};
  const auto steps = break_down(trace).steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].idle, 5_us);
  EXPECT_EQ(steps[0].computing, 10_us);
  EXPECT_EQ(steps[0].exposed, 5_us);
  EXPECT_EQ(steps[1].exposed, 10_us);  // from 15 to 25
  EXPECT_EQ(steps[1].copying, 15_us);
  EXPECT_EQ(steps[1].idle, 5_us);  // from 40 to 45
}

TEST(Breakdown, CountsKernelsByFamilyAndName) {
  const auto breakdown = break_down(example());
  ASSERT_EQ(breakdown.families.size(), 2u);
  EXPECT_EQ(breakdown.families[0].count + breakdown.families[1].count, 3u);
  EXPECT_EQ(breakdown.copy_count, 1u);
  EXPECT_EQ(breakdown.kernels.size(), 2u);
  EXPECT_EQ(breakdown.kernels[0].count, 2u);
}

TEST(KinetoSummary, TextAndJsonHaveTheFigures) {
  const auto summary = summarise_kineto_traces({example()});
  ASSERT_TRUE(summary.has_value());
  const std::string text = kineto_summary_text(*summary);
  EXPECT_THAT(text, HasSubstr("trace  0.060  0.020 (33.3 %)  0.020 (33.3 %)  0.015 (25.0 %)  0.015 (25.0 %)  0.010"));
  EXPECT_THAT(text, HasSubstr("GEMM"));
  EXPECT_THAT(kineto_summary_json(*summary), HasSubstr("\"exposed_us\": 15,"));
}

TEST(KinetoSummary, RefusesTracesThatDoNotBelongTogether) {
  KinetoTrace first = example(), second = example();
  first.file = "a.json";
  second.file = "b.json";
  first.calls.rank = second.calls.rank = 4;
  const auto same = summarise_kineto_traces({first, second});
  ASSERT_FALSE(same.has_value());
  EXPECT_THAT(render(same.error()), HasSubstr("error[E260]: 'b.json' and 'a.json' are both of rank 4"));
  second.calls.rank = 5;
  second.world_size = 8;
  EXPECT_THAT(render(summarise_kineto_traces({first, second}).error()), HasSubstr("is of a job of 8 ranks"));
  first.calls.rank = -1;
  EXPECT_THAT(render(summarise_kineto_traces({first, second}).error()), HasSubstr("'a.json' has no rank"));
}

}  // namespace
}  // namespace ringwright::traces::breakdown_test
