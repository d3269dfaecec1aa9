// Paths inside hosts as in NCCL's own listings ("GPU/4F000 :... (hops/GB/s/type)").
#include "collectives/nccl/topology/topology.h"

#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::topology_test {
namespace {

NcclTopology topology(const NcclHost& host, int gpus, const std::string& version = "2.30") {
  std::vector<int> members;
  for (int gpu = 0; gpu < gpus; ++gpu) members.push_back(gpu);
  return {host, members, shipped_tables(version), true};
}

// github.com/NVIDIA/nccl-tests/issues/100 lists GPUs of an A100 host two hops apart, by NVLink.
TEST(NcclTopology, GpusOnASwitchAreTwoHopsApart) {
  const NcclTopology host = topology(dgx_a100(), 8);
  const NcclTopology::Route& route = host.route(0, 5);
  EXPECT_EQ(route.hops(), 2);
  EXPECT_EQ(route.path, NcclPath::kNvlink);
  EXPECT_EQ(route.rate, 240'000);  // 12 links of 20 GB/s (topo.h)
}

// github.com/NVIDIA/nccl/issues/1519 lists GPU/0-84000 (5/24.0/PHB) and GPU/0-4000 (6/10.0/SYS) for a NIC without a
// switch, on two sockets of Intel: slot, CPU, slot, port; our model counts no bridges in between.
TEST(NcclTopology, TheFarSocketCostsALinkBetweenProcessors) {
  NcclHost host = mesh_of_four({.lanes = 0, .sockets = 2, .processor = Processor::kIntel});
  host.lanes.clear();
  host.links = NcclHost::Links::kPcie;
  const NcclTopology routes = topology(host, 4);
  EXPECT_EQ(routes.route(routes.net(0), 0).path, NcclPath::kPhb);
  EXPECT_EQ(routes.route(routes.net(0), 0).rate, 24'000);
  EXPECT_EQ(routes.route(routes.net(0), 3).path, NcclPath::kSys);
  EXPECT_EQ(routes.route(routes.net(0), 3).rate, 10'000);
}

TEST(NcclTopology, GracesAreSixGigabytesApart) {
  const NcclTopology old = topology(alps(), 4, "2.23");
  EXPECT_EQ(old.route(0, old.net(0)).path, NcclPath::kPhb);
  EXPECT_EQ(old.route(3, old.net(0)).path, NcclPath::kSys);
  EXPECT_EQ(old.route(3, old.net(0)).rate, 6'000);
}

// Since 2.27 a NIC behind NVLink-C2C is near enough to be reached through the GPU next to it (PXN).
TEST(NcclTopology, NewerVersionsReachNicsOfOtherGracesByTheirGpus) {
  const NcclTopology host = topology(alps(), 4, "2.27");
  EXPECT_EQ(host.route(0, host.net(0)).path, NcclPath::kP2c);
  EXPECT_EQ(host.route(3, host.net(0)).path, NcclPath::kPxn);
  EXPECT_EQ(host.route(3, host.net(0)).rate, 25'000);
  EXPECT_EQ(host.route(host.net(0), 3).path, NcclPath::kSys);  // only towards the network
}

TEST(NcclTopology, WithoutPxnAnotherGpusNicIsReachedByTheProcessor) {
  NcclHost host = dgx_h100();
  EXPECT_EQ(topology(host, 8).route(0, 8 + 1).path, NcclPath::kPxn);
  host.pxn = false;
  EXPECT_EQ(topology(host, 8).route(0, 8 + 1).path, NcclPath::kPhb);
}

// NICs without access to GPU memory: bytes pass the memory next to the CPU, also below a common switch.
TEST(NcclTopology, WithoutGpudirectEveryRouteToANicPassesTheProcessor) {
  NcclHost host = dgx_h100();
  EXPECT_LE(topology(host, 8).route(0, 8).path, NcclPath::kPxb);
  host.gpudirect = false;
  const NcclTopology routes = topology(host, 8);
  EXPECT_EQ(routes.route(0, routes.net(0)).path, NcclPath::kPhb);
  EXPECT_EQ(routes.route(routes.net(0), 0).path, NcclPath::kPhb);
  // Nor does PXN lead to it.
  EXPECT_EQ(routes.route(0, routes.net(1)).path, NcclPath::kPhb);
}

// DGX-1: GPUs 0 and 5 share no lane, but both have one to GPU 1 or 4.
TEST(NcclTopology, GpusWithoutALaneConnectThroughOneBetween) {
  NcclHost host = mesh_of_four({.compute_capability = 70});
  std::erase_if(host.lanes, [](const NcclHost::Lanes& lanes) { return lanes.a == 0 && lanes.b == 3; });
  const NcclTopology routes = topology(host, 4);
  EXPECT_EQ(routes.route(0, 3).path, NcclPath::kNvlinkByGpu);
  EXPECT_EQ(routes.route(0, 3).hops(), 2);
}

// Two GPUs and two NICs on a switch: each GPU gets the NIC of its number, and each NIC belongs to one GPU.
TEST(NcclTopology, PortsAreDistributedAmongTheGpusNextToThem) {
  const NcclTopology host = topology(dgx_a100(), 8);
  for (int gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(host.nets_of(gpu).front(), gpu);
    EXPECT_EQ(host.gpu_of_net(gpu), gpu);
  }
}

TEST(NcclTopology, NearerPortsComeFirst) {
  const NcclTopology host = topology(dgx_h100(), 8);
  EXPECT_EQ(host.nets_near(3, NcclPath::kPix), std::vector<int>({3}));
  EXPECT_EQ(host.nets_near(3, NcclPath::kSys).size(), 8U);
  EXPECT_EQ(host.nets_near(3, NcclPath::kSys).front(), 3);
}

}  // namespace
}  // namespace ringwright::collectives::topology_test
