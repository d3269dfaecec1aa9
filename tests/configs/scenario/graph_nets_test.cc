// Graph files compared with hosts: a warning where rings use NICs that hosts do not have.
#include "configs/scenario/graph_nets.h"

#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/paths.h"

namespace ringwright::configs::graph_nets_test {
namespace {

Scenario with_graph_file(const std::string& preset) {
  auto scenario = load_machine_text(ringwright::test_data() + "/configs/machine.yaml",
                                    "cluster: {nodes: 2, node: {preset: " + preset +
                                        "}}\n"
                                        "collectives: {model: chunks}\n"
                                        "comm: {graph: last-nic-graph.xml}\n",
                                    {.overrides = {}, .share_folders = {}});
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

// The file's only ring enters by NIC 0 and leaves by NIC 7.
TEST(GraphNets, WarnWhereTheFileNamesNicsThatAreNotThere) {
  EXPECT_TRUE(with_graph_file("dgx-h100").document.log().diagnostics().all().empty());
  const Scenario scenario = with_graph_file("dgx1-v100");
  const auto& reported = scenario.document.log().diagnostics().all();
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].code, "E185");
  EXPECT_EQ(reported[0].message, "channel 0 uses net 7, but a host has 4 NICs, numbered from 0");
}

}  // namespace
}  // namespace ringwright::configs::graph_nets_test
