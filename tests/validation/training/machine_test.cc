// Impossible machines of training rows: reported, and never divided by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/training/scenario.h"

namespace ringwright::validation::machine_test {
namespace {

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

TEST(TrainingMachine, SettingsOfAMachineReplaceThoseOfTheStack) {
  TrainingConventions conventions;
  conventions.frameworks.push_back({{.words = {"NeMo"}}, "nemo.yaml"});
  conventions.models.push_back({{.words = {"gpt"}}, "gpt3-175b"});
  MachineRule rule{{.words = {"A100"}}, "dgx-a100", "a100-sxm4-80gb"};
  rule.set = {{.path = "compute.host_issue", .value = "37us"}};
  conventions.machines.push_back(rule);
  TrainingRow row;
  row.id = "x-001";
  row.framework = "NeMo 25.02";
  row.model = "gpt3-175b";
  row.gpu = "A100-SXM4-80GB";
  row.gpus = 8;
  row.layers = 96;
  row.hidden = 12288;
  row.heads = 96;
  row.tp = 8;
  row.global_batch = 8;
  row.micro_batch = 1;
  const auto scenario = make_scenario(row, conventions);
  ASSERT_TRUE(scenario) << scenario.error().reason;
  EXPECT_THAT(scenario->yaml, testing::HasSubstr("host_issue: 37us"));
}

}  // namespace
}  // namespace ringwright::validation::machine_test
