// Graph files beside hosts: a warning where rings leave by NICs that GPUs do not use.
#include "configs/graph_nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario.h"
#include "tests/paths.h"

namespace ringwright::configs::graph_nets_test {
namespace {

// The file's only ring leaves by the NIC beside the first GPU.
TEST(GraphNets, WarnWhereTheFileNamesOtherNics) {
  const auto scenario = load_machine_text(ringwright::test_data() + "/configs/machine.yaml",
                                          "cluster: {nodes: 2, node: {preset: dgx-a100}}\n"
                                          "collectives: {model: chunks}\n"
                                          "comm: {graph: one-nic-graph.xml}\n",
                                          {.overrides = {}, .share_folders = {}});
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const auto& told = scenario->document.log().diagnostics().all();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].code, "E185");
  EXPECT_EQ(told[0].message, "channel 0 leaves hosts by net 0, and GPU 7 uses NIC 7");
}

}  // namespace
}  // namespace ringwright::configs::graph_nets_test
