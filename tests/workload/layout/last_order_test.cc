// What is known of the last layout is that of the layout that asks.
#include "workload/layout/last_order.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/layout/pipeline_order.h"
#include "workload/pipeline/schedule_check.h"
#include "workload/pipeline/steady_passes.h"

namespace ringwright::workload::last_order_test {
namespace {

std::string job_text(const std::string& parallel, int microbatches) {
  return small_model(16) + fmt::format("training: {{global_batch: {}, micro_batch: 1}}\nparallel: {{{}}}\n",
                                       microbatches, parallel);
}

std::vector<PassTimes> times_of(const ParallelOptions& parallel, std::int64_t forward) {
  return std::vector<PassTimes>(parallel.layers_per_part.size(),
                                {.forward = forward, .input = forward + 3, .weight = 2 * forward});
}

void expect_own(LastOrder& last, const JobText& job) {
  const PipelineOrder order = pipeline_order(job.parallel, job.training);
  PipelineOrder met, few;
  for (const std::vector<Slot>& slots : order) {
    met.push_back(release_first(slots));
    few.push_back(without_repeated_cycles(met.back()));
  }
  EXPECT_EQ(last.of(job.parallel, job.training), order);
  EXPECT_EQ(last.for_memory(job.parallel, job.training, LastOrder::Cycles::kOne), few);
  EXPECT_EQ(last.for_memory(job.parallel, job.training, LastOrder::Cycles::kAll), met);
  for (const std::int64_t forward : {10, 20, 10}) {
    const std::vector<PassTimes> times = times_of(job.parallel, forward);
    const auto ends = last.ends(job.parallel, job.training, times);
    const Timeline timeline = play_parts(order, job.parallel.pipeline(),
                                         static_cast<int>(job.parallel.microbatches(job.training)), times);
    ASSERT_TRUE(ends.has_value());
    EXPECT_EQ(ends->last, timeline.end());
    EXPECT_EQ(ends->first_stage, timeline.stages.front().end);
  }
}

TEST(LastOrder, IsThatOfTheLayoutThatAsks) {
  LastOrder last;
  for (const int microbatches : {8, 16, 8}) {
    for (const char* parallel :
         {"pp: 4", "pp: 4, virtual_stages: 2, schedule: interleaved-1f1b", "pp: 4, schedule: zb-h1", "pp: 8",
          "pp: 4, virtual_stages: 2, schedule: interleaved-1f1b, microbatch_group_size_per_vp_stage: 8", "pp: 4",
          "pp: 4"}) {
      SCOPED_TRACE(parallel);
      const JobText job(job_text(parallel, microbatches), 8 / (std::string(parallel).starts_with("pp: 8") ? 1 : 2));
      ASSERT_TRUE(job.problems().empty()) << job.problems().front();
      expect_own(last, job);
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::last_order_test
