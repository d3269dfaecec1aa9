#include "configs/simulation/machine_overheads.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"

namespace ringwright::configs::machine_overheads_test {
namespace {

constexpr const char* kJob = R"(
model: { preset: llama3-8b, num_layers: 4 }
training: { global_batch: 32, micro_batch: 1 }
parallel: { tp: 2 }
cluster: { nodes: 2, node: { preset: dgx-a100 } }
)";

Scenario scenario(const std::vector<std::string>& overrides) {
  auto loaded = load_scenario_text("machine.yaml", kJob, {.overrides = overrides});
  EXPECT_TRUE(loaded.has_value());
  return std::move(*loaded);
}

TEST(MachineOverheads, AreSharedByJobsOnOneMachineOnly) {
  MachineOverheads machines;
  KnownOverheads* const first = machines.of(scenario({}));
  EXPECT_EQ(machines.of(scenario({"parallel.tp=4", "training.global_batch=64", "model.seq_length=512"})), first);
  EXPECT_NE(machines.of(scenario({"cluster.node.nic.bandwidth=100Gbps"})), first);
  EXPECT_NE(machines.of(scenario({"comm.env.NCCL_ALGO=ring"})), first);
  EXPECT_NE(machines.of(scenario({"cluster.nodes=4"})), first);
}

// Files of one name in different folders, as sweeps try them, are different channels.
TEST(MachineOverheads, DistinguishFilesByTheirContent) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "machine_overheads_test";
  const auto graph = [&](const char* name, const std::string& gpus) {
    std::filesystem::create_directories(folder / name);
    const std::string path = (folder / name / "graph.xml").string();
    std::ofstream file(path);
    file << R"(<graphs version="1"><graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20")"
         << R"( speedinter="20" typeintra="NVL" typeinter="PXB" samechannels="1"><channel><net dev="0"/>)";
    for (const char gpu : gpus) file << "<gpu dev=\"" << gpu << "\"/>";
    file << R"(<net dev="7"/></channel></graph></graphs>)";
    return "comm.graph=" + path;
  };
  MachineOverheads machines;
  KnownOverheads* const first = machines.of(scenario({graph("one", "01234567")}));
  EXPECT_NE(machines.of(scenario({graph("two", "07654321")})), first);
  EXPECT_EQ(machines.of(scenario({graph("three", "01234567")})), first);
  std::filesystem::remove_all(folder);
}

TEST(MachineOverheads, AreOfSoManyMachines) {
  MachineOverheads machines(nullptr, 2);
  KnownOverheads* const first = machines.of(scenario({}));
  EXPECT_NE(machines.of(scenario({"cluster.nodes=4"})), nullptr);
  EXPECT_EQ(machines.of(scenario({"cluster.nodes=8"})), nullptr);
  EXPECT_EQ(machines.of(scenario({})), first);
}

// A second layout on the machine takes as long with what the first one found as alone, and finds less itself.
TEST(MachineOverheads, ChangeNoTime) {
  MachineOverheads machines;
  const auto step = [](const Scenario& job, KnownOverheads* overheads) {
    const auto outcome = simulate(job, FoldMode::kFold, {.overheads = overheads});
    EXPECT_TRUE(outcome && outcome->report);
    return outcome->report->step_time.mean;
  };
  KnownOverheads* const shared = machines.of(scenario({}));
  EXPECT_EQ(step(scenario({}), shared), step(scenario({}), nullptr));
  const std::size_t found = shared->size();
  EXPECT_GT(found, 0U);
  const Scenario longer = scenario({"training.global_batch=64"});
  EXPECT_EQ(step(longer, machines.of(longer)), step(longer, nullptr));
  EXPECT_EQ(shared->size(), found);
}

}  // namespace
}  // namespace ringwright::configs::machine_overheads_test
