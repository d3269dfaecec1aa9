// The rungs `astra_unaware` and `astra_aware` against `ringwright astra`, which gives ASTRA-sim's times: one engine and
// one rule, two executors.
//
// Equal to the nanosecond where both send the same messages: point-to-point, and collectives of one chunk whose
// endpoints take no time (endpoint-delay 0, fast local memory). Several chunks, their queues and the scheduling policy
// are ASTRA-sim's own layer of collectives, which the rungs of the network do not have.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/astra/astra_files.h"
#include "core/run/astra/job_run.h"
#include "network_models/topologies/dimensions/astra_topology.h"
#include "tests/configs/played.h"
#include "tests/paths.h"
#include "tests/support/own_folder.h"
#include "traces/chakra/trace_builder.h"
#include "traces/chakra/writer.h"

namespace ringwright::configs::astra_rungs_test {
namespace {

using namespace literals;
using testing::HasSubstr;
using traces::ChakraAttributes;
using traces::ChakraCollective;
using traces::ChakraKind;

constexpr std::string_view kRungs[] = {"astra_unaware", "astra_aware"};

class AstraRungs : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  void write_rank(std::uint32_t rank, traces::ChakraTraceBuilder builder) {
    write(fmt::format("t.{}.et", rank), traces::chakra_records(std::move(builder).take()));
  }
  void write_network(const std::string& block, std::uint32_t ranks) {
    write("network.yml",
          fmt::format("topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n", block, ranks));
    ranks_ = ranks;
  }
  // By rank, in nanoseconds.
  [[nodiscard]] std::vector<std::int64_t> by_astra(std::string_view rung, const std::string& algorithm = "ring") {
    AstraFiles files;
    files.workload = (folder_ / "t").string();
    files.network = (folder_ / "network.yml").string();
    files.system = write("system.json", fmt::format(R"({{"preferred-dataset-splits": 1, "endpoint-delay": 0,
        "local-mem-bw": 1e12, "active-chunks-per-dimension": 1, "all-reduce-implementation": ["{0}"],
        "all-gather-implementation": ["{0}"], "reduce-scatter-implementation": ["{0}"],
        "all-to-all-implementation": ["direct"]}})",
                                                    algorithm));
    files.backend = rung == "astra_aware" ? AstraBackend::kAware : AstraBackend::kUnaware;
    const auto job = load_astra_job(files);
    EXPECT_TRUE(job.has_value()) << (job ? "" : render(job.error()));
    std::vector<std::int64_t> finished;
    for (const RankOutcome& rank : run_node_job(job->job, job->rules, *job->networks).ranks) {
      finished.push_back(rank.finish.value_or(-1));
    }
    return finished;
  }
  [[nodiscard]] std::string scenario(const std::string& more = "") const {
    return fmt::format(
        "cluster: {{nodes: {0}, node: {{gpus: 1, gpu: {{preset: h100-sxm5-80gb}}}},"
        " fabric: {{type: astra, network: {1}/network.yml}}}}\nworkload: {{chakra: {1}/t}}\n"
        "collectives: {{model: steps, overhead: none{2}}}\n",
        ranks_, folder_.string(), more);
  }
  [[nodiscard]] std::vector<std::int64_t> by_rung(std::string_view rung, const std::string& more = "",
                                                  FoldMode fold = FoldMode::kFold) const {
    const Played played = play(load(scenario(more), {fmt::format("simulate.network={}", rung)}), fold);
    EXPECT_EQ(played.outcome, RunOutcome::kFinished);
    std::vector<std::int64_t> finished;
    for (const TimePoint at : played.finished_at) {
      EXPECT_EQ(at.since_start().count() % 1000, 0) << "whole nanoseconds";
      finished.push_back(at.since_start().count() / 1000);
    }
    return finished;
  }
  // Every rank computes for a time of its own and calls one collective.
  void write_collective(ChakraCollective kind, Bytes size, std::uint64_t uneven_micros) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      traces::ChakraTraceBuilder builder("t");
      const ChakraAttributes call{.comm_type = kind, .comm_size = size};
      const std::vector<std::uint64_t> first{1};
      builder.add({.id = 1, .name = "work", .kind = ChakraKind::kCompute, .duration_micros = 3 + rank * uneven_micros});
      builder.add(
          {.id = 2, .name = "call", .kind = ChakraKind::kCollective, .data_dependencies = first, .attributes = &call});
      write_rank(rank, std::move(builder));
    }
  }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(test::own_folder());
  std::uint32_t ranks_ = 0;
};

