// Clusters of several kinds of hosts: each rank computes on its own GPU, collectives run at the slowest member's links.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::mixed_cluster_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// GEMMs large enough that an A100 takes longer than an H100.
constexpr const char* kModel =
    "model: {num_layers: 8, hidden_size: 2048, num_attention_heads: 16, ffn_hidden_size: 8192, vocab_size: 1000, "
    "seq_length: 1024}\n";
constexpr const char* kH100s = "{nodes: 2, node: {preset: dgx-h100}}";
constexpr const char* kA100s = "{nodes: 2, node: {preset: dgx-a100}}";

std::string job(const std::string& parallel, const std::string& cluster, int batch = 64) {
  return fmt::format("{}training: {{global_batch: {}}}\nparallel: {{{}}}\ncluster: {{{}}}\n", kModel, batch, parallel,
                     cluster);
}

std::string mixed(const std::string& fabric = "type: rail_optimized") {
  return fmt::format("groups: [{}, {}], fabric: {{{}}}", kH100s, kA100s, fabric);
}

Report report_of(const std::string& text, const std::vector<std::string>& settings = {},
                 FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text, settings);
  auto outcome = simulate(scenario, fold);
  if (!outcome || !outcome->report) throw std::runtime_error("did not finish");
  return std::move(*outcome->report);
}

std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
  const auto scenario = load_scenario_text("test.yaml", text, {.overrides = settings, .share_folders = {}});
  return scenario ? "" : render(scenario.error());
}

TEST(MixedCluster, OfTwoGroupsOfOneKindIsTheClusterOfThatKind) {
  const std::string two = "groups: [{nodes: 1, node: {preset: dgx-h100}}, {nodes: 3, node: {preset: dgx-h100}}]";
  for (const char* rung : {"closed_form", "steps", "chunks"}) {
    const std::vector<std::string> settings = {std::string("collectives.model=") + rung};
    EXPECT_EQ(report_of(job("tp: 2", two), settings).step_time.mean,
              report_of(job("tp: 2", "nodes: 4, node: {preset: dgx-h100}"), settings).step_time.mean)
        << rung;
  }
}

TEST(MixedCluster, FoldsExactlyOnEveryFabricAndRung) {
  const std::vector<std::string> fabrics = {
      "type: rail_optimized, scalable_unit: 1", "type: fat_tree, scalable_unit: 1", "type: rail_only",
      "type: torus, dims: [4]", "type: dragonfly, switches: 1, nodes_per_switch: 2"};
  const std::string few_nics =
      "{nodes: 2, node: {preset: dgx-a100, pcie: {switches: 4}, nic: {count: 4, bandwidth: 100Gbps}}}";
  for (const std::string& fabric : fabrics) {
    for (const char* rung : {"closed_form", "steps", "chunks"}) {
      for (const std::string& other : {std::string(kA100s), few_nics}) {
        const std::string cluster = fmt::format("groups: [{}, {}], fabric: {{{}}}", kH100s, other, fabric);
        const Scenario scenario =
            load(job("tp: 4, pp: 2, zero: {stage: 1}", cluster, 16), {std::string("collectives.model=") + rung});
        const Played folded = play(scenario, FoldMode::kFold);
        const Played whole = play(scenario, FoldMode::kNoFold);
        EXPECT_EQ(folded.finished_at, whole.finished_at) << fabric << " " << rung << " " << other;
      }
    }
  }
}

// 64 ranks: the replicas of a group do the same, on four rails of tensor-parallel ranks.
TEST(MixedCluster, RanksOfOneGroupAreOneClass) {
  const std::string cluster = "groups: [{nodes: 4, node: {preset: dgx-h100}}, {nodes: 4, node: {preset: dgx-a100}}]";
  const auto simulation = assemble(load(job("tp: 4, zero: {stage: 1}", cluster)));
  EXPECT_LE(simulation->folding().ranks.count(), 16U);
}

TEST(MixedCluster, TheFastGroupWaitsForTheSlowOne) {
  const Report report = report_of(job("tp: 2", mixed()));
  ASSERT_EQ(report.groups.size(), 2U);
  EXPECT_EQ(report.groups[0].ranks, 16U);
  const TimeBreakdown& h100 = report.groups[0];
  const TimeBreakdown& a100 = report.groups[1];
  EXPECT_GT(a100.computing, h100.computing);
  const Report of_h100 = report_of(job("tp: 2", "nodes: 4, node: {preset: dgx-h100}"));
  const Report of_a100 = report_of(job("tp: 2", "nodes: 4, node: {preset: dgx-a100}"));
  // Each group computes as it does in a cluster of its own kind, and the step is as long as that of the slower one,
  // except for the collective's hosts of the other kind.
  EXPECT_EQ(h100.computing, of_h100.everywhere.computing);
  EXPECT_EQ(a100.computing, of_a100.everywhere.computing);
  EXPECT_GT(report.step_time.mean, of_h100.step_time.mean);
  EXPECT_NEAR(to_seconds(report.step_time.mean), to_seconds(of_a100.step_time.mean),
              0.05 * to_seconds(of_a100.step_time.mean));
  EXPECT_THAT(render_text(report), HasSubstr("waits for A100"));
  EXPECT_THAT(render_json(report), HasSubstr("\"groups\""));
}

