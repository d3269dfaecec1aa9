// Background traffic that yields does not distinguish ranks: those fold as without it, while each of its links is a
// class of its own. Times of all ranks, and bytes and busy time of all links, are those of the run of every rank.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/plan/task_graph.h"
#include "tests/configs/played.h"

namespace ringwright::configs::background_folding_test {
namespace {

struct Job {
  std::string parallel = "tp: 2, pp: 2, dp: auto";
  std::string routing = "static";
  std::string collectives = "model: steps";
  std::string rest;  // further sections
};

std::string text_of(const Job& job, const std::string& background) {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 32, micro_batch: 1}}\nparallel: {{{}}}\ncollectives: {{{}}}\n"
             "cluster: {{nodes: 8, node: {{preset: dgx-h100, gpus: 4, nic: {{count: 4}}}}, fabric: {{type: "
             "rail_optimized, scalable_unit: 2, routing: {{policy: {}}}, leaf: {{ports: 4}}, spine: {{ports: 16}}}}}}\n"
             "{}{}",
             job.parallel, job.collectives, job.routing, job.rest, background);
}

// Empty: they agree.
std::string difference(const Played& folded, const Played& whole) {
  if (folded.record.iteration_end != whole.record.iteration_end) return "the steps end at other times";
  for (std::size_t rank = 0; rank < whole.folding.ranks.class_of.size(); ++rank) {
    const std::size_t stand_in = folded.folding.ranks.class_of[rank].index();
    const RunRecord& some = folded.record;
    if (some.finished_at[stand_in] != whole.record.finished_at[rank]) return fmt::format("rank {} ends", rank);
    if (!(some.time_in[stand_in] == whole.record.time_in[rank])) return fmt::format("times of rank {}", rank);
    if (!(some.sent[stand_in] == whole.record.sent[rank])) return fmt::format("bytes of rank {}", rank);
  }
  for (std::size_t link = 0; link < whole.usage.size(); ++link) {
    const LinkUsage& some = folded.usage[folded.folding.links.class_of[link]];
    const LinkUsage& all = whole.usage[link];
    if (std::abs(some.bytes - all.bytes) > 1e-9 * all.bytes + 1e-3) {
      return fmt::format("link {} carries {} and {} bytes", link, some.bytes, all.bytes);
    }
    if (some.busy != all.busy) {
      return fmt::format("link {} is busy for {} and {} ps", link, some.busy.count(), all.busy.count());
    }
  }
  return {};
}

struct Both {
  Played folded;
  Played whole;
};

Both play_both(const std::string& text) {
  const Scenario scenario = load(text);
  return {.folded = play_as_run(scenario, FoldMode::kFold, network_models::FastForward::kOn),
          .whole = play_as_run(scenario, FoldMode::kNoFold, network_models::FastForward::kOff)};
}

std::size_t classes_of(const std::string& text) {
  return assemble(load(text))->folding().ranks.count();
}

constexpr std::string_view kOne = "background: [{from: [0], to: [17], size: 20MB, at: 100us}]\n";

TEST(BackgroundFolding, LeavesRanksAsTheyFoldWithout) {
  const std::size_t without = classes_of(text_of({}, ""));
  ASSERT_LT(without, 32);
  EXPECT_EQ(classes_of(text_of({}, std::string(kOne))), without);
  EXPECT_GT(classes_of(text_of({}, "background: [{from: [0], to: [17], size: 20MB, at: 100us, priority: high}]\n")),
            without);
}

TEST(BackgroundFolding, DistinguishesLinksOfTheTrafficAlone) {
  const auto without = assemble(load(text_of({}, "")));
  const auto with = assemble(load(text_of({}, std::string(kOne))));
  const LinkClasses& links = with->folding().links;
  std::vector<Hop> hops;
  with->network().router->route({.from = RankId(0), .to = RankId(17), .label = background_label(0)}, hops);
  for (const Hop& hop : hops) EXPECT_EQ(links.size[links.class_of[hop.link.index()]], 1U);
  EXPECT_LE(links.size.size(), without->folding().links.size.size() + hops.size());
}

