#include "configs/simulation/machine_overheads.h"

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

TEST(MachineOverheads, AreOfSoManyMachines) {
  MachineOverheads machines(2);
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
