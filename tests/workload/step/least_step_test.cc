#include "workload/step/least_step.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/segments.h"
#include "tests/workload/job_text.h"

namespace ringwright::workload::least_step_test {
namespace {

using testing::IsEmpty;

// Kernels of different FLOPs and bytes take different times.
class PerFlopAndByte final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    return Duration(static_cast<std::int64_t>(kernel.flops.count()) + 3 * kernel.bytes.count() + 17);
  }
};

// What the ranks of a stage compute in their passes, in a plan with every task written out.
std::vector<Duration> computed_in_passes(const StepPlan& plan) {
  constexpr std::array<std::string_view, 6> kPasses{"forward",          "backward",  "input gradients",
                                                    "weight gradients", "recompute", "forward and backward"};
  std::vector<Duration> stages;
  const PerFlopAndByte compute;
  for (const Program& program : plan.graph.programs) {
    Duration sum;
    for (const Task& task : program.tasks) {
      if (task.kind != TaskKind::kCompute) continue;
      const Work& work = plan.graph.works[task.detail];
      if (std::ranges::find(kPasses, work.name) != kPasses.end()) sum += duration(compute, work);
    }
    stages.push_back(sum);
  }
  return stages;
}

constexpr std::array<const char*, 5> kRecompute{"none", "selective", "selective-ops", "full",
                                                "full, recompute_method: block, recompute_num_layers: 1"};

std::string text_of(const std::string& parallel, const std::string& recompute) {
  return small_model(4) + "training: {global_batch: 16, recompute: " + recompute + "}\nparallel: {" + parallel + "}\n";
}

// One stage has no bubble: the bound is what the plan computes in its passes.
TEST(LeastStep, IsWhatOneStageComputesInItsPasses) {
  const PerFlopAndByte compute;
  int compared = 0;
  for (const char* const recompute : kRecompute) {
    for (const char* const parallel : {"tp: 1", "tp: 2", "tp: 2, sequence_parallel: true", "cp: 2", "tp: 2, cp: 2"}) {
      const JobText job(text_of(parallel, recompute), 4);
      if (!job.problems().empty()) continue;
      EXPECT_EQ(least_step(job.inputs(), compute), computed_in_passes(job.plan()).front())
          << parallel << " " << recompute;
      ++compared;
    }
  }
  EXPECT_GE(compared, 15);
}

// Of several stages it is at least the busiest one's, and less than all of them one after another.
TEST(LeastStep, LiesBetweenTheBusiestStageAndAllStagesInTurn) {
  const PerFlopAndByte compute;
  for (const char* const schedule : {"1f1b", "gpipe", "zb-h1", "zb-v", "dualpipev", "dualpipe", "pipedream"}) {
    for (const char* const recompute : {"none", "full"}) {
      const std::string chunks = std::string(schedule).ends_with("v") ? ", virtual_stages: 2" : "";
      const JobText job(text_of(fmt::format("pp: 2, schedule: {}{}", schedule, chunks), recompute), 4);
      if (!job.problems().empty()) continue;
      const std::vector<Duration> stages = computed_in_passes(job.plan());
      const Duration least = *least_step(job.inputs(), compute);
      EXPECT_GE(least, *std::ranges::max_element(stages)) << schedule;
      EXPECT_LE(least, stages[0] + stages[1]) << schedule;
    }
  }
}

// The last stage has the head, and is the bottleneck: it works without a break between the first forward pass of the
// first stage and the last backward pass there.
TEST(LeastStep, FollowsTheOrderOfTheSchedule) {
  const PerFlopAndByte compute;
  const JobText pipeline(text_of("pp: 2", "none"), 2);
  const JobText gpipe(text_of("pp: 2, schedule: gpipe", "none"), 2);
  ASSERT_THAT(pipeline.problems(), IsEmpty());
  const std::vector<Duration> stages = computed_in_passes(pipeline.plan());
  const std::int64_t microbatches = 16;
  const Duration first = Duration(stages[0].count() / microbatches), last = Duration(stages[1].count() / microbatches);
  ASSERT_GT(last, first);
  EXPECT_EQ(*least_step(pipeline.inputs(), compute), stages[1] + first);
  EXPECT_EQ(*least_step(gpipe.inputs(), compute), stages[1] + first);
}

// Every call takes as long, and longer than all kernels of a step.
constexpr Duration kCall{1'000'000'000};
Duration in_calls(const JobText& job) {
  const PerFlopAndByte compute;
  const LeastCallTime calls = [](DimensionId, const CollectiveSpec& spec) {
    return spec.bytes > Bytes(0) ? kCall : Duration();
  };
  return *least_step(job.inputs(), compute, calls) - *least_step(job.inputs(), compute);
}

// All that the plan of one microbatch has, without the gradient norm's: two all-reduces of each layer in each pass,
// the embedding's, the loss', and the head's gradient's.
TEST(LeastStep, CountsEveryExchangeOfTensorParallelRanksInThePasses) {
  for (const char* const recompute : {"none", "full"}) {
    const auto text = [&](int batch) {
      return small_model(4) + "training: {global_batch: " + std::to_string(batch) + ", recompute: " + recompute +
             "}\nparallel: {tp: 2}\n";
    };
    const JobText one(text(1), 2), many(text(16), 2);
    std::int64_t calls = 0;
    const StepPlan plan = one.plan();
    for (const Task& task : plan.graph.programs.front().tasks) {
      if (task.kind == TaskKind::kCollective && plan.graph.collectives[task.detail].bytes > Bytes(4)) ++calls;
    }
    EXPECT_GE(calls, 16) << recompute;
    // Gradients of weights are computed during the sums of those of inputs.
    const PerFlopAndByte compute;
    for (const auto& [job, batch] : {std::pair(&one, 1), std::pair(&many, 16)}) {
      const Duration hidden = kCall * batch * calls - in_calls(*job);
      EXPECT_GE(hidden, Duration()) << recompute;
      EXPECT_LE(hidden, *least_step(job->inputs(), compute)) << recompute;
      ASSERT_LT(*least_step(job->inputs(), compute), kCall) << recompute;
    }
  }
}

// Sums of gradients follow the last pass, unless they overlap with it; then the parameters are gathered.
TEST(LeastStep, EndsWithTheExchangesOfGradientsAndParameters) {
  const auto calls = [](const std::string& parallel) {
    const JobText job(text_of("dp: 2, " + parallel, "none"), 2);
    EXPECT_THAT(job.problems(), IsEmpty()) << parallel;
    return in_calls(job).count() / kCall.count();
  };
  const std::int64_t buckets = calls("zero: {overlap_grad_reduce: false}");
  EXPECT_GT(buckets, 0);
  EXPECT_EQ(calls("zero: {overlap_grad_reduce: true}"), 0);
  EXPECT_EQ(calls("zero: {stage: 1, overlap_grad_reduce: false, overlap_param_gather: false}"), 2 * buckets);
  EXPECT_EQ(calls("zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true}"), 0);
}

TEST(LeastStep, IsUnknownWhereRanksOfAStageDiffer) {
  const PerFlopAndByte compute;
  const JobText uneven(text_of("cp: 2, cp_balanced: false", "none"), 4);
  if (uneven.problems().empty()) {
    EXPECT_FALSE(least_step(uneven.inputs(), compute).has_value());
  }
  JobText job(text_of("tp: 2", "none"), 4);
  EXPECT_TRUE(least_step(job.inputs(), compute).has_value());
  job.parallel.replica_microbatches = {9, 7};
  EXPECT_FALSE(least_step(job.inputs(), compute).has_value());
}

}  // namespace
}  // namespace ringwright::workload::least_step_test
