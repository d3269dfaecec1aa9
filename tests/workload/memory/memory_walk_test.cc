// Where passes repeat, cycles of passes that are left out change no peak; where they do not, that is seen.
#include "workload/memory/memory_walk.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/layout/pipeline_order.h"
#include "workload/pipeline/steady_passes.h"

namespace ringwright::workload::memory_walk_test {
namespace {

std::string job_text(const std::string& training, const std::string& parallel) {
  return small_model(16) +
         fmt::format("training: {{global_batch: 128, micro_batch: 1{}}}\nparallel: {{{}}}\n", training, parallel);
}

void expect_same_peaks(const std::string& training, const std::string& parallel) {
  SCOPED_TRACE(parallel + training);
  const JobText job(job_text(training, parallel), 4);
  ASSERT_TRUE(job.problems().empty()) << job.problems().front();
  ASSERT_TRUE(passes_repeat(job.inputs()));
  const PipelineOrder order = pipeline_order(job.parallel, job.training);
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    const std::vector<Slot> few = without_repeated_cycles(order[stage]);
    EXPECT_LT(few.size(), order[stage].size());
    const auto parts = stage_chunks(job.shape, job.parallel, static_cast<int>(stage));
    const MemoryWalk all = walk_memory(job.inputs(), parts, order[stage]);
    const MemoryWalk same = walk_memory(job.inputs(), parts, few);
    EXPECT_EQ(same.peak.of, all.peak.of) << stage;
    EXPECT_EQ(same.reserved, all.reserved) << stage;
    EXPECT_EQ(same.on_host, all.on_host) << stage;
  }
}

TEST(MemoryWalk, RepeatedCyclesChangeNoPeak) {
  for (const char* training : {"", ", recompute: full", ", recompute: selective"}) {
    for (const char* parallel :
         {"pp: 4", "pp: 4, virtual_stages: 2, schedule: interleaved-1f1b", "pp: 4, schedule: zb-h1",
          "pp: 4, virtual_stages: 2, schedule: zb-v", "pp: 4, virtual_stages: 2, schedule: dualpipev",
          "pp: 2, tp: 2, virtual_stages: 4, schedule: interleaved-1f1b", "pp: 2, zero: {stage: 1}"}) {
      expect_same_peaks(training, parallel);
    }
  }
}

// What is gathered, and which gradients are accumulated, depends on the passes before.
TEST(MemoryWalk, PassesThatDependOnEarlierOnesDoNotRepeat) {
  EXPECT_FALSE(passes_repeat(JobText(job_text("", "fsdp: {}"), 4).inputs()));
  EXPECT_FALSE(passes_repeat(
      JobText(job_text("", "pp: 2, zero: {stage: 2, reduce_every: microbatch_group}"), 4).inputs()));
}

}  // namespace
}  // namespace ringwright::workload::memory_walk_test
