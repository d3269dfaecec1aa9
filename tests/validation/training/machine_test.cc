// Impossible machines of training rows: reported, and never divided by.
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

}  // namespace
}  // namespace ringwright::validation::machine_test
