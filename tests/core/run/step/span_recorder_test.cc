#include "core/run/step/span_recorder.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::span_recorder_test {
namespace {

using namespace ringwright::literals;

TEST(SpanRecorder, RecordsTheClassesThatWereAskedFor) {
  SpanRecorder spans(2, {ClassId(1)});
  for (const ClassId c : {ClassId(0), ClassId(1)}) {
    spans.begin_iteration(c, 3);
    spans.begin(c, 2, TimePoint(4_us));
    spans.end(c, {.task = 2, .iteration = 5, .at = TimePoint(6_us)});
  }
  const std::vector<Span> recorded = spans.take();
  ASSERT_EQ(recorded.size(), 1U);
  EXPECT_EQ(recorded[0].rank_class, ClassId(1));
  EXPECT_EQ(recorded[0].task, 2U);
  EXPECT_EQ(recorded[0].iteration, 5U);
  EXPECT_EQ(recorded[0].start, TimePoint(4_us));
  EXPECT_EQ(recorded[0].end, TimePoint(6_us));
}

}  // namespace
}  // namespace ringwright::span_recorder_test
