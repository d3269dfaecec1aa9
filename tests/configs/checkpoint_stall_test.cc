// Checkpoints as traffic: their stall is an outcome of the simulated step, and agrees with formulas where these hold.
#include "configs/simulation/checkpoint_facts.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/report/checkpoint_line.h"
#include "tests/configs/checkpoint_hosts.h"
#include "tests/configs/played.h"

namespace ringwright::configs::checkpoint_stall_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

CheckpointFacts saved(const std::string& text, FoldMode fold = FoldMode::kFold) {
  const Result<Outcome> outcome = simulate(load(text), fold);
  if (!outcome || !outcome->report || !outcome->report->facts.checkpoint) throw std::runtime_error("no report");
  return *outcome->report->facts.checkpoint;
}

Duration stall_of(const std::string& text) {
  return *saved(text).stall;
}

std::string checkpoint(std::string_view to, std::string_view mode, std::int64_t bytes, std::string_view more = "") {
  return two_hosts(fmt::format("checkpoint: {{to: {}, mode: {}, size: {}B{}}}", to, mode, bytes, more));
}

constexpr std::int64_t kGiga = 1'000'000'000;

TEST(CheckpointStall, BlockingToHostMemoryIsTheSizeOverTheSlot) {
  // 63 GB/s of the GPU's slot; host memory has 307.2 GB/s. The latency of the path is below 1 us.
  const double expected = 10.0 / 63.0;
  EXPECT_NEAR(to_seconds(stall_of(checkpoint("host_memory", "blocking", 10 * kGiga))), expected, 0.001 * expected);
  const double small = 0.1 / 63.0;
  EXPECT_NEAR(to_seconds(stall_of(checkpoint("host_memory", "blocking", kGiga / 10))), small, 0.001 * small);
}

TEST(CheckpointStall, BlockingToAPeerIsTheSizeOverTheNic) {
  // 10 GB over 12.5 GB/s; then the last of 100 pieces goes from the peer's GPU to its memory, over a slot of 63 GB/s.
  const double expected = 10.0 / 12.5 + 0.1 / 63.0;
  const CheckpointFacts facts = saved(checkpoint("peer_host", "blocking", 10 * kGiga, ", pieces: 100"));
  EXPECT_NEAR(to_seconds(*facts.stall), expected, 0.001 * expected);
  EXPECT_EQ(facts.to_peers, Bytes(10 * kGiga));
  EXPECT_EQ(facts.in_host_memory, Bytes(20 * kGiga));
}

// A NIC of 50 GB/s sends faster than the slot, which carries (2 x copies - 1) x C, lets it.
TEST(CheckpointStall, TheSlotMayBeSlowerThanTheNic) {
  std::string text = checkpoint("peer_host", "blocking", 10 * kGiga, ", pieces: 1000");
  text.replace(text.find("100Gbps"), 7, "400Gbps");
  const double expected = 3.0 * 10.0 / 63.0;
  EXPECT_NEAR(to_seconds(stall_of(text)), expected, 0.005 * expected);
}

TEST(CheckpointStall, BlockingToStorageIsTheSlowestOfItsRates) {
  // Two hosts of one GPU: 10 GB each at 5 GB/s take 2 s, 20 GB at 4 GB/s 5 s. The copy to host memory takes 0.16 s.
  const auto stall = [](const char* rates) {
    return to_seconds(
        stall_of(checkpoint("storage", "blocking", 10 * kGiga, fmt::format(", storage: {{{}}}", rates))));
  };
  EXPECT_NEAR(stall("per_host: 5GB/s"), 2.0, 1e-3);
  EXPECT_NEAR(stall("per_host: 5GB/s, total: 4GB/s"), 5.0, 1e-3);
  EXPECT_NEAR(stall("per_host: 1TB/s"), 10.0 / 63.0, 1e-3);
}

// Stored while further steps run: 2 s are many steps, of which the copy to host memory stalls one.
TEST(CheckpointStall, StorageIsWrittenAfterTheSnapshot) {
  const std::string text = checkpoint("storage", "async", 1'000'000, ", storage: {per_host: 0.5MB/s}");
  const Result<Outcome> outcome = simulate(load(text), FoldMode::kFold);
  const Report& report = *outcome->report;
  EXPECT_EQ(report.facts.checkpoint->takes, from_seconds(2.0));
  EXPECT_LT(*report.facts.checkpoint->stall, report.step_time.mean);
  EXPECT_FALSE(ends_within_step(report));
  EXPECT_EQ(steps_until_stored(report), static_cast<std::int64_t>(std::ceil(2.0 / to_seconds(report.step_time.mean))));
}