// Large enough to share links with the job's messages, and to end before the step does.
TEST(BackgroundFolding, IsExactWithRandomTraffic) {
  const std::vector<std::string> layouts = {"tp: 2, pp: 2, dp: auto", "tp: 4, dp: auto", "pp: 4, dp: auto",
                                            "tp: 2, pp: 4, schedule: interleaved-1f1b, virtual_stages: 2, dp: auto",
                                            "dp: auto, zero: {stage: 3}"};
  const std::vector<std::string> disturbed = {"",
                                              "",
                                              "",
                                              "",
                                              "faults: [{node: 3, compute_scale: 0.8}]\n",
                                              "faults: [{nic: host2/nic1, at: 300us, state: degraded, factor: 0.25}]\n",
                                              "faults: [{nic: host0/nic0, state: degraded, factor: 0.5}]\n"};
  RandomStream draw(11, "background_folding_test");
  const auto pick = [&](const std::vector<std::string>& words) { return words[draw.next() % words.size()]; };
  std::size_t folded_as_without = 0;
  for (int i = 0; i < 30; ++i) {
    const Job job{.parallel = pick(layouts),
                  .routing = pick({"static", "static", "d_mod_k", "spray", "spray", "ecmp"}),
                  .collectives = pick({"model: steps", "model: steps", "model: coupled", "model: chunks, tuner: nccl"}),
                  .rest = pick(disturbed)};
    std::string background = "background: [";
    const std::uint64_t transfers = 1 + draw.next() % 3;
    for (std::uint64_t t = 0; t < transfers; ++t) {
      const std::uint64_t from = draw.next() % 32;
      const std::uint64_t to = (from + 1 + draw.next() % 31) % 32;
      background += fmt::format("{}{{from: [{}], to: [{}], size: {}, at: {}us, repeats: {}, priority: {}}}",
                                t > 0 ? ", " : "", from, to, pick({"1MiB", "40MiB", "400MiB"}), draw.next() % 8000,
                                1 + draw.next() % 3, pick({"low", "low", "low", "low", "low", "high"}));
    }
    const std::string text = text_of(job, background + "]\n");
    const Both both = play_both(text);
    ASSERT_EQ(both.folded.outcome, RunOutcome::kFinished) << text;
    EXPECT_EQ(difference(both.folded, both.whole), "") << i << "\n" << text;
    if (both.folded.folding.ranks.count() < 32) ++folded_as_without;
  }
  EXPECT_GT(folded_as_without, 5U);
}

// A checkpoint that waits for idle links shares what the job leaves with the background, so that ranks do depend on it.
TEST(BackgroundFolding, DistinguishesRanksWhoseOwnTrafficYields) {
  TaskGraph graph;
  graph.background = {{.from = RankId(0), .to = RankId(1), .size = Bytes(1), .at = TimePoint()}};
  EXPECT_EQ(background_behind_job(graph), std::vector<bool>{true});
  graph.messages.push_back({.bytes = Bytes(1)});
  EXPECT_EQ(background_behind_job(graph), std::vector<bool>{true});
  graph.messages.push_back({.bytes = Bytes(1), .importance = Importance::kYields});
  EXPECT_TRUE(background_behind_job(graph).empty());
}

TEST(BackgroundFolding, GivesLinksOfTheirOwnToFewTransfersOnly) {
  TaskGraph graph;
  const BackgroundTransfer transfer{.from = RankId(0), .to = RankId(1), .size = Bytes(1), .at = TimePoint()};
  graph.background.assign(kMostBehindJob, transfer);
  EXPECT_EQ(background_behind_job(graph).size(), kMostBehindJob);
  graph.background.push_back(transfer);
  EXPECT_TRUE(background_behind_job(graph).empty());
  graph.background.back().importance = Importance::kEqual;
  std::vector<bool> but_the_last(kMostBehindJob, true);
  but_the_last.push_back(false);
  EXPECT_EQ(background_behind_job(graph), but_the_last);
}

}  // namespace
}  // namespace ringwright::configs::background_folding_test
