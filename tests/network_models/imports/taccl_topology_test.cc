// Machines that TACCL profiled: their links and latencies as in the file.
#include "network_models/imports/taccl_topology.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_models/imports/graph_file.h"
#include "network_models/topologies/graph/graph_router.h"

namespace ringwright::network_models::taccl_topology_test {
namespace {

// As NDv2_1MB of github.com/microsoft/taccl.
constexpr const char* kMesh =
    R"({"name": "mesh", "gpus_per_node": 8, "nics_per_node": 1, "alpha": 0.3, "node_betas_list": [23, 46],
        "node_invbws_list": [23, 46], "remote_invbw": 107, "remote_alpha": 2.6, "remote_beta": 105})";

Result<Fabric> read(const std::string& text, int hosts) {
  return read_graph_file({.path = "machine.json", .text = text, .problem = {}}, hosts);
}

struct Path {
  Duration latency;
  double megabyte_us = 0.0;  // over its narrowest link
  std::size_t links = 0;
};
Path path_of(const Fabric& fabric, std::size_t from, std::size_t to) {
  const GraphRouter router(fabric, {.routing = {}, .transit = GpuTransit::kAllowed});
  std::vector<Hop> hops;
  Path path;
  path.latency = router.route({.from = RankId(from), .to = RankId(to)}, hops);
  for (const Hop& hop : hops) {
    path.megabyte_us = std::max(path.megabyte_us, 1e12 / fabric.link(hop.link).bandwidth.count());
  }
  path.links = hops.size();
  return path;
}

// systems.md, I2: 1 MB between hosts takes 2.6 + 105 = 107.6 us.
TEST(TacclTopology, AMegabyteBetweenHostsTakesItsAlphaAndBeta) {
  const auto fabric = read(kMesh, 2);
  ASSERT_TRUE(fabric) << render(fabric.error());
  EXPECT_EQ(fabric->gpus().size(), 16U);
  const Path path = path_of(*fabric, 0, 8);
  EXPECT_EQ(path.latency.count(), 2'600'000);
  EXPECT_NEAR(path.megabyte_us, 105.0, 1e-9);
}

TEST(TacclTopology, TwoTimesAreTheMeshOfNdv2) {
  const auto fabric = read(kMesh, 2);
  ASSERT_TRUE(fabric) << render(fabric.error());
  EXPECT_NEAR(path_of(*fabric, 0, 1).megabyte_us, 23.0, 1e-9);
  EXPECT_NEAR(path_of(*fabric, 0, 2).megabyte_us, 46.0, 1e-9);
  EXPECT_EQ(path_of(*fabric, 0, 1).latency.count(), 300'000);
  EXPECT_EQ(path_of(*fabric, 0, 5).links, 2U);  // over another GPU, not over a NIC
}

TEST(TacclTopology, OneTimeIsASwitch) {
  const auto fabric = read(R"({"name": "DGX2", "gpus_per_node": 16, "nics_per_node": 8, "alpha": 0.3,
      "node_betas_list": [8], "node_invbws_list": [8], "remote_invbw": 107, "remote_alpha": 2.6, "remote_beta": 105})",
                           1);
  ASSERT_TRUE(fabric) << render(fabric.error());
  const Path path = path_of(*fabric, 0, 15);
  EXPECT_EQ(path.latency.count(), 300'000);
  EXPECT_NEAR(path.megabyte_us, 8.0, 1e-9);
}

TEST(TacclTopology, AMatrixOfLinksIsAnyMachine) {
  const auto fabric = read(R"({"name": "pair", "gpus_per_node": 2, "alpha": 1, "links": [[0, 1], [1, 0]],
      "betas": [[0, 10], [20, 0]], "invbws": [[0, 10], [20, 0]]})",
                           1);
  ASSERT_TRUE(fabric) << render(fabric.error());
  EXPECT_NEAR(path_of(*fabric, 0, 1).megabyte_us, 10.0, 1e-9);
  EXPECT_NEAR(path_of(*fabric, 1, 0).megabyte_us, 20.0, 1e-9);
}

TEST(TacclTopology, SaysWhatIsWrong) {
  const auto problem = [](const char* text, int hosts = 1) {
    const auto fabric = read(text, hosts);
    return fabric ? std::string() : render(fabric.error());
  };
  using testing::HasSubstr;
  EXPECT_THAT(problem(R"({"gpus_per_node": 4, "alpha": 1, "node_betas_list": [1, 2]})"), HasSubstr("mesh of eight"));
  EXPECT_THAT(problem(R"({"gpus_per_node": 4, "alpha": 1, "node_betas_list": [-1]})"), HasSubstr("not a time above 0"));
  EXPECT_THAT(problem(R"({"gpus_per_node": 4, "alpha": 1, "node_betas_list": [1]})", 2), HasSubstr("remote_alpha"));
  EXPECT_THAT(problem(R"({"gpus_per_node": 2, "alpha": 1, "links": [[0, 1]], "betas": [[0, 1]]})"),
              HasSubstr("a row for each"));
  EXPECT_THAT(problem(R"({"gpus_per_node": 2, "alpha": 1, "node_betas_list": [1], "what": 2})"), HasSubstr("what"));
  EXPECT_THAT(problem(R"({"nnodes": 2, "intranode_sketch": {"strategy": "none"}})"), HasSubstr("sketch"));
  EXPECT_THAT(problem(R"({"TopologyParams": {"name": "NDv2"}})"), HasSubstr("TE-CCL's solver"));
}

}  // namespace
}  // namespace ringwright::network_models::taccl_topology_test