// GEMINI's condition (SOSP 2023): (copies - 1) x C <= I, the bytes that the NIC could carry in its idle time of a step;
// beyond it the stall is at least ((copies - 1) x C - I) / B.
struct IdleTime {
  Duration step;
  Duration idle;  // of the NIC
  [[nodiscard]] std::int64_t bytes(double share) const { return std::llround(share * 12.5e9 * to_seconds(idle)); }
};

IdleTime idle_time() {
  const Played alone = play(load(two_hosts("")));
  const Duration busy = transfer_time(alone.sent(0, "dp"), Bandwidth(12.5e9));
  return {.step = alone.time(), .idle = alone.time() - busy};
}

TEST(CheckpointStall, InIdleTimeItCostsNothingWhileItFits) {
  const IdleTime time = idle_time();
  for (const double share : {0.1, 0.5, 0.95}) {
    const Duration stall = stall_of(checkpoint("peer_host", "idle", time.bytes(share), ", pieces: 32"));
    EXPECT_LE(to_seconds(stall), 0.001 * to_seconds(time.step)) << share;
  }
}

TEST(CheckpointStall, TheCrossoverIsWhereTheFormulaHasIt) {
  const IdleTime time = idle_time();
  for (const double share : {1.05, 1.5, 2.0, 4.0}) {
    const double stall =
        to_seconds(stall_of(checkpoint("peer_host", "idle", time.bytes(share), ", pieces: 32")));
    // In units of the idle time: the share at which the stall would be zero is the crossover, 1 by the formula.
    EXPECT_NEAR(share - stall / to_seconds(time.idle), 1.0, 0.05) << share;
  }
}

TEST(CheckpointStall, GrowsWithItsBytes) {
  const std::int64_t fits = idle_time().bytes(1.0);
  for (const char* to : {"host_memory", "peer_host"}) {
    for (const char* mode : {"blocking", "async", "idle"}) {
      Duration last;
      for (std::int64_t bytes = fits / 8; bytes <= 8 * fits; bytes *= 2) {
        const Duration stall = stall_of(checkpoint(to, mode, bytes));
        EXPECT_GE(stall, last) << to << " " << mode << " " << bytes;
        last = stall;
      }
      EXPECT_GT(last, Duration()) << to << " " << mode;
    }
  }
}

// Four hosts of two GPUs under two leaf switches, with tensor, pipeline and data parallelism.
std::string four_hosts(std::string_view to, std::string_view mode, std::string_view more) {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 8}}\nparallel: {{tp: 2, pp: 2, dp: auto}}\n"
             "cluster: {{nodes: 4, node: {{preset: dgx-h100, gpus: 2, nic: {{count: 2}}, pcie: {{switches: 1}}}}, "
             "fabric: {{type: rail_optimized, scalable_unit: 2}}}}\n"
             "checkpoint: {{to: {}, mode: {}, size: 20MB{}}}\n",
             to, mode, more);
}

// Messages of the pipeline share their links with it, or do not.
TEST(CheckpointStall, EqualPriorityStallsTrainingWhereIdleTimeDoesNot) {
  const Duration blocking = stall_of(four_hosts("peer_host", "blocking", ""));
  const Duration async = stall_of(four_hosts("peer_host", "async", ""));
  EXPECT_EQ(stall_of(four_hosts("peer_host", "idle", "")), Duration());
  EXPECT_GT(async, Duration());
  EXPECT_LT(async, blocking);
}

TEST(CheckpointStall, FoldedIsTheSameAsUnfolded) {
  for (const char* to : {"host_memory", "peer_host"}) {
    for (const char* mode : {"blocking", "async", "idle"}) {
      const std::string more = to == std::string_view("peer_host") ? ", copies: 3" : "";
      const Scenario scenario = load(four_hosts(to, mode, more));
      const Played folded = play(scenario, FoldMode::kFold);
      const Played whole = play(scenario, FoldMode::kNoFold);
      EXPECT_EQ(folded.finished_at, whole.finished_at) << to << " " << mode;
      EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
    }
  }
}

// All ranks are one class, which sends to itself from several places.
TEST(CheckpointStall, OneClassOfRanksSendsToItself) {
  for (const char* more : {", copies: 2", ", copies: 3", ", copies: 4", ", copies: 2, jump: 3"}) {
    for (const char* mode : {"blocking", "idle"}) {
      std::string text = checkpoint("peer_host", mode, kGiga, more);
      text.replace(text.find("nodes: 2"), 8, "nodes: 4");
      const Played folded = play(load(text), FoldMode::kFold);
      EXPECT_EQ(folded.folding.ranks.count(), 1U);
      EXPECT_EQ(folded.finished_at, play(load(text), FoldMode::kNoFold).finished_at) << more << " " << mode;
    }
  }
}

