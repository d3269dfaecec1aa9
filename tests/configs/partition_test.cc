// Collectives divided by Centauri's three rules, in whole scenarios: bytes, folding, and searches that never lose.
#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "configs/simulation/step_plan.h"
#include "tests/configs/played.h"

namespace ringwright::configs::partition_test {
namespace {

std::string job(const std::string& partition, const std::string& more = "", int hosts = 4) {
  return fmt::format(
      "{}training: {{global_batch: 64}}\nparallel: {{dp: auto{}{}}}\n"
      "cluster: {{nodes: {}, node: {{preset: dgx-h100, gpus: 4, pcie: {{switches: 2}}, nic: {{count: 4}}}}, "
      "fabric: {{type: rail_optimized}}}}\n",
      kTinyModel, more, partition.empty() ? "" : ", partition: {" + partition + "}", hosts);
}

std::map<std::string, std::int64_t> buffers(const std::string& text) {
  const Scenario scenario = load(text);
  const workload::StepPlan plan = plan_step(scenario);
  std::map<std::string, std::int64_t> result;
  for (std::size_t d = 0; d < plan.graph.dimensions.size(); ++d) {
    result[plan.graph.dimensions[d].name] = plan.communication.front()[d].count();
  }
  return result;
}

// What a group sums: B bytes within and B / g across, in as many parts as one likes.
TEST(Partition, KeepsTheBytesOfACollective) {
  const std::int64_t whole = buffers(job("")).at("dp");
  EXPECT_EQ(buffers(job("dimensions: [dp], chunks: 4")).at("dp"), whole);
  EXPECT_EQ(buffers(job("dimensions: [dp], substitute: true")).at("dp"), 2 * whole);  // as inputs, and as results
  const auto parts = buffers(job("dimensions: [dp], hierarchical: true, chunks: 3"));
  EXPECT_EQ(parts.at("dp"), 0);
  EXPECT_EQ(parts.at("dp_within"), 2 * whole);
  EXPECT_NEAR(static_cast<double>(parts.at("dp_across")), static_cast<double>(whole) / 4.0, 3.0);
}

// A ring all-reduce over n ranks sends 2 (n - 1) / n of its bytes, so do a reduce-scatter and an all-gather.
TEST(Partition, SubstitutionSendsAsMuch) {
  const auto sent = [](const std::string& partition) {
    return static_cast<double>(
        play(load(job(partition) + "collectives: {dp: {algorithm: ring}}\n")).sent(0, "dp").count());
  };
  EXPECT_NEAR(sent("dimensions: [dp], substitute: true") / sent(""), 1.0, 1e-3);
  EXPECT_NEAR(sent("dimensions: [dp], substitute: true, chunks: 8") / sent(""), 1.0, 1e-3);
}

TEST(Partition, DividesGatherAndScatterByHosts) {
  const auto parts = buffers(job("dimensions: [dp], hierarchical: true", ", zero: {stage: 1}"));
  EXPECT_NEAR(static_cast<double>(parts.at("dp_within")), 4.0 * static_cast<double>(parts.at("dp_across")), 16.0);
}

// A group that lies in one host stays whole; so does one of another name.
TEST(Partition, LeavesGroupsOfOneHostAlone) {
  const Scenario plain = load(job("", ", tp: 4"));
  const Scenario tensor = load(job("dimensions: [tp], hierarchical: true", ", tp: 4"));
  EXPECT_EQ(play(plain).time(), play(tensor).time());
}

TEST(Partition, IsPlayedByOneRankForAll) {
  for (const char* partition : {"dimensions: [dp], chunks: 3", "dimensions: [dp, tp], substitute: true, chunks: 2",
                                "dimensions: [dp], hierarchical: true, chunks: 4"}) {
    for (const char* more : {"", ", tp: 2, pp: 2", ", zero: {stage: 1, overlap_grad_reduce: true}", ", pp: 4"}) {
      const Scenario scenario = load(job(partition, more));
      const Played folded = play(scenario, FoldMode::kFold);
      const Played whole = play(scenario, FoldMode::kNoFold);
      EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
      EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << partition << more;
      EXPECT_EQ(folded.finished_at, whole.finished_at) << partition << more;
      EXPECT_EQ(play(scenario, FoldMode::kFold, SegmentPlay::kAtOnce).record.iteration_end, whole.record.iteration_end)
          << partition << more;
      EXPECT_EQ(simulate(scenario, FoldMode::kFold)->report->step_time.mean,
                simulate(scenario, FoldMode::kNoFold)->report->step_time.mean)
          << partition << more;
    }
  }
}

// Chunks of a hierarchical all-reduce use NVLink and NICs at once.
TEST(Partition, APipelineOverHostsIsFasterThanItsPartsInTurn) {
  const auto seconds = [](const std::string& partition) {
    return to_seconds(play(load(job(partition, ", zero: {stage: 0}") +
                                "collectives: {dp: {algorithm: ring}}\n"))
                          .in_flight(0, "dp_across"));
  };
  EXPECT_GT(seconds("dimensions: [dp], hierarchical: true"), 0.0);
}

TEST(Partition, RefusesGroupsThatDoNotExist) {
  EXPECT_THAT(refusal_of(job("dimensions: [pp], chunks: 2")), testing::HasSubstr("E574"));
}

}  // namespace
}  // namespace ringwright::configs::partition_test
