// A short order with its cycles restored is the whole order.
#include "workload/layout/short_order.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/layout/pipeline_order.h"

namespace ringwright::workload::short_order_test {
namespace {

std::optional<ShortOrder> shorten_job(const JobText& job, CyclesKept cycles = CyclesKept::kFew) {
  const StepInputs inputs = job.inputs();
  return shorten(pipeline_order(inputs.parallel, inputs.training), inputs.parallel, inputs.training, cycles);
}

// 8 ranks, all of them stages; `microbatches` of one sequence.
std::string job_text(const std::string& parallel, int microbatches) {
  return fmt::format(
      "model: {{num_layers: 16, hidden_size: 64, num_attention_heads: 4, ffn_hidden_size: 128, vocab_size: 256, "
      "seq_length: 32}}\ntraining: {{global_batch: {}, micro_batch: 1}}\nparallel: {{pp: 8, {}}}\n",
      microbatches, parallel);
}

// Every slot of a cycle again, so many microbatches later.
void append_cycles(std::vector<Slot>& slots, const ShortOrder::Steady& steady, std::uint32_t cycles, int microbatches) {
  for (std::uint32_t i = 0; i < cycles * steady.cycle; ++i) {
    slots.push_back(slots[slots.size() - steady.cycle]);
    slots.back().microbatch += microbatches;
  }
}

void expect_whole(const std::string& parallel, int microbatches, int cycle) {
  const JobText job(job_text(parallel, microbatches), 8);
  const PipelineOrder whole = pipeline_order(job.inputs().parallel, job.inputs().training);
  const auto few = shorten_job(job);
  ASSERT_TRUE(few.has_value()) << parallel;
  EXPECT_GT(few->cycles_left_out, 0) << parallel;
  for (std::size_t stage = 0; stage < whole.size(); ++stage) {
    const std::vector<Slot>& slots = few->order[stage];
    const ShortOrder::Steady& steady = few->steady[stage];
    const auto end = slots.begin() + static_cast<std::ptrdiff_t>(steady.end);
    std::vector<Slot> again(slots.begin(), end);
    append_cycles(again, steady, few->cycles_left_out, cycle);
    for (auto slot = end; slot != slots.end(); ++slot) {
      again.push_back(*slot);
      again.back().microbatch += cycle * static_cast<int>(few->cycles_left_out);
    }
    EXPECT_EQ(again, whole[stage]) << parallel << ", stage " << stage;
  }
}

TEST(ShortOrder, WithItsCyclesIsTheWholeOne) {
  for (const int microbatches : {25, 64, 301}) {
    expect_whole("schedule: 1f1b", microbatches, 1);
    expect_whole("schedule: zb-h1", microbatches, 1);
  }
  expect_whole("schedule: zb-v, virtual_stages: 2", 100, 1);
  expect_whole("schedule: interleaved-1f1b, virtual_stages: 2", 128, 8);
  expect_whole("schedule: dualpipe", 64, 2);
  expect_whole("schedule: dualpipev, virtual_stages: 2", 64, 1);
}

TEST(ShortOrder, LeavesNothingOutOfAFewMicrobatches) {
  EXPECT_FALSE(shorten_job(JobText(job_text("schedule: 1f1b", 16), 8)).has_value());
}

TEST(ShortOrder, KeepsMoreCyclesOnRequest) {
  const JobText job(job_text("schedule: 1f1b", 200), 8);
  const auto few = shorten_job(job);
  const auto many = shorten_job(job, CyclesKept::kMany);
  ASSERT_TRUE(few.has_value() && many.has_value());
  EXPECT_EQ(few->cycles_left_out, 200 - 16);
  EXPECT_EQ(many->cycles_left_out, 200 - 4 * 16);
}

// All forward passes before all backward passes: two steady states, one after the other.
TEST(ShortOrder, NeedsOneSteadyState) {
  EXPECT_FALSE(shorten_job(JobText(job_text("schedule: gpipe", 200), 8)).has_value());
}

}  // namespace
}  // namespace ringwright::workload::short_order_test