TEST(CheckpointStall, FastForwardChangesNothing) {
  for (const char* mode : {"blocking", "async", "idle"}) {
    const std::string text = four_hosts("peer_host", mode, "");
    const Result<Outcome> fast = simulate(load(text, {"simulate.steps=12"}), FoldMode::kFold);
    const Result<Outcome> slow = simulate(load(text, {"simulate.steps=12"}), FoldMode::kNoFold,
                                          {.fast_forward = network_models::FastForward::kOff});
    EXPECT_EQ(fast->report->step_time.mean, slow->report->step_time.mean) << mode;
    EXPECT_EQ(fast->report->facts.checkpoint->stall, slow->report->facts.checkpoint->stall) << mode;
    EXPECT_EQ(fast->report->facts.checkpoint->copying, slow->report->facts.checkpoint->copying) << mode;
  }
}

// Each GPU's part is in its own host's memory and in those of copies - 1 others.
TEST(CheckpointStall, EveryCopyCrossesTheNetworkOnce) {
  for (const char* more : {", copies: 2", ", copies: 3", ", copies: 4", ", copies: 2, jump: 2"}) {
    const Played played = play(load(four_hosts("peer_host", "async", more)), FoldMode::kNoFold);
    const std::int64_t copies = more[10] - '0';
    // To peers, and to host memory: the own part and those of copies - 1 others.
    const std::int64_t expected = 20'000'000 * (2 * copies - 1);
    for (std::size_t rank = 0; rank < 8; ++rank) EXPECT_EQ(played.sent(rank, "checkpoint"), Bytes(expected)) << more;
  }
}

TEST(CheckpointStall, TheDefaultSizeIsTheModelsState) {
  const CheckpointFacts facts = saved(two_hosts("checkpoint: {to: host_memory}"));
  // 14 bytes of each parameter: bf16 weights, fp32 weights and two moments; half of them from each of two ranks.
  EXPECT_EQ(facts.of_gpu.count(), (facts.total.count() + 1) / 2);
  EXPECT_EQ(facts.total.count() % 14, 0);
}

TEST(CheckpointStall, IsStatedInTheReport) {
  const Result<Outcome> outcome = simulate(load(checkpoint("host_memory", "async", 1'000'000)), FoldMode::kFold);
  EXPECT_THAT(render_text(*outcome->report), HasSubstr("Checkpoint   976.6 KiB per GPU to host_memory, async: "));
  EXPECT_THAT(json_part(render_json(*outcome->report), "checkpoint"),
              AllOf(HasSubstr("\"within_step\": true"), HasSubstr("\"stall_s\": "), HasSubstr("\"steps\": 1")));
}

TEST(CheckpointStall, WarnsWhereHostMemoryIsTooSmall) {
  const Result<Outcome> outcome = simulate(load(checkpoint("host_memory", "async", 3000 * kGiga)), FoldMode::kFold);
  EXPECT_THAT(outcome->report->facts.warnings, Contains(Field(&ReportWarning::code, "W536")));
}

TEST(CheckpointStall, RefusesWhatDoesNotFit) {
  struct Case {
    const char* settings;
    const char* message;
  };
  for (const Case& c :
       {Case{"{to: peer_host, copies: 3}", "3 copies, 1 host from each other, need more than 2 hosts, and there are 2"},
        Case{"{to: peer_host, jump: 2}", "2 copies, 2 hosts from each other, need more than 2 hosts"},
        Case{"{to: storage}", "a store needs the bandwidth of one GPU, of one host"},
        Case{"{to: the_moon}", "host_memory"},
        Case{"{size: 0B}", "size"}}) {
    const auto scenario = load_scenario_text("test.yaml", two_hosts(fmt::format("checkpoint: {}", c.settings)));
    ASSERT_FALSE(scenario.has_value()) << c.settings;
    EXPECT_THAT(render(scenario.error()), HasSubstr(c.message));
  }
}

TEST(CheckpointStall, ListsKeysOfOtherPlacesAsIgnored) {
  const Scenario scenario = load(two_hosts("checkpoint: {to: host_memory, copies: 2, storage: {total: 1GB/s}}"));
  EXPECT_THAT(scenario.document.log().ignored(),
              AllOf(Contains(Field(&IgnoredKey::path, "checkpoint.copies")),
                    Contains(Field(&IgnoredKey::path, "checkpoint.storage"))));
  const Scenario formulas = load(two_hosts("checkpoint: {to: host_memory}"), {"simulate.network=alpha_beta"});
  EXPECT_FALSE(formulas.checkpoint.has_value());
  EXPECT_THAT(formulas.document.log().ignored(), Contains(Field(&IgnoredKey::path, HasSubstr("checkpoint"))));
}

}  // namespace
}  // namespace ringwright::configs::checkpoint_stall_test
