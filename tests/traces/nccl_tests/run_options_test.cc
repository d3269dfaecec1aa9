#include "traces/nccl_tests/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::run_options_test {
namespace {

TEST(RunOptions, NcclStatesWhatTheEnvironmentSets) {
  const auto ring = variable_in("n1:100:140 [0] NCCL INFO NCCL_ALGO set by environment to Ring");
  ASSERT_TRUE(ring.has_value());
  EXPECT_EQ(ring->name, "NCCL_ALGO");
  EXPECT_EQ(ring->value, "Ring");
  EXPECT_EQ(variable_in("NCCL INFO NCCL_MIN_NCHANNELS set by environment to 16.")->value, "16");
  EXPECT_FALSE(variable_in("n1:100:140 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1]").has_value());
  EXPECT_FALSE(variable_in("this is set by environment to 1").has_value());
}

TEST(RunOptions, ACommandStatesThemToo) {
  const auto found = variables_of_command("+ mpirun -np 16 -x NCCL_ALGO=Ring -x 'A=b' -mca x=y ./all_reduce_perf");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "NCCL_ALGO");
  EXPECT_EQ(found[0].value, "Ring");
}

TEST(RunOptions, OnlyVariablesOfTheLibraryAreKeptAndEachOnce) {
  std::string list;
  EXPECT_TRUE(add_variable({.name = "NCCL_ALGO", .value = "Ring"}, list));
  EXPECT_FALSE(add_variable({.name = "NCCL_ALGO", .value = "Ring"}, list));
  EXPECT_FALSE(add_variable({.name = "USER", .value = "somebody"}, list));
  EXPECT_FALSE(add_variable({.name = "NCCL_TOPO_FILE", .value = "somebody/topo.xml"}, list));
  EXPECT_TRUE(add_variable({.name = "FI_CXI_RX_MATCH_MODE", .value = "software"}, list));
  EXPECT_EQ(list, "NCCL_ALGO=Ring; FI_CXI_RX_MATCH_MODE=software");
}

// NCCL separates the lists of functions by semicolons, as the header of a table separates variables.
TEST(RunOptions, AListOfFunctionsIsOneValue) {
  const auto found =
      variables_in_list("as default but NCCL_ALGO=allreduce:tree;broadcast:ring; NCCL_P2P_PXN_LEVEL=0; TCPX");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "NCCL_ALGO");
  EXPECT_EQ(found[0].value, "allreduce:tree;broadcast:ring");
  EXPECT_EQ(found[1].name, "NCCL_P2P_PXN_LEVEL");
  EXPECT_EQ(found[1].value, "0");
}

TEST(RunOptions, ACommunicatorsChannelsAreThoseOfCollectives) {
  EXPECT_EQ(channels_in("n1:1:1 [6] NCCL INFO 24 coll channels, 16 nvls channels, 32 p2p channels"), 24);
  EXPECT_EQ(channels_in("n1:1:1 [6] NCCL INFO Channel 00/24 : 0 1 2 3"), 0);
}

TEST(RunOptions, CountsFollowTheirLabels) {
  EXPECT_EQ(count_after("# iters: 20 agg iters: 16 validation: 1", "agg iters:"), 16);
  EXPECT_EQ(count_after("# iters: 20", "agg iters:"), 0);
  EXPECT_EQ(count_after("# graph:", "graph:"), 0);
}

}  // namespace
}  // namespace ringwright::traces::run_options_test
