// Recorded steps as scenarios: replayed with every model, and simulated steps written as traces and replayed.
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "configs/simulation/simulate.h"
#include "configs/simulation/step_traces.h"
#include "core/report/report.h"
#include "tests/configs/played.h"
#include "tests/support/own_folder.h"
#include "traces/chakra/trace_builder.h"
#include "traces/chakra/writer.h"

namespace ringwright::configs::replayed_traces_test {
namespace {

using namespace literals;
using testing::HasSubstr;
using traces::ChakraAttributes;
using traces::ChakraCollective;
using traces::ChakraKind;
using traces::ChakraTrace;

constexpr std::string_view kFourGpus = "cluster: {nodes: 1, node: {preset: dgx-h100, gpus: 4}}\n";

class ReplayedTraces : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void write_rank(std::size_t rank, const ChakraTrace& trace) {
    write(fmt::format("t.{}.et", rank), traces::chakra_records(trace));
  }
  // Every rank computes for 100 us, joins an all-reduce of 64 MiB, and computes for 50 us.
  void write_step() {
    traces::ChakraTraceBuilder builder("t");
    const ChakraAttributes sum{.comm_type = ChakraCollective::kAllReduce, .comm_size = 64_MiB};
    const std::vector<std::uint64_t> first{1};
    const std::vector<std::uint64_t> second{2};
    builder.add({.id = 1, .name = "forward", .kind = ChakraKind::kCompute, .duration_micros = 100});
    builder.add(
        {.id = 2, .name = "sum", .kind = ChakraKind::kCollective, .data_dependencies = first, .attributes = &sum});
    builder.add(
        {.id = 3, .name = "update", .kind = ChakraKind::kCompute, .data_dependencies = second, .duration_micros = 50});
    const ChakraTrace trace = std::move(builder).take();
    for (std::size_t rank = 0; rank < 4; ++rank) write_rank(rank, trace);
  }
  [[nodiscard]] std::string job(const std::string& more = "") const {
    return fmt::format("{}workload: {{chakra: {}{}}}\n", kFourGpus, (folder_ / "t").string(), more);
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::string groups() const { return (folder_ / "t.groups.json").string(); }
  [[nodiscard]] std::string errors(const std::string& text) const {
    const auto scenario = load_scenario_text("job.yaml", text);
    return scenario ? "no error" : render(scenario.error());
  }
  // Writes the step of a scenario as traces, and says how to replay it.
  [[nodiscard]] std::string exported(const Scenario& scenario, const std::string& cluster) {
    const auto step = StepTraces::record(scenario, FoldMode::kFold);
    if (!step) return render(step.error());
    const traces::ChakraExport& made = (*step)->traces();
    for (std::size_t rank = 0; rank < made.ranks(); ++rank) write_rank(rank, made.trace_of(RankId(rank)));
    write("t.groups.json", made.groups());
    return fmt::format("{}workload: {{chakra: {}, groups: {}}}\n", cluster, (folder_ / "t").string(), groups());
  }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(test::own_folder());
};

Report report_of(const Scenario& scenario) {
  auto outcome = simulate(scenario, FoldMode::kFold);
  return *outcome.value().report;
}

TEST_F(ReplayedTraces, ComputingTakesItsRecordedTimeAroundTheCollective) {
  write_step();
  const Report report = report_of(load(job()));
  EXPECT_EQ(report.everywhere.computing, 150_us);
  EXPECT_GT(report.step_time.mean, 250_us);  // 64 MiB x 1.5 at 450 GB/s take 224 us
  EXPECT_LT(report.step_time.mean, 150_us + 1_ms);
}

TEST_F(ReplayedTraces, NodesThatTakeNoTimeAreCounted) {
  traces::ChakraTraceBuilder builder("t");
  const ChakraAttributes nothing{.comm_type = ChakraCollective::kAllReduce, .comm_size = 0_B};
  builder.add({.id = 1, .name = "forward", .kind = ChakraKind::kCompute, .duration_micros = 100});
  builder.add({.id = 2, .name = "sum", .kind = ChakraKind::kCollective, .attributes = &nothing});
  builder.add({.id = 3, .name = "what", .kind = ChakraKind::kInvalid, .duration_micros = 50});
  const ChakraTrace trace = std::move(builder).take();
  for (std::size_t rank = 0; rank < 4; ++rank) write_rank(rank, trace);
  const auto scenario = load_scenario_text("job.yaml", job());
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const std::string warnings = render(scenario->document.log().diagnostics());
  EXPECT_THAT(warnings, HasSubstr("4 collectives have comm_size 0 and take no time"));
  EXPECT_THAT(warnings, HasSubstr("4 nodes of type INVALID_NODE are left out"));
}

// In ASTRA-sim the sum would join a part of the ranks.
TEST_F(ReplayedTraces, CollectivesOfSomeDimensionsAreCounted) {
  traces::ChakraTraceBuilder builder("t");
  ChakraAttributes sum{.comm_type = ChakraCollective::kAllReduce, .comm_size = 1_MiB};
  sum.involved_dim = std::vector<bool>{true, true};
  const ChakraAttributes all = sum;
  sum.involved_dim = std::vector<bool>{true, false};
  builder.add({.id = 1, .name = "all", .kind = ChakraKind::kCollective, .attributes = &all});
  builder.add({.id = 2, .name = "some", .kind = ChakraKind::kCollective, .attributes = &sum});
  const ChakraTrace trace = std::move(builder).take();
  for (std::size_t rank = 0; rank < 4; ++rank) write_rank(rank, trace);
  const auto scenario = load_scenario_text("job.yaml", job());
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  EXPECT_THAT(render(scenario->document.log().diagnostics()),
              HasSubstr("4 collectives name some dimensions of a network only (involved_dim)"));
}

TEST_F(ReplayedTraces, ScaledComputingLeavesCommunicationAsItIs) {
  write_step();
  const Duration recorded = play(load(job())).time();
  EXPECT_EQ(play(load(job(", compute: scaled, scale: 3"))).time(), recorded + 300_us);
}

TEST_F(ReplayedTraces, RanksWithOneTraceAreSimulatedOnce) {
  write_step();
  EXPECT_EQ(play(load(job())).folding.ranks.count(), 1U);
  EXPECT_EQ(play(load(job()), FoldMode::kNoFold).time(), play(load(job())).time());
}

TEST_F(ReplayedTraces, EveryRungReplaysThem) {
  write_step();
  for (const char* const settings :
       {"simulate.network=alpha_beta", "collectives.model=closed_form", "collectives.model=chunks",
        "collectives.model=steps", "collectives.world.algorithm=ring", "simulate.steps=3"}) {
    EXPECT_EQ(play(load(job(), {settings})).outcome, RunOutcome::kFinished) << settings;
  }
}

TEST_F(ReplayedTraces, ReportsLeaveOutWhatNeedsAModel) {
  write_step();
  const Report report = report_of(load(job()));
  EXPECT_TRUE(report.facts.memory.empty());
  EXPECT_FALSE(report.model_flop_utilisation);
  const std::string text = render_text(report, {.detail = Detail::kVerbose});
  EXPECT_THAT(text, HasSubstr("traces t"));
  EXPECT_THAT(text, testing::Not(HasSubstr("parameters")));
  EXPECT_THAT(render_json(report), HasSubstr("\"memory\": []"));
}

TEST_F(ReplayedTraces, TheResultDependsOnTheContentOfTheTraces) {
  write_step();
  const std::string before = report_of(load(job())).facts.config_sha256;
  traces::ChakraTraceBuilder builder("t");
  builder.add({.id = 1, .name = "other", .kind = ChakraKind::kCompute, .duration_micros = 1});
  for (std::size_t rank = 0; rank < 4; ++rank) write_rank(rank, ChakraTrace(builder.trace()));
  EXPECT_NE(report_of(load(job())).facts.config_sha256, before);
}

TEST_F(ReplayedTraces, AModelNextToThemIsAnError) {
  write_step();
  const std::string found = errors(job() + std::string(kTinyModel) + "parallel: {tp: 2}\n");
  EXPECT_THAT(found, HasSubstr("'model' cannot be given together with 'workload'"));
  EXPECT_THAT(found, HasSubstr("'parallel' cannot be given together with 'workload'"));
}

TEST_F(ReplayedTraces, TheClusterHasAGpuForEachRank) {
  write_step();
  EXPECT_THAT(errors("cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4}}\n" + job().substr(kFourGpus.size())),
              HasSubstr("of 8 ranks 4 have no trace"));
  EXPECT_THAT(errors("cluster: {nodes: 1, node: {preset: dgx-h100, gpus: 2}}\n" + job().substr(kFourGpus.size())),
              HasSubstr("the job has 2 ranks, but there are traces up to rank 3"));
}

TEST_F(ReplayedTraces, SettingsWithoutEffectAreListed) {
  write_step();
  const Scenario scenario = load(job(", scale: 2") + "report: {attention_flops: full}\n");
  std::string ignored;
  for (const IgnoredKey& key : scenario.document.log().ignored()) ignored += key.path + " ";
  EXPECT_THAT(ignored, testing::AllOf(HasSubstr("workload.scale"), HasSubstr("report.attention_flops")));
}

TEST_F(ReplayedTraces, CopiesToAndFromTheHostGoOverPcie) {
  traces::ChakraTraceBuilder builder("t");
  const ChakraAttributes copied{.tensor_size = 1_MiB};
  builder.add({.id = 1, .name = "load", .kind = ChakraKind::kMemoryLoad, .attributes = &copied});
  for (std::size_t rank = 0; rank < 4; ++rank) write_rank(rank, ChakraTrace(builder.trace()));
  // 1 MiB over PCIe 5.0 (some 50 GB/s) takes some 20 us.
  const Duration time = play(load(job())).time();
  EXPECT_GT(time, 15_us);
  EXPECT_LT(time, 60_us);
}

TEST_F(ReplayedTraces, AMissingPrefixIsOneMistake) {
  EXPECT_THAT(errors(std::string(kFourGpus) + "workload: {compute: recorded}\n"),
              testing::AllOf(HasSubstr("workload.chakra"), HasSubstr("1 error,")));
}

TEST_F(ReplayedTraces, ANameWithoutAFileIsAMistake) {
  for (const std::string named : {"kineto: []", "kineto: ['']", "goal: ''", "text: ''", "chakra: traces/"}) {
    EXPECT_THAT(errors(std::string(kFourGpus) + "workload: {" + named + "}\n"),
                testing::AllOf(HasSubstr("error[E391]"), HasSubstr("names no file"), HasSubstr("1 error,")));
  }
}

// The host of a recorded step does not count as computing.
TEST_F(ReplayedTraces, WorkOfTheHostDelaysAndIsNotComputing) {
  traces::ChakraTraceBuilder builder("t");
  const ChakraAttributes host{.is_cpu_op = true};
  const std::vector<std::uint64_t> first{1};
  builder.add({.id = 1, .name = "host", .kind = ChakraKind::kCompute, .duration_micros = 30, .attributes = &host});
  builder.add({.id = 2, .name = "gpu", .kind = ChakraKind::kCompute, .data_dependencies = first, .duration_micros = 7});
  for (std::size_t rank = 0; rank < 4; ++rank) write_rank(rank, ChakraTrace(builder.trace()));
  const Report report = report_of(load(job()));
  EXPECT_EQ(report.step_time.mean, 37_us);
  EXPECT_EQ(report.everywhere.computing, 7_us);
}

constexpr std::string_view kTwoHosts = "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4}}\n";

std::string trained(const std::string& parallel) {
  return fmt::format("{}{}training: {{global_batch: 16, micro_batch: 1}}\nparallel: {}\n", kTwoHosts, kTinyModel,
                     parallel);
}

TEST_F(ReplayedTraces, AStepWrittenAsTracesTakesTheSameTime) {
  for (const char* const parallel : {"{tp: 2, dp: 4}", "{tp: 2, pp: 2, dp: 2}", "{pp: 4, dp: 2}",
                                     "{dp: 8, zero: {stage: 3}}", "{tp: 2, dp: 4, sequence_parallel: true}",
                                     "{cp: 2, dp: 4}", "{tp: 2, cp: 2, dp: 2, sequence_parallel: true}"}) {
    const Scenario scenario = load(trained(parallel));
    const Duration original = play(scenario).time();
    const std::string replay = exported(scenario, std::string(kTwoHosts));
    EXPECT_EQ(play(load(replay)).time(), original) << parallel << "\n" << replay;
  }
}

// Blocks of keys and values of 8 MiB: NCCL gives a peer in a communicator of two ranks more channels than in one of
// all eight, so that messages must keep their communicator. They took 1 % longer among all ranks.
TEST_F(ReplayedTraces, MessagesKeepTheSizeOfTheirCommunicator) {
  std::string text = trained("{cp: 2, dp: 4}");
  text.replace(text.find("seq_length: 128"), 15, "seq_length: 32768");
  const Scenario scenario = load(text);
  const std::string replay = exported(scenario, std::string(kTwoHosts));
  EXPECT_EQ(play(load(replay)).time(), play(scenario).time());
}

// A file of groups, of which those with so many ranks.
std::string names_of_groups(const std::string& file, std::size_t ranks) {
  std::ifstream stream(file);
  const nlohmann::json groups = nlohmann::json::parse(stream);
  std::string names;
  for (const auto& [name, members] : groups.items()) {
    if (members.size() == ranks) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
  }
  return names;
}

// Twice the replicas with twice the batch: weak scaling, in which each rank does the same. Not with eight replicas of
// two ranks: Megatron pads the buffer of gradients to a multiple of the replicas, which is 1 KiB more than for four.
TEST_F(ReplayedTraces, ReplicasTakeTheTimeOfTheLargerJob) {
  for (const char* const parallel : {"dp: 8", "tp: 4, dp: 2", "tp: 4, dp: 2, sequence_parallel: true"}) {
    const std::string recorded = trained(fmt::format("{{{}}}", parallel));
    std::string larger = recorded;
    const auto change = [&larger](const std::string& from, const std::string& to) {
      ASSERT_NE(larger.find(from), std::string::npos);
      larger.replace(larger.find(from), from.size(), to);
    };
    change("nodes: 2", "nodes: 4");
    change("global_batch: 16", "global_batch: 32");
    const std::string_view two_hosts = kTwoHosts;
    std::string four_hosts(two_hosts);
    four_hosts.replace(four_hosts.find("nodes: 2"), 8, "nodes: 4");
    const bool alone = std::string_view(parallel).starts_with("dp");
    change(alone ? "dp: 8" : "dp: 2", alone ? "dp: 16" : "dp: 4");
    std::string replay = exported(load(recorded), four_hosts);
    const std::string names = names_of_groups(groups(), alone ? 8 : 2);
    replay.replace(replay.rfind("}\n"), 2, fmt::format(", replicas: 2, data_parallel_groups: [{}]}}\n", names));
    EXPECT_EQ(play(load(replay)).time(), play(load(larger)).time()) << larger << "\n" << replay;
    EXPECT_EQ(play(load(replay), FoldMode::kNoFold).time(), play(load(replay)).time());
  }
}

TEST_F(ReplayedTraces, GroupsOfAllRanksAreTheDataParallelOnes) {
  write_step();
  const std::string ring = "comm: {env: {NCCL_ALGO: ring}}\n";
  const std::string four = job() + ring;
  std::string eight = job(", replicas: 2") + ring;
  eight.replace(eight.find("gpus: 4"), 7, "gpus: 8");
  // The same bytes over eight GPUs instead of four: in a ring 2 (n - 1) / n of them pass each, 7 / 4 instead of 6 / 4.
  const double ratio = to_seconds(play(load(eight)).time() - 150_us) / to_seconds(play(load(four)).time() - 150_us);
  EXPECT_GT(ratio, 1.0);
  EXPECT_LT(ratio, 1.3);
}

// Group a has four ranks in two replicas, and b two in each: their sums are calls of one dimension.
TEST_F(ReplayedTraces, OfGroupsOfSeveralSizesTheTimeOfACallIsNotKnown) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    traces::ChakraTraceBuilder builder("t");
    const ChakraAttributes sum{
        .comm_type = ChakraCollective::kAllReduce, .comm_size = 64_MiB, .pg_name = builder.text(rank < 2 ? "a" : "b")};
    builder.add({.id = 1, .name = "sum", .kind = ChakraKind::kCollective, .attributes = &sum});
    write_rank(rank, std::move(builder).take());
  }
  write("t.groups.json", R"({"a": [0, 1], "b": [2, 3]})");
  const std::vector<CollectiveUse> once = report_of(load(job(", groups: " + groups()))).facts.collectives;
  ASSERT_EQ(once.size(), 1U);
  EXPECT_TRUE(once[0].shortest.has_value());
  std::string two = job(", groups: " + groups() + ", replicas: 2, data_parallel_groups: [a]");
  two.replace(two.find("gpus: 4"), 7, "gpus: 8");
  const std::vector<CollectiveUse> uses = report_of(load(two)).facts.collectives;
  ASSERT_EQ(uses.size(), 2U);
  for (const CollectiveUse& use : uses) {
    EXPECT_FALSE(use.shortest.has_value()) << use.ranks;
    EXPECT_FALSE(use.mean.has_value()) << use.ranks;
  }
}