// 200 Gb/s NICs at 96 % carry 24 GB/s: eight rings over the rails of four hosts move 2 (n - 1) / n of the buffer
// through each host's eight NICs, whatever the other hosts have.
TEST(MixedCluster, ACollectiveRunsAtTheSlowestMembersNics) {
  const auto time_on = [](const std::string& cluster) {
    const auto scenario =
        load_machine_text("m.yaml", "cluster: {" + cluster + "}\ncollectives: {model: steps, overhead: none, "
                                    "tuner: simple, world: {algorithm: rail_rings}}\n");
    if (!scenario) throw std::runtime_error(render(scenario.error()));
    CollectiveBench bench(*scenario);
    const auto result = bench.run({.operation = CollectiveOperation::kAllReduce, .bytes = Bytes(1 << 30)});
    if (!result) throw std::runtime_error(render(result.error()));
    return to_seconds(result->time);
  };
  const double slow = time_on("nodes: 4, node: {preset: dgx-h100, nic: {bandwidth: 200Gbps}}");
  const double fast = time_on("nodes: 4, node: {preset: dgx-h100}");
  const double both = time_on(
      "groups: [{nodes: 2, node: {preset: dgx-h100}}, "
      "{nodes: 2, node: {preset: dgx-h100, nic: {bandwidth: 200Gbps}}}]");
  EXPECT_LT(fast, 0.7 * slow);
  EXPECT_NEAR(both, slow, 0.01 * slow);
  const double bound = 2.0 * 31.0 / 32.0 * (1 << 30) / (8 * 24e9);
  EXPECT_GT(both, bound);
}

TEST(MixedCluster, MicrobatchesSharedBySpeedEndTogether) {
  const std::string cluster = mixed();
  const Report even = report_of(job("tp: 8", cluster));
  const Report balanced = report_of(job("tp: 8, microbatch_split: balanced", cluster));
  // 16 microbatches for each of four replicas; an H100 takes more of them.
  EXPECT_LT(balanced.step_time.mean, even.step_time.mean);
  EXPECT_EQ(balanced.facts.tokens_per_step, even.facts.tokens_per_step);
  EXPECT_DOUBLE_EQ(balanced.facts.hardware_flops.count(), even.facts.hardware_flops.count());
  const double speed = to_seconds(even.groups[1].computing) / to_seconds(even.groups[0].computing);
  // Whale (ATC 2022): 1.2 to 1.4 times as fast on V100 with P100; at speeds 1 and s the bound is (1 + s) / 2.
  const double gain = to_seconds(even.step_time.mean) / to_seconds(balanced.step_time.mean);
  EXPECT_GT(gain, 1.1);
  EXPECT_LT(gain, 0.5 * (1.0 + speed) + 0.02);
  const Scenario scenario = load(job("tp: 8, microbatch_split: balanced", cluster));
  const auto& shares = scenario.job.parallel.replica_microbatches;
  ASSERT_EQ(shares.size(), 4U);
  EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), 64);
  EXPECT_GT(shares[0], shares[2]);
  EXPECT_EQ(shares[0], shares[1]);
}

TEST(MixedCluster, UnevenMicrobatchesFoldExactly) {
  for (const char* rung : {"closed_form", "steps", "chunks"}) {
    const Scenario scenario = load(job("tp: 8, pp: 2, microbatches_per_replica: [10, 6]",
                                       "groups: [" + std::string(kH100s) + ", " + kA100s + "]", 16),
                                   {std::string("collectives.model=") + rung});
    EXPECT_EQ(play(scenario, FoldMode::kFold).finished_at, play(scenario, FoldMode::kNoFold).finished_at) << rung;
  }
}

TEST(MixedCluster, AListOfEqualNumbersIsTheEvenSplit) {
  const std::string even = job("tp: 8", "nodes: 2, node: {preset: dgx-h100}", 8);
  const std::string listed = job("tp: 8, microbatches_per_replica: [4, 4]", "nodes: 2, node: {preset: dgx-h100}", 8);
  EXPECT_EQ(report_of(listed).step_time.mean, report_of(even).step_time.mean);
}

