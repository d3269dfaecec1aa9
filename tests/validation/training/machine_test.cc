// The machines of training rows, by the shipped conventions; impossible ones are reported, and never divided by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"
#include "validation/training/scenario.h"

namespace ringwright::validation::machine_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two hosts.
std::string yaml_of(const std::string& gpu, std::int64_t per_host, const std::string& nic = "") {
  const auto conventions = read_conventions(shipped_folder("training"));
  TrainingRow row;
  row.id = "x-001";
  row.model = row.shipped_model = "llama3-8b";
  row.layers = 32;
  row.framework = "Megatron-LM";
  row.gpu = gpu;
  row.nic = nic;
  row.gpus_per_node = per_host;
  row.gpus = row.dp = 2 * per_host;
  row.micro_batch = 1;
  row.global_batch = 64;
  const auto scenario = make_scenario(row, *conventions);
  return scenario ? scenario->yaml : scenario.error().reason;
}

TEST(TrainingMachine, BoardsOfFourHaveNoSwitch) {
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 8), HasSubstr("preset: dgx-a100"));
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 4), HasSubstr("preset: a100-x4, gpu: {preset: a100-sxm4-80gb}"));
  EXPECT_THAT(yaml_of("A100-SXM4-40GB", 4), HasSubstr("preset: a100-x4, gpu: {preset: a100-sxm4-40gb}"));
  EXPECT_THAT(yaml_of("NVIDIA H100-SXM5-80GB", 4), HasSubstr("preset: hgx-h100-x4"));
  EXPECT_THAT(yaml_of("V100-SXM2-32GB", 4), HasSubstr("preset: v100-x4"));
}

TEST(TrainingMachine, CardsOnPcieHaveNoSwitch) {
  EXPECT_THAT(yaml_of("H100 PCIe", 8), HasSubstr("preset: h100-pcie"));
  EXPECT_THAT(yaml_of("H100 NVL", 8), HasSubstr("preset: h100-nvl"));
  EXPECT_THAT(yaml_of("NVIDIA H200-NVL-141GB", 4), HasSubstr("preset: h200-nvl"));
  EXPECT_THAT(yaml_of("A100 PCIe 40GB", 4), HasSubstr("preset: a100-pcie"));
}

TEST(TrainingMachine, TheTransportIsTheRows) {
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 8, "8x200Gbps HDR IB"), Not(HasSubstr("transport")));
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 4, "4x200Gbps HDR IB"), HasSubstr("transport: infiniband"));
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 4), HasSubstr("transport: infiniband"));
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 4, "4 x 200 Gb/s Slingshot"), HasSubstr("transport: slingshot"));
  EXPECT_THAT(yaml_of("A100-SXM4-80GB", 4, "4 x 200 Gb/s Slingshot, TCP sockets"), HasSubstr("transport: tcp"));
  EXPECT_THAT(yaml_of("H100-SXM5-80GB", 8, "32x100Gbps EFA"), HasSubstr("transport: efa"));
}

TEST(TrainingMachine, ANodeWithoutGpusIsRefused) {
  TrainingConventions conventions;
  conventions.frameworks.push_back({{.words = {"NeMo"}}, "nemo.yaml"});
  conventions.machines.push_back({{.words = {"A100"}}, "dgx-a100", "a100-sxm4-80gb"});
  TrainingRow row;
  row.id = "x-001";
  row.framework = "NeMo 25.02";
  row.gpu = "A100-SXM4-80GB";
  row.gpus = 64;
  row.gpus_per_node = 0;
  const auto scenario = make_scenario(row, conventions);
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().reason, "the source states 0 GPUs per node");
}

}  // namespace
}  // namespace ringwright::validation::machine_test