TEST_F(ReplayedTraces, ReplicasThatCannotBeAreRefused) {
  write_step();
  EXPECT_THAT(errors(job(", replicas: 3")),
              testing::AllOf(HasSubstr("4 GPUs are not a multiple of 3 replicas"), HasSubstr("1 error,")));
  EXPECT_THAT(errors(job(", replicas: 2")), HasSubstr("the job has 2 ranks, but there are traces up to rank 3"));
  EXPECT_THAT(errors(job(", replicas: 4, data_parallel_groups: [dp]")), HasSubstr("E2"));
  EXPECT_THAT(errors(std::string(kFourGpus) + "workload: {goal: step.goal, replicas: 2}\n"),
              HasSubstr("only Chakra and Kineto traces can be replicated"));
  EXPECT_THAT(errors(job(", data_parallel_groups: [dp], replicas: 0")), HasSubstr("workload.replicas"));
}

TEST_F(ReplayedTraces, WhatTheFormatCannotExpressIsRefused) {
  const Scenario scenario = load(trained("{dp: 8, zero: {stage: 2, offload_optimizer: {device: cpu}}}"));
  EXPECT_THAT(exported(scenario, std::string(kTwoHosts)), HasSubstr("cannot be written as traces"));
}

constexpr std::string_view kFourHosts =
    "cluster:\n"
    "  nodes: 4\n"
    "  node: {preset: dgx-h100, gpus: 1, nic: {count: 1, bandwidth: 8Gbps, efficiency: 100%},"
    " pcie: {switches: 1, latency: 0us}}\n"
    "  fabric: {type: fat_tree, leaf: {speed: 8Gbps}, latency: {cable: 0us, hop: 0us, nic: 1us}}\n"
    "simulate: {network: alpha_beta}\n";