TEST(MixedCluster, LayersSharedBySpeedMakeThePipelineFaster) {
  const std::string cluster = mixed();
  const Report even = report_of(job("tp: 8, pp: 4", cluster, 32));
  const Scenario balanced = load(job("tp: 8, pp: 4, stage_layers: balanced", cluster, 32));
  const auto& layers = balanced.job.parallel.layers_per_part;
  // Stages 0 and 1 are on H100.
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}), 8);
  EXPECT_GT(layers[0] + layers[1], layers[2] + layers[3]);
  auto outcome = simulate(balanced, FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  EXPECT_LT(outcome->report->step_time.mean, even.step_time.mean);
}

// The first group's GPUs have no room for more than their share of the layers, though they are faster.
TEST(MixedCluster, LayersSharedBySpeedFitIntoMemory) {
  const std::string small =
      "groups: [{nodes: 2, node: {preset: dgx-h100, gpu: {memory: MEMORY}}}, {nodes: 2, node: {preset: dgx-a100}}]";
  const auto load_with = [&](const std::string& memory) {
    std::string cluster = small;
    cluster.replace(cluster.find("MEMORY"), 6, memory);
    return load(job("tp: 8, pp: 4, stage_layers: balanced", cluster, 32));
  };
  const Scenario roomy = load_with("80GiB");
  const auto rows = memory_rows(roomy);
  const std::string tight = fmt::format("{}MiB", rows[0].total.count() / (1 << 20) - 16);
  const Scenario scarce = load_with(tight);
  EXPECT_LT(scarce.job.parallel.layers_per_part[0], roomy.job.parallel.layers_per_part[0]);
  for (const MemoryRow& row : memory_rows(scarce)) EXPECT_LE(row.total, row.capacity) << "stage " << row.stage;
  EXPECT_EQ(memory_rows(scarce)[3].capacity, Bytes(80LL << 30));
}

TEST(MixedCluster, AGroupWithoutGpudirectStagesItsData) {
  const auto with = [](const char* gpudirect) {
    return job("tp: 8", fmt::format("groups: [{}, {{nodes: 2, gpudirect: {}, node: {{preset: dgx-a100}}}}]", kH100s,
                                    gpudirect));
  };
  EXPECT_GT(report_of(with("false")).step_time.mean, report_of(with("true")).step_time.mean);
  // Where all groups lack it, it is as with the library's setting.
  const std::string all = "groups: [{nodes: 2, gpudirect: false, node: {preset: dgx-a100}}]";
  const std::string same = job("tp: 8", "nodes: 2, node: {preset: dgx-a100}");
  EXPECT_EQ(report_of(job("tp: 8", all)).step_time.mean,
            report_of(same, {"comm.costs.gpudirect=false"}).step_time.mean);
}

TEST(MixedCluster, SaysWhatIsWrong) {
  const std::string few = "groups: [{nodes: 1, node: {preset: dgx-h100}}, {nodes: 1, node: {preset: hgx-h100-x4}}]";
  EXPECT_THAT(refusal(job("tp: 2", few)), HasSubstr("E590"));
  EXPECT_THAT(refusal(job("tp: 2", "groups: []")), HasSubstr("lists no group"));
  EXPECT_THAT(refusal(job("tp: 2", "nodes: 4, " + mixed())), HasSubstr("leave one of them out"));
  EXPECT_THAT(refusal(job("tp: 2", mixed()), {"cluster.nodes=2"}), HasSubstr("leave one of them out"));
  const std::string vendors = "groups: [{nodes: 1, node: {preset: dgx-h100}}, {nodes: 1, node: {preset: mi300x-8gpu}}]";
  EXPECT_THAT(refusal(job("tp: 8", vendors), {"collectives.model=chunks"}), HasSubstr("E591"));
  const std::string old = "groups: [{nodes: 1, node: {preset: dgx-h100}}, {nodes: 1, node: {preset: dgx1-v100}}]";
  EXPECT_THAT(refusal(job("tp: 8, microbatch_split: balanced", old)), HasSubstr("E135")) << "V100 has no bf16";
  const std::string volta = "nodes: 2, node: {preset: dgx1-v100}";
  EXPECT_THAT(refusal(job("pp: 2, stage_layers: balanced", volta)), HasSubstr("E135"));
  EXPECT_THAT(refusal(job("tp: 8, microbatches_per_replica: [3, 4]", mixed(), 7)), HasSubstr("4 replicas"));
  EXPECT_THAT(refusal(job("tp: 8, microbatches_per_replica: [3, 4, 5, 6]", mixed(), 7)), HasSubstr("add up to 18"));
  EXPECT_THAT(refusal(job("tp: 8, zero: {stage: 3}, microbatch_split: balanced", mixed())), HasSubstr("E592"));
  EXPECT_THAT(refusal(job("tp: 8, microbatch_split: even, microbatches_per_replica: [4, 4, 4, 4]", mixed(), 16)),
              HasSubstr("both share"));
}

