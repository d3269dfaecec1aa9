// Simulated steps written as GOAL schedules and replayed.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/step_traces.h"
#include "tests/configs/played.h"
#include "tests/support/own_folder.h"
#include "traces/chakra/trace_builder.h"
#include "traces/chakra/writer.h"
#include "traces/goal/binary_form.h"
#include "traces/goal/goal_file.h"

namespace ringwright::configs::goal_export_test {
namespace {

using namespace literals;
using testing::HasSubstr;
using traces::GoalKind;
using traces::GoalOperation;

constexpr std::string_view kTwoHosts = "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4}}\n";

class GoalExport : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] Duration replayed(const std::string& name, const std::string& content) {
    write(name, content);
    return play(load(fmt::format("{}workload: {{goal: {}}}\ncollectives: {{overhead: none}}\n", kTwoHosts, path(name))))
        .time();
  }
  [[nodiscard]] std::unique_ptr<StepTraces> recorded(const std::string& text) {
    auto step = StepTraces::record(scenarios_.emplace_back(load(text)), FoldMode::kFold);
    EXPECT_TRUE(step) << (step ? "" : render(step.error()));
    return step ? std::move(*step) : nullptr;
  }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(test::own_folder());
  std::deque<Scenario> scenarios_;  // they outlive their steps
};

std::string trained(const std::string& parallel, const std::string& collectives) {
  return fmt::format("{}{}training: {{global_batch: 16, micro_batch: 1}}\nparallel: {}\ncollectives: {}\n", kTwoHosts,
                     kTinyModel, parallel, collectives);
}

std::string lost_in_goal(const StepTraces& step) {
  const auto goal = step.goal();
  return render(goal ? goal->lost : goal.error());
}

std::ptrdiff_t count(const traces::GoalRank& rank, GoalKind kind, std::uint64_t size) {
  return std::ranges::count_if(
      rank.operations, [&](const GoalOperation& entry) { return entry.kind == kind && entry.size == size; });
}

// A calc is off by less than 1 ns, and so is a run of calcs on one cpu: 10 ns are ten changes of cpu on the longest
// path of a step that takes milliseconds.
TEST_F(GoalExport, AScheduleReplayedTakesTheTimeOfTheStep) {
  for (const char* const collectives : {"{model: steps, overhead: none, dp: {algorithm: ring}}",
                                        "{model: steps, overhead: kernels, dp: {algorithm: ring}}"}) {
    for (const char* const parallel : {"{tp: 2, dp: 4}", "{tp: 2, pp: 2, dp: 2}", "{pp: 4, dp: 2}",
                                       "{dp: 8, zero: {stage: 3}}", "{tp: 2, dp: 4, sequence_parallel: true}"}) {
      const std::string text = trained(parallel, collectives);
      const auto step = recorded(text);
      ASSERT_TRUE(step);
      const auto goal = step->goal();
      ASSERT_TRUE(goal) << render(goal.error());
      EXPECT_TRUE(goal->lost.all().empty()) << render(goal->lost);
      const Duration original = play(load(text)).time();
      const Duration again = replayed("step.goal", traces::goal_text(goal->schedule));
      EXPECT_LT(again - original, 10_ns) << parallel << collectives;
      EXPECT_LT(original - again, 10_ns) << parallel << collectives;
      EXPECT_EQ(replayed("step.bin", traces::goal_binary(goal->schedule)), again);
    }
  }
}

