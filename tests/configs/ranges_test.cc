// Values that no machine and no job can have are refused with their position, one by one.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulate.h"

namespace ringwright::configs::ranges_test {
namespace {

constexpr const char* kScenario =
    "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128}\n"
    "training: {global_batch: 16}\ncluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n";

struct Setting {
  const char* setting;
  const char* says;
};

TEST(Ranges, AValueOutOfItsRangeIsAnErrorThatNamesIt) {
  for (const Setting& s : {
           Setting{"cluster.node.gpu.peak.bf16=1e300TFLOPS", "'cluster.node.gpu.peak.bf16' is 1e300TFLOPS"},
           Setting{"cluster.node.gpu.memory_bandwidth=1e12TB/s", "'cluster.node.gpu.memory_bandwidth' is 1e12TB/s"},
           Setting{"cluster.node.nvlink.bandwidth=1e12TB/s", "'cluster.node.nvlink.bandwidth' is 1e12TB/s"},
           Setting{"cluster.node.gpu.memory=1e9GiB", "'cluster.node.gpu.memory' is 1e9GiB"},
           Setting{"cluster.node.gpu.sms=4294967297", "'cluster.node.gpu.sms' is 4294967297"},
           Setting{"cluster.node.pcie.switches=4294967297", "'cluster.node.pcie.switches' is 4294967297"},
           Setting{"cluster.node.pcie.sockets=4294967297", "'cluster.node.pcie.sockets' is 4294967297"},
           Setting{"cluster.fabric.rails=4294967297", "'cluster.fabric.rails' is 4294967297"},
           Setting{"cluster.fabric.scalable_unit=4294967297", "'cluster.fabric.scalable_unit' is 4294967297"},
           Setting{"cluster.fabric.leaf.oversubscription=1e300", "'cluster.fabric.leaf.oversubscription' is 1e300"},
           Setting{"cluster.fabric.routing.queue_pairs=999", "'cluster.fabric.routing.queue_pairs' is 999"},
           Setting{"model.mtp_num_layers=65536", "'model.mtp_num_layers' is 65536"},
           Setting{"comm.env.NCCL_P2P_NVL_CHUNKSIZE=9223372036854775807", "from 1 to 1073741824"},
           Setting{"comm.env.NCCL_P2P_PCI_CHUNKSIZE=9223372036854775807", "from 1 to 1073741824"},
           Setting{"comm.env.NCCL_NVLS_CHUNKSIZE=9223372036854775807", "from 1 to 1073741824"},
           Setting{"comm.env.NCCL_NVLSTREE_MAX_CHUNKSIZE=9223372036854775807", "from 1 to 1073741824"},
           Setting{"comm.env.NCCL_BUFFSIZE=9223372036854775807", "from 1024 to 1073741824"},
           Setting{"comm.env.NCCL_BUFFSIZE=7", "from 1024 to 1073741824"},
           Setting{"parallel.layers_per_part=[]", "parallel.layers_per_part is empty"},
           Setting{"model.hidden_size=257", "model.hidden_size = 257 is not a multiple of the 8 attention heads"},
           Setting{"model.num_query_groups=16", "model.num_query_groups = 16 does not divide the 8 attention heads"},
       }) {
    const auto scenario = load_scenario_text("s.yaml", kScenario, {.overrides = {s.setting}, .share_folders = {}});
    ASSERT_FALSE(scenario.has_value()) << s.setting;
    EXPECT_THAT(render(scenario.error()), testing::HasSubstr(s.says));
  }
}

TEST(Ranges, ANameThatNoFolderCanBearIsAnErrorWithItsPlace) {
  for (const char* name : {"\"../../x\"", "a/b", "a\\b", "\"a\\nb\"", ".hidden", "\"\""}) {
    const auto scenario = load_scenario_text("s.yaml", std::string("name: ") + name + "\n" + kScenario);
    ASSERT_FALSE(scenario.has_value()) << name;
    EXPECT_THAT(render(scenario.error()), testing::HasSubstr("s.yaml:1:7: error[E118]: 'name'")) << name;
  }
}

TEST(Ranges, SubGroupsOfAnOptimizerAreCounted) {
  const auto load = [](const std::string& sub_group) {
    return load_scenario_text("s.yaml", kScenario,
                              {.overrides = {"parallel.zero.stage=3", "parallel.zero.offload_optimizer.device=cpu",
                                             "parallel.zero.sub_group_size=" + sub_group},
                               .share_folders = {}});
  };
  // Some ten million parameters on 16 GPUs.
  EXPECT_TRUE(load("10").has_value());
  const auto refused = load("1");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), testing::HasSubstr("parallel.zero.sub_group_size = 1 divides the optimizer"));
}

// Each sub-group's update is a task; the end of the step waits for the last one only.
TEST(Ranges, TensOfThousandsOfSubGroupsEnd) {
  const auto scenario = load_scenario_text(
      "s.yaml", kScenario,
      {.overrides = {"parallel.zero.stage=3", "parallel.zero.offload_optimizer.device=cpu",
                     "parallel.zero.sub_group_size=10"},
       .share_folders = {}});
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const auto outcome = simulate(*scenario, FoldMode::kFold);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->report.has_value());
}

TEST(Ranges, HoldForKeysThatHaveNoEffect) {
  const auto ignored = load_scenario_text("s.yaml", kScenario,
                                          {.overrides = {"cluster.fabric.routing.queue_pairs=4"}, .share_folders = {}});
  ASSERT_TRUE(ignored.has_value()) << render(ignored.error());
  EXPECT_EQ(ignored->document.log().ignored().front().path, "cluster.fabric.routing.queue_pairs");
}

}  // namespace
}  // namespace ringwright::configs::ranges_test