TEST_F(AstraRungs, RingsOfOneChunkTakeTheTimesOfAstraSim) {
  for (const char* block : {"Ring", "Switch", "FullyConnected"}) {
    write_network(block, 8);
    for (const auto kind :
         {ChakraCollective::kAllReduce, ChakraCollective::kReduceScatter, ChakraCollective::kAllGather}) {
      write_collective(kind, Bytes(1'000'000), 0);
      for (const std::string_view rung : kRungs) {
        EXPECT_EQ(by_rung(rung, ", world: {algorithm: ring}"), by_astra(rung))
            << rung << " on " << block << ", collective " << static_cast<int>(kind);
      }
    }
  }
}

// A step of ours ends when the member's own messages have arrived as well, one of ASTRA-sim's when it has received:
// members that enter late leave at other times, and the last one leaves at the same time.
TEST_F(AstraRungs, RingsThatMembersEnterAtDifferentTimesEndAtTheSameTime) {
  for (const char* block : {"Ring", "Switch", "FullyConnected"}) {
    write_network(block, 8);
    for (const auto kind :
         {ChakraCollective::kAllReduce, ChakraCollective::kReduceScatter, ChakraCollective::kAllGather}) {
      write_collective(kind, Bytes(1'000'000), 7);
      for (const std::string_view rung : kRungs) {
        EXPECT_EQ(std::ranges::max(by_rung(rung, ", world: {algorithm: ring}")), std::ranges::max(by_astra(rung)))
            << rung << " on " << block << ", collective " << static_cast<int>(kind);
      }
    }
  }
}

// Distances and sizes of the steps differ (ASTRA-sim begins with neighbours), and on a switch no time depends on them.
TEST_F(AstraRungs, HalvingAndDoublingOnASwitchTakesTheTimesOfAstraSim) {
  write_network("Switch", 8);
  write_collective(ChakraCollective::kAllReduce, 1_MiB, 0);
  for (const std::string_view rung : kRungs) {
    EXPECT_EQ(by_rung(rung, ", world: {algorithm: halving_doubling}"), by_astra(rung, "halvingDoubling")) << rung;
  }
}

// Rank 0 sends to all others at once; rank 1 passes what it gets on to rank 2, whose link it shares on a switch.
void add_message(traces::ChakraTraceBuilder& builder, std::uint64_t id, ChakraKind kind, std::int64_t peer,
                 std::int64_t size, std::vector<std::uint64_t> after) {
  const bool sends = kind == ChakraKind::kSend;
  ChakraAttributes attributes{.comm_size = Bytes(size), .comm_tag = 1};
  (sends ? attributes.comm_dst : attributes.comm_src) = peer;
  builder.add({.id = id, .name = "message", .kind = kind, .data_dependencies = after, .attributes = &attributes});
}