// HetCCL (arXiv 2601.22585): up to 2.97 times the throughput of one vendor's part of the cluster.
TEST(MixedCluster, GpusOfTwoVendorsTrainTogether) {
  const std::vector<std::string> settings = {"collectives.model=steps", "collectives.overhead=none",
                                             "collectives.tuner=nccl", "collectives.dp.algorithm=islands"};
  const std::string h100 = "{nodes: 2, node: {preset: dgx-h100}}";
  const std::string vendors = "groups: [" + h100 + ", {nodes: 2, node: {preset: mi300x-8gpu}}]";
  const Report both = report_of(job("tp: 1, microbatch_split: balanced", vendors, 1024), settings);
  EXPECT_EQ(both.groups.size(), 2U);
  const Report one = report_of(job("tp: 1", "groups: [" + h100 + "]", 1024), settings);
  EXPECT_LT(both.step_time.mean, one.step_time.mean);
}

// The preset's are of one GPU; numbers of the file's own are taken as the mean of both.
TEST(MixedCluster, WarnsOfPricesAndPowerOfOneOfItsGpus) {
  const auto warnings = [](const std::string& cluster, const std::string& cost) {
    return render(warnings_of(load(job("tp: 2", cluster) + "cost: {preset: dgx-h100" + cost + "}\n")));
  };
  const std::string both = warnings(mixed(), "");
  EXPECT_THAT(both, HasSubstr("preset:dgx-h100.yaml:6"));
  EXPECT_THAT(both, HasSubstr("cost.usd_per_gpu_hour is of H100-SXM5-80GB, and counts for every GPU of the cluster: "
                              "H100-SXM5-80GB and A100-SXM4-80GB"));
  EXPECT_THAT(both, HasSubstr("cost.gpu_watts is of"));
  EXPECT_THAT(warnings(mixed(), ", usd_per_gpu_hour: 2.6, gpu_watts: 550"), testing::Not(HasSubstr("E594")));
  EXPECT_THAT(warnings("nodes: 4, node: {preset: dgx-a100}", ""), HasSubstr("of the cluster: A100-SXM4-80GB"));
  EXPECT_THAT(warnings("nodes: 4, node: {preset: dgx-h100}", ""), testing::Not(HasSubstr("E594")));
}

// RCCL's rings use all xGMI links of an MI300X, NCCL's planning of them would not: each group is as fast as in a
// cluster of its own.
TEST(MixedCluster, EachVendorsLibraryChoosesInItsGroup) {
  const std::vector<std::string> settings = {"collectives.model=steps", "collectives.overhead=none",
                                             "collectives.tuner=nccl", "collectives.dp.algorithm=islands"};
  const auto tensor_time = [](const TimeBreakdown& of) {
    const auto found = std::ranges::find(of.dimensions, "tp", &DimensionTime::name);
    return found == of.dimensions.end() ? Duration() : found->in_flight;
  };
  const std::string vendors =
      "groups: [{nodes: 1, node: {preset: dgx-h100}}, {nodes: 1, node: {preset: mi300x-8gpu}}]";
  const Report both = report_of(job("tp: 8", vendors, 32), settings);
  ASSERT_EQ(both.groups.size(), 2U);
  EXPECT_EQ(tensor_time(both.groups[0]),
            tensor_time(report_of(job("tp: 8", "nodes: 2, node: {preset: dgx-h100}", 32), settings).everywhere));
  EXPECT_EQ(tensor_time(both.groups[1]),
            tensor_time(report_of(job("tp: 8", "nodes: 2, node: {preset: mi300x-8gpu}", 32), settings).everywhere));
}

// All hosts hold equally much, and the ones with less memory may be any in the list.
TEST(MixedCluster, SmallestHostMemoryOfAllGroupsCounts) {
  const std::string small = "{nodes: 2, node: {preset: dgx-a100, memory: {capacity: 100MB}}}";
  const std::string offload = "tp: 2, zero: {stage: 1, offload_optimizer: {device: cpu}}";
  for (const std::string& groups : {std::string(kH100s) + ", " + small, small + ", " + kH100s}) {
    const std::string cluster = "groups: [" + groups + "], fabric: {type: rail_optimized}";
    const Report offloaded = report_of(job(offload, cluster));
    ASSERT_EQ(offloaded.facts.hosts.size(), 1U);
    EXPECT_FALSE(offloaded.facts.hosts[0].fits()) << groups;
    const Report saved = report_of(job("tp: 2", cluster) + "checkpoint: {to: host_memory}\n");
    EXPECT_THAT(saved.facts.warnings, testing::Contains(testing::Field(&ReportWarning::code, "W536"))) << groups;
  }
}

}  // namespace
}  // namespace ringwright::configs::mixed_cluster_test
