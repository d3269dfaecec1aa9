// Computing and communication on one GPU: how they slow each other, in whole scenarios.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::interference_test {
namespace {

const std::vector<std::string> kShare = {"interference.model=share"};

std::string scenario_text(const std::string& parallel, int batch, const std::string& rest = "") {
  return std::string(kTinyModel) + "training: {global_batch: " + std::to_string(batch) + "}\nparallel: {" + parallel +
         "}\ncluster: {nodes: 2, node: {preset: dgx-h100}}\n" + rest;
}

Duration lost(const Played& played, std::size_t rank) {
  Duration sum;
  for (const Interference& of : played.record.interference[played.folding.ranks.class_of[rank].index()]) {
    sum += of.computing_to_sms + of.computing_to_memory;
  }
  return sum;
}

Duration computing(const Played& played, std::size_t rank) {
  Duration sum;
  for (const auto& [mask, time] : played.record.time_in[played.folding.ranks.class_of[rank].index()].entries()) {
    if ((mask & kComputing) != 0) sum += time;
  }
  return sum;
}

// By how much data the rank's thread blocks were late.
Duration late(const Played& played, std::size_t rank) {
  Duration sum;
  for (const Interference& of : played.record.interference[played.folding.ranks.class_of[rank].index()]) {
    sum += of.communication;
  }
  return sum;
}

class Layouts : public testing::TestWithParam<const char*> {};

TEST_P(Layouts, WhatIsLostIsWhatComputingTakesLonger) {
  const std::string text = scenario_text(GetParam(), 64);
  const Played alone = play(load(text));
  const Played shared = play(load(text, kShare));
  ASSERT_TRUE(alone.record.interference.empty());
  bool some = false;
  for (std::size_t rank = 0; rank < alone.finished_at.size(); ++rank) {
    const Duration longer = computing(shared, rank) - computing(alone, rank);
    // Each change of rate may round by a picosecond.
    EXPECT_NEAR(static_cast<double>(longer.count()), static_cast<double>(lost(shared, rank).count()), 1e4) << rank;
    some = some || lost(shared, rank) > Duration(0);
  }
  EXPECT_TRUE(some);
}

TEST_P(Layouts, FoldedIsPlayedAsTheWhole) {
  const Scenario scenario = load(scenario_text(GetParam(), 64), kShare);
  const Played folded = play(scenario, FoldMode::kFold);
  const Played whole = play(scenario, FoldMode::kNoFold);
  for (std::size_t rank = 0; rank < whole.finished_at.size(); ++rank) {
    EXPECT_EQ(folded.finished_at[rank], whole.finished_at[rank]) << rank;
    EXPECT_EQ(lost(folded, rank), lost(whole, rank)) << rank;
    EXPECT_EQ(late(folded, rank), late(whole, rank)) << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Interference, Layouts,
    testing::Values("tp: 2, pp: 4, zero: {overlap_grad_reduce: true}", "tp: 1, zero: {stage: 3, gather_calls: weights}",
                    "tp: 4, pp: 2, virtual_stages: 2, schedule: interleaved-1f1b, zero: {overlap_grad_reduce: true}"));

// All ranks gather weights over NVLink, concurrently with GEMMs and memory-bound kernels.
class Rungs : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Scenario scenario(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {kShare.front(), std::string("collectives.model=") + GetParam()};
    all.insert(all.end(), more.begin(), more.end());
    return load("model: {preset: gpt2-1.5b, num_layers: 4}\ntraining: {global_batch: 16, micro_batch: 2}\n"
                "parallel: {tp: 1, zero: {stage: 3}}\ncluster: {nodes: 1, node: {preset: dgx-a100}}\n", all);
  }
};

TEST_P(Rungs, CommunicationOverlappedWithKernelsTakesLongerToo) {
  const Played shared = play(scenario());
  const Played apart = play(scenario({"interference.model=none"}));
  bool some = false;
  for (std::size_t rank = 0; rank < shared.finished_at.size(); ++rank) {
    EXPECT_GE(shared.finished_at[rank], apart.finished_at[rank]) << rank;
    some = some || late(shared, rank) > Duration(0);
  }
  EXPECT_TRUE(some);
  EXPECT_GT(shared.in_flight(0, "dp"), apart.in_flight(0, "dp"));
}

TEST_P(Rungs, FoldedIsPlayedAsTheWhole) {
  const Played folded = play(scenario(), FoldMode::kFold);
  const Played whole = play(scenario(), FoldMode::kNoFold);
  for (std::size_t rank = 0; rank < whole.finished_at.size(); ++rank) {
    EXPECT_EQ(folded.finished_at[rank], whole.finished_at[rank]) << rank;
    EXPECT_EQ(late(folded, rank), late(whole, rank)) << rank;
  }
}

TEST_P(Rungs, TwoRunsAreTheSame) {
  EXPECT_EQ(play(scenario()).fingerprint, play(scenario()).fingerprint);
}

TEST_P(Rungs, DataThatTakeNoMemoryAreNotLate) {
  const Played played = play(scenario({"interference.memory_bytes_per_copied_byte=0",
                                       "interference.memory_bytes_per_reduced_byte=0"}));
  for (std::size_t rank = 0; rank < played.finished_at.size(); ++rank) EXPECT_EQ(late(played, rank), Duration(0));
}

INSTANTIATE_TEST_SUITE_P(Interference, Rungs, testing::Values("closed_form", "steps", "chunks"));

// AutoCCL (NSDI'25): the best number of channels for a collective alone is not the best during computation. One layer's
// worth of gradients crosses the fabric while the backward pass runs.
struct ByChannels {
  int channels = 0;
  double alone = 0.0;   // seconds of gradient reduction with nothing concurrent
  double step = 0.0;    // of a step in which it overlaps with the backward pass
};

std::vector<ByChannels> sweep_channels() {
  const std::string text =
      "model: {preset: gpt2-1.5b}\ntraining: {global_batch: 32, micro_batch: 4}\n"
      "parallel: {tp: 1, zero: {stage: 1, overlap_grad_reduce: true}}\n"
      "cluster: {nodes: 1, node: {preset: dgx-a100}}\n"
      "collectives: {model: chunks}\n"
      "comm: {plan: {algorithm: ring, protocol: simple}}\n";
  std::vector<ByChannels> rows;
  for (const int channels : {1, 2, 4, 8, 16, 32}) {
    const std::string plan = "comm.plan.channels=" + std::to_string(channels);
    const Played apart =
        play(load(text, {plan, "parallel.zero.overlap_grad_reduce=false", "parallel.zero.overlap_param_gather=false"}));
    const Played shared = play(load(text, {plan, kShare.front()}));
    rows.push_back({channels, to_seconds(apart.in_flight(0, "dp")), to_seconds(shared.time())});
  }
  return rows;
}

TEST(Interference, MoreChannelsAreFasterAloneAndSlowerWithComputing) {
  const std::vector<ByChannels> rows = sweep_channels();
  const auto fastest = [&](double ByChannels::*time) {
    return std::ranges::min_element(rows, {}, time)->channels;
  };
  EXPECT_GE(fastest(&ByChannels::alone), 16);
  EXPECT_LT(fastest(&ByChannels::step), fastest(&ByChannels::alone));
  // Few channels leave communication exposed: the best number is in between.
  EXPECT_GT(rows.front().step, std::ranges::min_element(rows, {}, &ByChannels::step)->step * 1.05);
  for (const ByChannels& row : rows) {
    RecordProperty("channels " + std::to_string(row.channels),
                   std::to_string(row.alone * 1e3) + " ms alone, step " + std::to_string(row.step * 1e3) + " ms");
  }
}

TEST(Interference, ReportNamesWhatWasLostAndToWhom) {
  const std::string text = "model: {preset: gpt2-1.5b}\ntraining: {global_batch: 16}\n"
                           "parallel: {tp: 1, zero: {stage: 3}}\ncluster: {nodes: 1, node: {preset: dgx-a100}}\n";
  const Scenario scenario = load(text, kShare);
  const Outcome outcome = simulate(scenario, *assemble(scenario), {});
  EXPECT_NE(render_text(*outcome.report).find("lost to DP: SMs"), std::string::npos);
  EXPECT_NE(render_json(*outcome.report).find("compute_lost_to_sms_s"), std::string::npos);
  EXPECT_NE(render_json(*outcome.report).find("lost_to_compute_s"), std::string::npos);
  const Scenario apart = load(text);
  const std::string alone = render_json(*simulate(apart, *assemble(apart), {}).report);
  EXPECT_EQ(alone.find("compute_lost"), std::string::npos);
  EXPECT_EQ(alone.find("lost_to_compute"), std::string::npos);
}

// Ranks that communication slows differently must not be one class.
TEST(Interference, IsSeenByTheFold) {
  class ByPlace final : public CommunicationFootprint {
   public:
    [[nodiscard]] Contention of(const CollectiveCall& call) const override {
      return {.sms = 1 + call.layout->gpu_of.front(), .memory = {}, .copies = {}};
    }
    [[nodiscard]] Contention of(const MessageSpec&, DimensionId, RankId rank) const override {
      return {.sms = 1 + static_cast<int>(rank.value), .memory = {}, .copies = {}};
    }
  };
  const ByPlace contention;
  for (const char* parallel : {"tp: 4, dp: auto", "tp: 4, pp: 4"}) {
    const auto simulation = assemble(load(scenario_text(parallel, 64, "collectives: {overhead: none}\n")));
    const auto classes = [&](const CommunicationFootprint* footprint) {
      return fold(simulation->plan().graph, {simulation->chooser(), nullptr, nullptr, nullptr, footprint},
                  *simulation->network().router)
          .ranks.count();
    };
    EXPECT_LT(classes(nullptr), classes(&contention)) << parallel;
  }
}

TEST(Interference, ConstantsAreIgnoredAloudWhereNothingLooksAtThem) {
  const Scenario scenario = load(scenario_text("tp: 8", 64), {"interference.sms_per_channel=2"});
  const auto& ignored = scenario.document.log().ignored();
  EXPECT_TRUE(
      std::ranges::any_of(ignored, [](const IgnoredKey& key) { return key.path == "interference.sms_per_channel"; }));
}

TEST(Interference, ConstantsThatMakeNoSenseAreRefused) {
  for (const char* nonsense : {"interference.memory_bytes_per_copied_byte=-1", "interference.streaming_share=0%",
                               "interference.sms_per_channel=9", "interference.model=both"}) {
    const auto scenario = load_scenario_text("test.yaml", scenario_text("tp: 2", 64),
                                             {.overrides = {kShare.front(), nonsense}, .share_folders = {}});
    ASSERT_FALSE(scenario) << nonsense;
    EXPECT_NE(render(scenario.error()).find("interference."), std::string::npos) << nonsense;
  }
}

TEST(Interference, ThreadBlocksThatHoldNothingSlowNothingButMemory) {
  const std::string text = scenario_text("tp: 1, zero: {stage: 3}", 64);
  const Played played = play(load(text, {kShare.front(), "interference.sms_per_channel=0"}));
  for (const auto& of_class : played.record.interference) {
    for (const Interference& of : of_class) EXPECT_EQ(of.computing_to_sms, Duration(0));
  }
}

}  // namespace
}  // namespace ringwright::configs::interference_test