TEST_F(AstraRungs, MessagesTakeTheTimesOfAstraSim) {
  for (const char* block : {"Ring", "Switch", "FullyConnected"}) {
    write_network(block, 4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      traces::ChakraTraceBuilder builder("t");
      builder.add({.id = 1, .name = "work", .kind = ChakraKind::kCompute, .duration_micros = 2 + rank});
      if (rank < 3) {
        add_message(builder, 2, ChakraKind::kSend, 3, 700'000 + 1000 * rank, {1});
      } else {
        for (std::uint32_t from = 0; from < 3; ++from) {
          add_message(builder, 2 + from, ChakraKind::kReceive, from, 700'000 + 1000 * from, {1});
        }
        builder.add({.id = 9,
                     .name = "end",
                     .kind = ChakraKind::kCompute,
                     .data_dependencies = std::vector<std::uint64_t>{2, 3, 4},
                     .duration_micros = 5});
      }
      write_rank(rank, std::move(builder));
    }
    for (const std::string_view rung : kRungs) EXPECT_EQ(by_rung(rung), by_astra(rung)) << rung << " on " << block;
  }
}

TEST_F(AstraRungs, FoldedAndUnfoldedRunsAreTheSame) {
  write_network("Switch", 8);
  write_collective(ChakraCollective::kAllToAll, 1_MiB, 0);
  for (const std::string_view rung : kRungs) {
    EXPECT_EQ(by_rung(rung), by_rung(rung, "", FoldMode::kNoFold)) << rung;
  }
}

// 4 hosts of 2 GPUs: on one switch each, and those under another. Between hosts only the first dimension counts that
// differs, as in ASTRA-sim: GPU 0 of host 0 and GPU 1 of host 1 are as near as two GPUs of a host.
TEST_F(AstraRungs, AnOrdinaryClusterIsSeenInDimensions) {
  const std::string machine =
      std::string(kTinyModel) + "training: {global_batch: 8}\nparallel: {tp: 2, pp: 2, dp: auto}\n" +
      "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 2, nic: {count: 2}}, fabric: {type: rail_optimized}}\n";
  const Scenario scenario = load(machine, {"simulate.network=astra_unaware"});
  const auto* seen = scenario.cluster.topology->dimensions();
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->text(), "Switch 2 x Switch 4");
  EXPECT_EQ(play(scenario).time(), play(load(machine, {"simulate.network=astra_unaware"}), FoldMode::kNoFold).time());
  EXPECT_THAT(refusal_of(machine, {"simulate.network=astra_aware"}),
              HasSubstr("has one dimension, and this has 2 (Switch 2 x Switch 4)"));
  EXPECT_EQ(refusal_of(machine, {"simulate.network=astra_aware", "cluster.nodes=1", "parallel.pp=1",
                                 "cluster.fabric.type=single_node"}),
            "");
}

// Eight GPUs on one switch plane: with messages that wait for each other, and are stored before they are forwarded, a
// step takes longer.
TEST_F(AstraRungs, AShippedScenarioRunsOnBoth) {
  const auto time_on = [](std::string_view rung) {
    const ScenarioOptions options{.overrides = {fmt::format("simulate.network={}", rung)}};
    return play(load_scenario(share_dir() + "/scenarios/llama3-8b-8-h100.yaml", options).value()).time();
  };
  EXPECT_GT(time_on("astra_unaware"), Duration(0));
  EXPECT_GT(time_on("astra_aware"), time_on("astra_unaware"));
}

TEST_F(AstraRungs, WhatIsNoProductOfDimensionsIsRefused) {
  const std::string machine = std::string(kTinyModel) +
                              "training: {global_batch: 8}\nparallel: {tp: 2, dp: auto}\n"
                              "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 2, nic: {count: 2}}}\n"
                              "simulate: {network: astra_unaware}\n";
  EXPECT_THAT(refusal_of(machine, {"cluster.fabric.type=dragonfly", "cluster.fabric.switches=1",
                                   "cluster.fabric.nodes_per_switch=2"}),
              HasSubstr("E129"));
  EXPECT_THAT(refusal_of(machine, {"parallel.zero.stage=1", "parallel.zero.offload_optimizer.device=cpu"}),
              HasSubstr("what is moved off the GPUs crosses host memory"));
  EXPECT_THAT(refusal_of(machine, {"cluster.fabric={type: astra, dimensions: [{block: ring, nodes: 6, bandwidth: "
                                   "50GB/s}]}"}),
              HasSubstr("the dimensions have 6 GPUs (Ring 6), and the nodes of the cluster 8"));
}

TEST_F(AstraRungs, FaultsAndBackgroundTrafficHaveNoEffectAndSaySo) {
  const std::string machine =
      std::string(kTinyModel) +
      "training: {global_batch: 8}\nparallel: {tp: 2, dp: auto}\n"
      "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 2, nic: {count: 2}}}\nsimulate: {network: astra_unaware}\n"
      "faults: [{link: host0/nic0->leaf0.0, state: degraded, factor: 0.1}]\n"
      "background: [{from: [0], to: [4], size: 1GiB}]\n";
  const Scenario scenario = load(machine);
  std::string ignored;
  for (const IgnoredKey& key : scenario.document.log().ignored()) ignored += key.path + ": " + key.why + "\n";
  EXPECT_THAT(ignored, HasSubstr("'astra_unaware' does not simulate link faults"));
  EXPECT_THAT(ignored, HasSubstr("in the network model 'astra_unaware' transfers do not share links"));
  EXPECT_EQ(play(scenario).time(), play(load(machine, {"faults=[]", "background=[]"})).time());
}

}  // namespace
}  // namespace ringwright::configs::astra_rungs_test