// Four ranks pass 1 MiB around a ring, step after step, as LogGOPSim's users do to see L and G alone (o = g = 0): the
// time is steps x (size x G + L), here with 1 ns per byte and 2 us.
TEST_F(ReplayedTraces, AGoalRingTakesItsClosedForm) {
  constexpr int kSteps = 6;
  std::string schedule = "num_ranks 4\n";
  for (int rank = 0; rank < 4; ++rank) {
    schedule += fmt::format("rank {} {{\n", rank);
    for (int step = 0; step < kSteps; ++step) {
      schedule += fmt::format("s{0}: send 1048576b to {1}\nr{0}: recv 1048576b from {2}\n", step, (rank + 1) % 4,
                              (rank + 3) % 4);
      if (step > 0) schedule += fmt::format("s{0} requires r{1}\nr{0} requires r{1}\n", step, step - 1);
    }
    schedule += "}\n";
  }
  write("ring.goal", schedule);
  const std::string text = fmt::format("workload: {{goal: {}}}\n{}collectives: {{overhead: none}}\n",
                                       (folder() / "ring.goal").string(), kFourHosts);
  EXPECT_EQ(report_of(load(text)).step_time.mean, (1'048'576_ns + 2_us) * kSteps);
}

TEST_F(ReplayedTraces, AGoalScheduleHasARankForEachGpu) {
  write("two.goal", "num_ranks 2\nrank 0 { calc 5 }\n");
  const std::string file = (folder() / "two.goal").string();
  EXPECT_THAT(errors(fmt::format("{}workload: {{goal: {}}}\n", kFourGpus, file)),
              HasSubstr("the schedule has 2 ranks and the cluster 4 GPUs"));
  EXPECT_THAT(errors(fmt::format("{}workload: {{goal: {}, chakra: t}}\n", kFourGpus, file)),
              HasSubstr("workload.chakra and workload.goal both name the recorded step"));
}