// Of a trace that is replayed, too: a ring of 4 sums 64 MiB in 2 x 3 steps of a quarter.
TEST_F(GoalExport, ACollectiveIsTheMessagesOfItsAlgorithm) {
  traces::ChakraTraceBuilder builder("t");
  const traces::ChakraAttributes sum{.comm_type = traces::ChakraCollective::kAllReduce, .comm_size = 64_MiB};
  const std::vector<std::uint64_t> first{1};
  builder.add({.id = 1, .name = "forward", .kind = traces::ChakraKind::kCompute, .duration_micros = 100});
  builder.add({.id = 2,
               .name = "sum",
               .kind = traces::ChakraKind::kCollective,
               .data_dependencies = first,
               .attributes = &sum});
  const traces::ChakraTrace trace = std::move(builder).take();
  for (int rank = 0; rank < 4; ++rank) write(fmt::format("t.{}.et", rank), traces::chakra_records(trace));
  const auto step = recorded(
      fmt::format("cluster: {{nodes: 1, node: {{preset: dgx-h100, gpus: 4}}}}\nworkload: {{chakra: {}}}\n"
                  "collectives: {{model: steps, overhead: none, world: {{algorithm: ring}}}}\n",
                  path("t")));
  ASSERT_TRUE(step);
  const auto goal = step->goal();
  ASSERT_TRUE(goal) << render(goal.error());
  ASSERT_EQ(goal->schedule.ranks.size(), 4U);
  for (const traces::GoalRank& rank : goal->schedule.ranks) {
    EXPECT_EQ(count(rank, GoalKind::kCalc, 100'000), 1);
    EXPECT_EQ(count(rank, GoalKind::kSend, 16U << 20U), 6);
    EXPECT_EQ(count(rank, GoalKind::kReceive, 16U << 20U), 6);
    EXPECT_EQ(rank.operations.size(), 13U);
    // The first send waits for the calc, each other one for the send and the receive before it; receives for nothing.
    EXPECT_EQ(rank.requirements.size(), 1U + 5U * 2U);
  }
}

TEST_F(GoalExport, WhatTheScheduleLacksIsAWarning) {
  for (const char* const model : {"chunks", "closed_form"}) {
    const auto step = recorded(trained("{tp: 2, dp: 4}", fmt::format("{{model: {}}}", model)));
    ASSERT_TRUE(step);
    EXPECT_THAT(lost_in_goal(*step), testing::AllOf(HasSubstr("W624"), HasSubstr("model: steps")));
  }
}

TEST_F(GoalExport, PathsChosenByHashAreAWarning) {
  const auto step = recorded(
      std::string(kTinyModel) + "training: {global_batch: 16, micro_batch: 1}\nparallel: {tp: 2, dp: 4}\n"
      "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4}, fabric: {type: rail_optimized, "
      "routing: {policy: ecmp}}}\ncollectives: {model: steps}\n");
  ASSERT_TRUE(step);
  EXPECT_THAT(lost_in_goal(*step), testing::AllOf(HasSubstr("W624"), HasSubstr("hash")));
}

// Pairs of GPUs of a host: with NCCL_CROSS_NIC=0 a ring comes back into a host by the NIC by which it leaves, which is
// not that of the first GPU. A plain ring names none.
TEST_F(GoalExport, NicsThatAnAlgorithmNamesAreAWarning) {
  const auto scenario = [](const char* const algorithm) {
    return std::string(kTinyModel) +
           fmt::format("training: {{global_batch: 16, micro_batch: 1}}\nparallel: {{tp: 2, dp: 4}}\n"
                       "cluster: {{nodes: 2, node: {{preset: hgx-h100-x4}}}}\n"
                       "comm: {{env: {{NCCL_CROSS_NIC: 0}}}}\ncollectives: {{model: steps{}}}\n",
                       algorithm);
  };
  const auto named = recorded(scenario("")), plain = recorded(scenario(", dp: {algorithm: ring}"));
  ASSERT_TRUE(named && plain);
  EXPECT_THAT(lost_in_goal(*named), testing::AllOf(HasSubstr("W624"), HasSubstr("of dp name the NICs")));
  EXPECT_THAT(lost_in_goal(*plain), testing::Not(HasSubstr("W624")));
}

TEST_F(GoalExport, SumsInSwitchesAreRefused) {
  const auto step = recorded(trained("{tp: 4, dp: 2}", "{model: steps, tp: {algorithm: in_switch}}"));
  ASSERT_TRUE(step);
  const auto goal = step->goal();
  ASSERT_FALSE(goal);
  EXPECT_THAT(render(goal.error()),
              testing::AllOf(HasSubstr("E624"), HasSubstr("all_reduce of dimension tp"), HasSubstr("switches")));
}

}  // namespace
}  // namespace ringwright::configs::goal_export_test
