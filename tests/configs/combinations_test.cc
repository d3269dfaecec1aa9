// Everything that is built in or shipped can be combined: fabrics with policies, hosts, models, networks, schedules.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "network_models/builtin.h"
#include "tests/configs/played.h"
#include "tests/paths.h"
#include "workload/builtin.h"

namespace ringwright::configs::combinations_test {
namespace {

// Settings that a fabric requires, by its type, for four hosts.
std::string needs(std::string_view type) {
  if (type == "torus") return ", dims: [2, 2]";
  if (type == "astra") return ", dimensions: [{block: switch, nodes: 32, bandwidth: 50GB/s, latency: 500ns}]";
  if (type == "graph") return ", file: " + ringwright::test_data() + "/configs/four-hosts.yaml, through_gpus: false";
  return "";
}

bool routes_by_policy(std::string_view type) {
  return type != "torus" && type != "astra" && type != "single_node" && type != "none";
}

// What ASTRA-sim's dimensions express; with congestion one dimension.
bool expresses(std::string_view network, std::string_view fabric, bool alone) {
  if (!network.starts_with("astra")) return true;
  if (network == "astra_aware") return alone || fabric == "astra";
  return !fabric.starts_with("dragonfly") && fabric != "graph" && fabric != "patch_panel";
}

TEST(Combinations, EveryFabricRunsUnderEveryPolicyOnEveryNetwork) {
  int runs = 0;
  for (const auto& fabric : network_models::topologies()) {
    const std::string type(fabric.name);
    const bool alone = type == "single_node" || type == "none";
    for (const char* policy : {"static", "d_mod_k", "ecmp", "spray"}) {
      if (!routes_by_policy(type) && std::string_view(policy) != "static") continue;
      if (type.starts_with("dragonfly") && std::string_view(policy) == "d_mod_k") continue;  // they have no rails
      const std::string routing = routes_by_policy(type) ? fmt::format(", routing: {{policy: {}}}", policy) : "";
      for (const auto& network : network_models::models()) {
        if (!expresses(network.name, type, alone)) continue;
        const std::string node = type == "graph" ? "{gpus: 1, gpu: {preset: h100-sxm5-80gb}}" : "{preset: dgx-h100}";
        const std::string text =
            std::string(kTinyModel) + "training: {global_batch: 8}\nparallel: {tp: 2, pp: 2, dp: auto}\n" +
            fmt::format("cluster: {{nodes: {}, node: {}, fabric: {{type: {}{}{}}}}}\nsimulate: {{network: {}}}\n",
                        alone ? 1 : 4, node, type, needs(type), routing, network.name);
        const Played played = play(load(text));
        EXPECT_GT(played.time(), Duration(0)) << text;
        ++runs;
      }
    }
  }
  EXPECT_GE(runs, 30);
}

TEST(Combinations, EveryHostRunsATrainingStep) {
  for (const std::string& name : preset_names(load_options({}), "nodes")) {
    // fp16, which every GPU has; 72 GPUs share no power of two of a batch.
    const std::string text = std::string(kTinyModel) +
                             "training: {global_batch: 288, precision: fp16}\nparallel: {tp: 2, dp: auto}\n"
                             "cluster: {nodes: 2, node: {preset: " +
                             name + "}, fabric: {type: fat_tree, leaf: {ports: 512}}}\n";
    EXPECT_GT(play(load(text)).time(), Duration(0)) << name;
  }
}

TEST(Combinations, EveryGpuRunsATrainingStep) {
  for (const std::string& name : preset_names(load_options({}), "gpus")) {
    const std::string text = std::string(kTinyModel) +
                             "training: {global_batch: 8, precision: fp16}\nparallel: {dp: auto}\n"
                             "cluster: {nodes: 1, node: {preset: dgx-h100, gpu: {preset: " +
                             name + "}}, fabric: {type: single_node}}\n";
    EXPECT_GT(play(load(text)).time(), Duration(0)) << name;
  }
}

TEST(Combinations, EveryModelLoadsOnADgxH100AndSaysWhatItNeeds) {
  for (const std::string& name : preset_names(load_options({}), "models")) {
    const Scenario scenario = load("model: {preset: " + name +
                                   "}\ntraining: {global_batch: 64}\nparallel: {dp: auto}\n"
                                   "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n"
                                   "collectives: {overhead: none}\n");  // kernels of 262 GiB have many chunks
    EXPECT_EQ(scenario.job.parallel.dp, 8) << name;
    const auto simulation = assemble(scenario);
    EXPECT_GT(simulation->plan().parameters, 100'000'000) << name;
    EXPECT_EQ(simulation->folding().ranks.count(), 1U) << name;  // eight replicas that do the same
    ASSERT_EQ(memory_rows(scenario).size(), 1U) << name;
    EXPECT_GT(memory_rows(scenario)[0].total, Bytes(16 * simulation->plan().parameters)) << name;
  }
}

TEST(Combinations, EveryScheduleRuns) {
  for (const auto& schedule : workload::schedules()) {
    const bool chunks = schedule.chunks == workload::ChunkSupport::kMany;
    const std::string text =
        std::string(kTinyModel) +
        fmt::format("training: {{global_batch: 16}}\nparallel: {{tp: 2, pp: 4, dp: auto, schedule: {}{}}}\n",
                    schedule.name, chunks ? ", virtual_stages: 2" : "") +
        "cluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n";
    EXPECT_GT(play(load(text)).time(), Duration(0)) << schedule.name;
  }
}

}  // namespace
}  // namespace ringwright::configs::combinations_test