// Two layers: forward 1 us each; weights of the second 2 us, then its all-reduce, a ring of 2 x 3 steps of a quarter at
// 1 ns per byte and 2 us. The first layer's waits for it, since its computing ends earlier; then 5 us of update.
TEST_F(ReplayedTraces, ATextWorkloadTakesItsClosedForm) {
  write("data.txt",
        "DATA\n2\na -1 1000 NONE 0 1000 NONE 0 2000 ALLREDUCE 1048576 5000\n"
        "b -1 1000 NONE 0 1000 NONE 0 2000 ALLREDUCE 1048576 5000\n");
  const std::string text =
      fmt::format("workload: {{text: {}}}\n{}collectives: {{overhead: none, dp: {{algorithm: ring}}}}\n",
                  (folder() / "data.txt").string(), kFourHosts);
  const Duration all_reduce = (1'048'576_ns / 4 + 2_us) * 6;
  EXPECT_EQ(report_of(load(text)).step_time.mean, 2_us + 2_us + all_reduce * 2 + 5_us);
}

TEST_F(ReplayedTraces, ATextWorkloadIsOneRecordingAndForThisMachine) {
  write("eight.txt",
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 8\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n");
  const std::string file = (folder() / "eight.txt").string();
  EXPECT_THAT(errors(fmt::format("workload: {{text: {}}}\n{}", file, kFourHosts)),
              HasSubstr("all_gpus is 8 and the cluster has 4 GPUs"));
  EXPECT_THAT(errors(fmt::format("workload: {{text: {}, goal: t}}\n{}", file, kFourHosts)),
              HasSubstr("workload.goal and workload.text both name the recorded step"));
  EXPECT_THAT(errors(fmt::format("workload: {{text: missing.txt}}\n{}", kFourHosts)), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace ringwright::configs::replayed_traces_test
