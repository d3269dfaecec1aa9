// Where passes repeat, cycles of passes that are left out change no peak; where they do not, that is seen.
#include "workload/memory/memory_walk.h"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/layout/pipeline_order.h"
#include "workload/pipeline/schedule_check.h"
#include "workload/pipeline/steady_passes.h"

namespace ringwright::workload::memory_walk_test {
namespace {

std::string job_text(const std::string& training, const std::string& parallel) {
  return small_model(16) +
         fmt::format("training: {{global_batch: 128, micro_batch: 1{}}}\nparallel: {{{}}}\n", training, parallel);
}

MemoryWalk walk_alone(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots) {
  const std::vector<StageUnits> units = stage_units(parts, inputs.parallel);
  KnownGathers gathers;
  return MemoryWalker(inputs, parts, units, gathers).walk(slots);
}

void expect_same_peaks(const std::string& training, const std::string& parallel) {
  SCOPED_TRACE(parallel + training);
  const JobText job(job_text(training, parallel), 4);
  ASSERT_TRUE(job.problems().empty()) << job.problems().front();
  ASSERT_TRUE(passes_repeat(job.inputs()));
  const PipelineOrder order = pipeline_order(job.parallel, job.training);
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    const std::vector<Slot> slots = release_first(order[stage]);
    const std::vector<Slot> few = without_repeated_cycles(slots);
    EXPECT_LT(few.size(), slots.size());
    const auto parts = stage_chunks(job.shape, job.parallel, static_cast<int>(stage));
    const StepInputs inputs = job.inputs();
    const MemoryWalk all = walk_alone(inputs, parts, slots);
    const MemoryWalk same = walk_alone(inputs, parts, few);
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

// Pass by pass through the whole order.
struct Walked {
  HeldBytes peak;
  Bytes reserved;
};
Walked walked_pass_by_pass(const StepInputs& inputs, const std::vector<ModelChunk>& parts,
                           const std::vector<Slot>& slots) {
  const std::vector<StageUnits> units = stage_units(parts, inputs.parallel);
  KnownGathers gathers;
  PassWalker passes(inputs, parts, units);
  passes.begin(gathers, slots);
  Walked walked;
  HeldBytes held;
  for (const Slot& slot : slots) {
    const PassMemory& pass = passes.next(slot);
    if (pass.total) walked.reserved = std::max(walked.reserved, held.total() + pass.reserved);
    if (pass.total && held.total() + *pass.total > walked.peak.total()) {
      walked.peak = held;
      walked.peak.add(pass.peak);
    }
    held.add(pass.after);
  }
  walked.reserved = walked.reserved - walked.peak.total();
  return walked;
}

// Of sharded parameters, with every rule of when they are gathered.
ShardingOptions sharding_of(std::mt19937& random, ShardingOptions sharding) {
  const auto one_of = [&random](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + std::uniform_int_distribution<std::ptrdiff_t>(0, std::ssize(values) - 1)(random));
  };
  const auto coin = [&random] { return std::bernoulli_distribution(0.5)(random); };
  constexpr std::int64_t kLayer = 30'000;  // elements, about
  sharding.root_unit = coin();
  sharding.keep_head = coin();
  sharding.reshard_after_forward = coin();
  sharding.reshard_after_backward = coin();
  sharding.backward_prefetch = static_cast<BackwardPrefetch>(one_of({0, 1, 2}));
  sharding.prefetch = one_of({0, 1, kLayer, 3 * kLayer, 40 * kLayer, 10'000 * kLayer});
  sharding.max_live = one_of({INT64_MAX, 2 * kLayer, 10 * kLayer, 60 * kLayer});
  sharding.max_reuse_distance = one_of({0, kLayer, 8 * kLayer, 20 * kLayer, 10'000 * kLayer});
  sharding.persistence_threshold = one_of({0, 100, 5'000});
  sharding.reduce_bucket = one_of({0, kLayer});
  return sharding;
}

bool leaves_out(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots) {
  const FewCycles few = with_few_cycles(slots);
  if (few.slots.size() == slots.size()) return false;
  const std::vector<StageUnits> units = stage_units(parts, inputs.parallel);
  KnownGathers gathers;
  PassWalker passes(inputs, parts, units);
  passes.begin(gathers, few.slots, few.cycles);
  return passes.gathers_repeat();
}

// Where what is gathered is seen to repeat, the passes that are left out change nothing; with all rules it is seen in
// most cases, and not in all.
TEST(MemoryWalk, CyclesOfGathersThatRepeatChangeNoPeak) {
  std::mt19937 random(20);
  int stages = 0;
  int shortened = 0;
  for (const char* parallel :
       {"fsdp: {}", "zero: {stage: 3}", "pp: 2, fsdp: {}", "pp: 2, virtual_stages: 2, schedule: interleaved-1f1b, "
        "zero: {stage: 3}"}) {
    JobText job(job_text(", recompute: full", parallel), 4);
    ASSERT_TRUE(job.problems().empty()) << job.problems().front();
    const PipelineOrder order = pipeline_order(job.parallel, job.training);
    const ShardingOptions read = job.parallel.sharding;
    for (int trial = 0; trial < 60; ++trial) {
      job.parallel.sharding = sharding_of(random, read);
      const StepInputs inputs = job.inputs();
      for (std::size_t stage = 0; stage < order.size(); ++stage) {
        const auto parts = stage_chunks(job.shape, job.parallel, static_cast<int>(stage));
        const std::vector<Slot> slots = release_first(order[stage]);
        const Walked all = walked_pass_by_pass(inputs, parts, slots);
        const MemoryWalk walk = walk_alone(inputs, parts, slots);
        EXPECT_EQ(walk.peak.of, all.peak.of) << parallel << " trial " << trial << " stage " << stage;
        EXPECT_EQ(walk.reserved, all.reserved) << parallel << " trial " << trial << " stage " << stage;
        ++stages;
        if (leaves_out(inputs, parts, slots)) ++shortened;
      }
    }
  }
  EXPECT_GT(shortened, stages / 2);
  EXPECT_LT(shortened, stages);
}

// One walker for stages with equal chunks: nothing of one stage's passes remains for the next.
TEST(MemoryWalk, StagesWithEqualChunksHoldWhatEachHoldsAlone) {
  std::mt19937 random(21);
  for (const char* parallel :
       {"pp: 4, fsdp: {}", "pp: 4, virtual_stages: 2, schedule: interleaved-1f1b, zero: {stage: 3}", "pp: 4",
        "pp: 4, cpu_offloading_num_layers: 1"}) {
    SCOPED_TRACE(parallel);
    JobText job(job_text(", recompute: selective", parallel), 8);
    ASSERT_TRUE(job.problems().empty()) << job.problems().front();
    const PipelineOrder order = pipeline_order(job.parallel, job.training);
    const ShardingOptions read = job.parallel.sharding;
    for (int trial = 0; trial < 30; ++trial) {
      if (read.parameters) job.parallel.sharding = sharding_of(random, read);
      const StepInputs inputs = job.inputs();
      const auto parts = stage_chunks(job.shape, job.parallel, 1);
      const std::vector<StageUnits> units = stage_units(parts, inputs.parallel);
      KnownGathers gathers;
      MemoryWalker shared(inputs, parts, units, gathers);
      for (const std::size_t stage : {1U, 2U, 1U}) {
        const std::vector<Slot> slots = release_first(order[stage]);
        const MemoryWalk walk = shared.walk(slots);
        const MemoryWalk alone = walk_alone(inputs, parts, slots);
        EXPECT_EQ(walk.peak.of, alone.peak.of) << "trial " << trial << " stage " << stage;
        EXPECT_EQ(walk.reserved, alone.reserved) << "trial " << trial << " stage " << stage;
        EXPECT_EQ(walk.on_host, alone.on_host) << "trial " << trial << " stage " << stage;
      }
    }
  }
}

// Of stages with the same chunks only the first is looked at.
TEST(MemoryWalk, StagesWithTheSameChunksAreFoundAndNoOthers) {
  for (const char* parallel : {"pp: 4", "pp: 4, virtual_stages: 2, schedule: interleaved-1f1b", "pp: 8",
                               "pp: 4, virtual_stages: 2, schedule: dualpipev",
                               "pp: 4, layers_per_part: [3, 5, 5, 3]"}) {
    const JobText job(job_text("", parallel), 8);
    ASSERT_TRUE(job.problems().empty()) << job.problems().front();
    const std::vector<int> firsts = first_with_same_chunks(job.shape, job.parallel);
    ASSERT_EQ(std::ssize(firsts), job.parallel.pp);
    for (int a = 0; a < job.parallel.pp; ++a) {
      for (int b = 0; b < a; ++b) {
        const auto of = [&](int stage) {
          std::vector<std::pair<std::vector<PointKind>, std::int64_t>> content;
          for (const ModelChunk& part : stage_chunks(job.shape, job.parallel, stage)) {
            content.emplace_back(part.points, count_elements({part}));
          }
          return content;
        };
        EXPECT_EQ(firsts[static_cast<std::size_t>(a)] == firsts[static_cast<std::size_t>(b)], of(a) == of(b))
            << parallel << ": " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::memory_walk_test
