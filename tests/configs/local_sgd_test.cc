// Workers that train on their own (local SGD, DiLoCo) in whole scenarios: bytes, times and memory in closed form.
#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "configs/simulation/step_plan.h"
#include "tests/configs/played.h"

namespace ringwright::configs::local_sgd_test {
namespace {

// Hosts of four GPUs, joined by slow NICs.
std::string job(const std::string& local, const std::string& more = "", int hosts = 2) {
  return fmt::format(
      "{}training: {{global_batch: 32{}}}\nparallel: {{dp: auto{}}}\n"
      "cluster: {{nodes: {}, node: {{preset: dgx-h100, gpus: 4, pcie: {{switches: 2}}, nic: {{count: 1, bandwidth: "
      "1Gbps}}}}, fabric: {{type: fat_tree}}}}\n",
      kTinyModel, local.empty() ? "" : ", local_sgd: {" + local + "}", more, hosts);
}

Report report_of(const std::string& text) {
  const Scenario scenario = load(text);
  return std::move(*simulate(scenario, FoldMode::kFold)->report);
}

double mean_seconds(const std::string& local, const std::string& more = "") {
  return to_seconds(report_of(job(local, more)).step_time.mean);
}

Bytes sent_in_outer_step(const std::string& text, const char* dimension) {
  Scenario scenario = load(text);
  scenario.job.training.local_sgd.meets = true;
  const workload::StepPlan plan = plan_step(scenario, workload::Passes::kAsSegments, Checkpointing::kAsGiven,
                                            OuterStep::kInEveryStep);
  for (std::size_t d = 0; d < plan.graph.dimensions.size(); ++d) {
    if (plan.graph.dimensions[d].name == dimension) return plan.communication.front()[d];
  }
  return Bytes(0);
}

// A fragment is P / F parameters of e bytes.
TEST(LocalSgd, ExchangesItsFragmentsBytes) {
  const Report report = report_of(job("sync_every: 100, workers: 2"));
  ASSERT_TRUE(report.facts.outer.has_value());
  const Bytes whole = report.facts.outer->exchanged;
  EXPECT_EQ(sent_in_outer_step(job("sync_every: 100, workers: 2"), "outer"), whole);
  EXPECT_EQ(sent_in_outer_step(job("sync_every: 100, workers: 2, exchange_dtype: bf16"), "outer"), whole / 2);
  const Bytes quarter = sent_in_outer_step(job("sync_every: 100, workers: 2, fragments: 4"), "outer");
  EXPECT_NEAR(static_cast<double>(quarter.count()), static_cast<double>(whole.count()) / 4.0, 4.0);
}

// (H - 1) steps without an exchange and one with it, H apart.
TEST(LocalSgd, AStepHasTheMeanShareOfAnExchange) {
  const OuterFacts ten = *report_of(job("sync_every: 10, workers: 2")).facts.outer;
  const Duration extra = ten.with - ten.without;
  EXPECT_GT(extra, Duration());
  EXPECT_NEAR(to_seconds(ten.added), to_seconds(extra) / 10.0, 1e-9);
  const Report hundred = report_of(job("sync_every: 100, workers: 2"));
  EXPECT_NEAR(to_seconds(hundred.step_time.mean), to_seconds(hundred.facts.outer->without) + to_seconds(extra) / 100.0,
              1e-9);
  EXPECT_EQ(hundred.facts.outer->with, ten.with);
}

// Communication per sample falls as 1 / H: over slow links the fewer exchanges, the shorter the mean step, and all
// replicas in every step are slowest. Sharded states: without, every rank of a worker exchanges all parameters.
TEST(LocalSgd, FewerExchangesAreFaster) {
  const std::string sharded = ", zero: {stage: 1}";
  double before = mean_seconds("", sharded);
  for (const int every : {2, 10, 100}) {
    const double now = mean_seconds(fmt::format("sync_every: {}, workers: 2", every), sharded);
    EXPECT_LT(now, before) << every;
    before = now;
  }
}

// Streaming DiLoCo: fragments take turns, so that as many bytes are exchanged in smaller pieces; and an exchange that
// overlaps the next step costs less.
TEST(LocalSgd, StreamingExchangesCostNoMore) {
  const OuterFacts whole = *report_of(job("sync_every: 8, workers: 2")).facts.outer;
  const OuterFacts parts = *report_of(job("sync_every: 8, workers: 2, fragments: 4")).facts.outer;
  EXPECT_LT(parts.with, whole.with);
  EXPECT_NEAR(to_seconds(parts.added) / to_seconds(whole.added), 1.0, 0.05);
  const OuterFacts hidden = *report_of(job("sync_every: 8, workers: 2, fragments: 4, overlap: true")).facts.outer;
  EXPECT_LT(hidden.added, parts.added);
}

// DiLoCo: outer weights and momentum in fp32, 8 bytes for each parameter that a rank updates; with ZeRO its share.
TEST(LocalSgd, OuterStateIsInMemory) {
  const auto items = [](const std::string& text) {
    const Report report = report_of(text);
    std::map<std::string, Bytes> sizes;
    for (const MemoryItem& item : report.facts.memory.front().items) sizes[std::string(item.name)] = item.size;
    return sizes;
  };
  const auto plain = items(job(""));
  const auto nesterov = items(job("sync_every: 10, workers: 2"));
  const auto average = items(job("sync_every: 10, workers: 2, outer_optimizer: average"));
  EXPECT_EQ(plain.count("outer optimizer"), 0U);
  EXPECT_EQ(nesterov.at("outer optimizer"), plain.at("weights") * 4);  // of two bytes each
  EXPECT_EQ(nesterov.at("outer gradients"), plain.at("weights") * 2);
  EXPECT_EQ(average.count("outer optimizer"), 0U);
  const auto sharded = items(job("sync_every: 10, workers: 2", ", zero: {stage: 1}"));
  EXPECT_NEAR(static_cast<double>(sharded.at("outer optimizer").count()),
              static_cast<double>(nesterov.at("outer optimizer").count()) / 4.0, 4096.0);
}

// Replicas of a worker sum gradients among themselves only.
TEST(LocalSgd, WorkersAreGroupsOfReplicas) {
  const Played played = play(load(job("sync_every: 10, workers: 2")));
  const Dimension& inner = played.graph.dimensions[played.dimension("dp")];
  const Dimension& outer = played.graph.dimensions[played.dimension("outer")];
  EXPECT_EQ(inner.groups.size(), 2U);
  EXPECT_EQ(inner.groups.front().size(), 4U);
  EXPECT_EQ(outer.groups.size(), 4U);
  EXPECT_EQ(outer.groups.front(), (std::vector<RankId>{RankId(0), RankId(4)}));
}

TEST(LocalSgd, IsPlayedByOneRankForAll) {
  for (const char* more : {"", ", tp: 2", ", pp: 2", ", zero: {stage: 1, overlap_grad_reduce: true}",
                           ", fsdp: {}", ", cp: 2"}) {
    for (const char* local : {"sync_every: 4, workers: 2", "sync_every: 4, workers: 2, fragments: 2, overlap: true"}) {
      const Scenario scenario = load(job(local, more, 4));
      const auto folded = simulate(scenario, FoldMode::kFold);
      const auto whole = simulate(scenario, FoldMode::kNoFold);
      ASSERT_TRUE(folded && folded->report) << more;
      EXPECT_EQ(folded->report->step_time.mean, whole->report->step_time.mean) << more << local;
      EXPECT_EQ(folded->report->facts.outer->with, whole->report->facts.outer->with) << more << local;
    }
  }
}

TEST(LocalSgd, RefusesWhatItDoesNotModel) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of(job("sync_every: 10, workers: 3")), HasSubstr("E572"));
  EXPECT_THAT(refusal_of(job("sync_every: 10, workers: 2, fragments: 3")), HasSubstr("E572"));
  EXPECT_THAT(refusal_of(job("sync_every: 10, workers: 2", ", zero: {stage: 1, offload_optimizer: {device: cpu}}")),
              HasSubstr("E573"));
}

}  // namespace
}  // namespace ringwright::configs::local_sgd_test
