// What NCCL would choose, on which channels, with how many threads.
#include "collectives/nccl/cost/selector.h"

#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::selector_test {
namespace {

using namespace ringwright::literals;

CollectivePlan plan(NcclSetup setup, int ranks, int per_host, Bytes bytes,
                    CollectiveKind kind = CollectiveKind::kAllReduce) {
  const GroupLayout layout = make_block_layout(ranks, per_host);
  return NcclSelector(std::move(setup)).plan({.kind = kind, .bytes = bytes, .layout = &layout});
}

TEST(NcclSelector, LittleDataGoesByRingOrTreeWithLl) {
  const CollectivePlan one_host = plan(setup_of(dgx_h100()), 8, 8, 1_KiB);
  EXPECT_EQ(one_host.algorithm, "ring");
  EXPECT_EQ(one_host.protocol, Protocol::kLl);
  EXPECT_EQ(one_host.channels, 1);
  const CollectivePlan hosts = plan(setup_of(dgx_h100()), 128, 8, 1_KiB);
  EXPECT_EQ(hosts.algorithm, "tree");
  EXPECT_EQ(hosts.protocol, Protocol::kLl);
}

TEST(NcclSelector, MuchDataGoesThroughTheSwitchOrByRing) {
  EXPECT_EQ(plan(setup_of(dgx_h100()), 8, 8, 1_GiB).algorithm, "nvls");
  EXPECT_EQ(plan(setup_of(dgx_a100()), 8, 8, 1_GiB).algorithm, "ring");
  EXPECT_EQ(plan(setup_of(dgx_h100()), 16, 8, 1_GiB).algorithm, "nvls_tree");
  EXPECT_EQ(plan(setup_of(dgx_h100()), 4, 4, 1_GiB).algorithm, "ring");  // four GPUs gain nothing from the switch
}

// NVLS has at most 32 heads: a rack with more GPUs sums through its switches, and neither gathers there nor has trees
// of such sums between racks.
TEST(NcclSelector, RacksSumThroughTheirSwitchesAndDoNoMore) {
  const NcclHost rack =
      switched_host({.compute_capability = 100, .nvlink_gb = 900.0, .nics = 64, .switches = 64, .gpus = 64});
  EXPECT_EQ(plan(setup_of(rack), 64, 64, 1_GiB).algorithm, "nvls");
  EXPECT_EQ(plan(setup_of(rack), 64, 64, 64_MiB, CollectiveKind::kAllGather).algorithm, "ring");
  EXPECT_EQ(plan(setup_of(rack), 128, 64, 1_MiB).algorithm, "tree");
  EXPECT_EQ(plan(setup_of(rack), 128, 64, 8_GiB).algorithm, "ring");
  EXPECT_EQ(plan(setup_of(rack), 64, 32, 1_GiB).algorithm, "nvls_tree");
}

// An A100 has no NVLS: rings remain, with the protocol that is left.
TEST(NcclSelector, TakesARingWhereVariablesLeaveNothing) {
  NcclSetup setup = setup_of(dgx_a100());
  const GroupLayout layout = make_block_layout(8, 8);
  const CollectiveCall call{.kind = CollectiveKind::kAllGather, .bytes = 1_GiB, .layout = &layout};
  EXPECT_FALSE(NcclSelector(setup).leaves_nothing(call));
  auto& allowed = setup.knobs.algorithms[index_of(CollectiveKind::kAllGather)];
  allowed.fill(false);
  allowed[index_of(NcclAlgorithm::kNvls)] = true;
  setup.knobs.protocols[index_of(CollectiveKind::kAllGather)] = {Allowed::kNo, Allowed::kYes, Allowed::kNo};
  const NcclSelector selector(setup);
  EXPECT_TRUE(selector.leaves_nothing(call));
  EXPECT_EQ(selector.plan(call).algorithm, "ring");
  EXPECT_EQ(selector.plan(call).protocol, Protocol::kLl128);
}

TEST(NcclSelector, MuchDataUsesAllChannelsAndThreads) {
  const CollectivePlan ring = plan(setup_of(dgx_a100()), 8, 8, 1_GiB);
  EXPECT_EQ(ring.protocol, Protocol::kSimple);
  EXPECT_EQ(ring.channels, 24);
  EXPECT_EQ(ring.threads, 512 + 32);  // and a warp that waits
  EXPECT_EQ(plan(setup_of(dgx_h100()), 8, 8, 1_GiB).channels, 16);
  EXPECT_EQ(plan(setup_of(dgx_b200()), 8, 8, 1_GiB).channels, 24);
}

// 64 KiB by ring with LL: a thread has 8 B for each of 8 ranks, so 512 threads have 32 KiB and two channels are busy.
TEST(NcclSelector, ChannelsAreDroppedWhileThreadsStarve) {
  NcclSetup setup = setup_of(dgx_h100());
  setup.tuner.lines = {{.kind = CollectiveKind::kAllReduce,
                        .max_bytes = 1 << 30,
                        .algorithm = NcclAlgorithm::kRing,
                        .protocol = Protocol::kLl}};
  EXPECT_EQ(plan(setup, 8, 8, 64_KiB).channels, 2);
  EXPECT_EQ(plan(setup, 8, 8, 64_KiB).threads, 512);
  // 8 KiB: one channel, and threads halved until each has work: 8192 / 64 = 128.
  EXPECT_EQ(plan(setup, 8, 8, 8_KiB).channels, 1);
  EXPECT_EQ(plan(setup, 8, 8, 8_KiB).threads, 128);
}

TEST(NcclSelector, SendsByTheReceiversRailUnlessForbidden) {
  NcclSetup setup = setup_of(dgx_h100());
  EXPECT_TRUE(plan(setup, 16, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
  setup.knobs.p2p_pxn = false;
  EXPECT_FALSE(plan(setup, 16, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
  setup.knobs = {};
  setup.knobs.pxn = false;
  EXPECT_FALSE(plan(setup, 16, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
}

// ncclTopoGetNetDev of src/graph/search.cc: the other GPU's path to the NIC is at most PXB, or P2C where versions have
// it.
TEST(NcclSelector, SendsByOtherGpusOnlyWhereTheseAreNextToNics) {
  const auto relayed = [](const NcclHost& host, const std::string& version) {
    return plan(setup_of(host, version), 8, 4, 1_MiB, CollectiveKind::kAllToAll).pxn;
  };
  EXPECT_FALSE(relayed(polaris(), "2.30"));  // NICs in the processor's own slots
  EXPECT_TRUE(relayed(alps(), "2.30"));      // over NVLink-C2C
  EXPECT_FALSE(relayed(alps(), "2.25"));
  const auto over_switches = [](const std::string& version) {
    return plan(setup_of(dgx_a100(), version), 16, 8, 1_MiB, CollectiveKind::kAllToAll).pxn;
  };
  EXPECT_FALSE(over_switches("2.9"));
  EXPECT_TRUE(over_switches("2.14"));
}

// rcclSetPxn of RCCL's src/rccl_wrap.cc.
TEST(NcclSelector, RcclSendsByOtherGpusFrom64RanksOnUnlessAsked) {
  NcclSetup setup = setup_of(dgx_h100(), "rccl");
  EXPECT_FALSE(plan(setup, 56, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
  EXPECT_TRUE(plan(setup, 64, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
  setup.knobs.pxn = true;
  EXPECT_TRUE(plan(setup, 16, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
  setup.knobs.pxn = false;
  EXPECT_FALSE(plan(setup, 64, 8, 1_MiB, CollectiveKind::kAllToAll).pxn);
}

TEST(NcclSelector, MessagesNeedAnotherRailToLeaveBy) {
  const NcclSelector selector(setup_of(dgx_h100()));
  const GroupLayout layout = make_block_layout(16, 8);
  const auto relayed = [&](int from, int to) {
    return selector.plan_message({.bytes = 1_MiB, .layout = &layout, .from = from, .to = to}).pxn;
  };
  EXPECT_TRUE(relayed(7, 8));   // rail 7 to rail 0 of the next host
  EXPECT_FALSE(relayed(0, 8));  // the same rail
  EXPECT_FALSE(relayed(0, 7));  // the same host
}

TEST(NcclSelector, ATunersLineDecidesWhereItFits) {
  NcclSetup setup = setup_of(dgx_h100());
  setup.tuner.lines = {{.kind = CollectiveKind::kAllReduce,
                        .max_bytes = 4 << 20,
                        .algorithm = NcclAlgorithm::kTree,
                        .protocol = Protocol::kLl128,
                        .channels = 8,
                        .hosts = 1}};
  const CollectivePlan chosen = plan(setup, 8, 8, 4_MiB);
  EXPECT_EQ(chosen.algorithm, "tree");
  EXPECT_EQ(chosen.protocol, Protocol::kLl128);
  EXPECT_EQ(chosen.channels, 8);
  EXPECT_EQ(plan(setup, 8, 8, 8_MiB).algorithm, "nvls");
  EXPECT_NE(plan(setup, 16, 8, 4_MiB).channels, 8);
}

// Rings of a DGX A100 have 24 channels, and NVLS of a DGX H100 16, or as few as NCCL_MAX_NCHANNELS says.
TEST(NcclSelector, ATunersLineAddsNoChannels) {
  NcclSetup setup = setup_of(dgx_a100());
  setup.tuner.lines = {{.kind = CollectiveKind::kAllReduce, .max_bytes = 1 << 30, .channels = 32}};
  EXPECT_EQ(plan(setup, 8, 8, 512_MiB).channels, 24);
  setup.knobs.max_channels = 8;
  EXPECT_EQ(plan(setup, 8, 8, 512_MiB).channels, 8);
  NcclSetup nvls = setup_of(dgx_h100());
  nvls.tuner.lines = {{.kind = CollectiveKind::kAllReduce,
                       .max_bytes = 1 << 30,
                       .algorithm = NcclAlgorithm::kNvls,
                       .channels = 32}};
  EXPECT_EQ(plan(nvls, 8, 8, 512_MiB).channels, 16);
}

TEST(NcclSelector, ATunersLineCannotForceWhatDoesNotWork) {
  NcclSetup setup = setup_of(dgx_a100());
  setup.tuner.lines = {{.kind = CollectiveKind::kAllReduce, .max_bytes = 1 << 30, .algorithm = NcclAlgorithm::kNvls}};
  EXPECT_EQ(plan(setup, 8, 8, 64_MiB).algorithm, "ring");
}

TEST(NcclSelector, ChannelsObeyTheUser) {
  NcclSetup setup = setup_of(dgx_h100());
  setup.knobs.max_channels = 4;
  EXPECT_EQ(plan(setup, 8, 8, 1_GiB, CollectiveKind::kAllGather).channels, 4);
  setup.knobs = {};
  setup.knobs.min_channels = 32;
  EXPECT_EQ(plan(setup, 8, 8, 1_GiB, CollectiveKind::kAllGather).channels, 32);
}

TEST(NcclSelector, BroadcastsGoByRing) {
  EXPECT_EQ(plan(setup_of(dgx_h100()), 16, 8, 1_MiB, CollectiveKind::kBroadcast).algorithm, "ring");
}

TEST(NcclSelector, ExchangesGoByPairs) {
  const CollectivePlan inside = plan(setup_of(dgx_h100()), 8, 8, 64_MiB, CollectiveKind::kAllToAll);
  EXPECT_EQ(inside.algorithm, "p2p");
  EXPECT_EQ(inside.protocol, Protocol::kSimple);
  EXPECT_EQ(inside.channels, 32);  // 24, rounded up to a power of two
  EXPECT_EQ(inside.chunk, 512_KiB);
  const CollectivePlan between = plan(setup_of(dgx_h100()), 16, 8, 64_MiB, CollectiveKind::kAllToAll);
  EXPECT_EQ(between.chunk, 128_KiB);
  EXPECT_EQ(plan(setup_of(dgx_h100()), 8, 8, 16_KiB, CollectiveKind::kAllToAll).protocol, Protocol::kLl);
}

// NCCL's documentation, NCCL_ALLOC_P2P_NET_LL_BUFFERS: connections over the network have no buffers of LL by default.
TEST(NcclSelector, ExchangesBetweenHostsUseLlOnlyWithBuffersForIt) {
  NcclSetup setup = setup_of(dgx_h100());
  EXPECT_EQ(plan(setup, 16, 8, 16_KiB, CollectiveKind::kAllToAll).protocol, Protocol::kSimple);
  setup.knobs.p2p_net_ll = true;
  EXPECT_EQ(plan(setup, 16, 8, 16_KiB, CollectiveKind::kAllToAll).protocol, Protocol::kLl);
}

CollectivePlan message(const NcclSetup& setup, int ranks, int to, Bytes bytes) {
  const GroupLayout layout = make_block_layout(ranks, 8);
  return NcclSelector(setup).plan_message({.bytes = bytes, .layout = &layout, .from = 0, .to = to});
}

TEST(NcclSelector, MessagesMoveInChunksByThePathTheyTake) {
  const NcclSetup setup = setup_of(dgx_h100());
  EXPECT_EQ(message(setup, 16, 8, 64_MiB).chunk, 128_KiB);
  EXPECT_EQ(message(setup, 16, 1, 64_MiB).chunk, 512_KiB);
  EXPECT_EQ(message(setup, 16, 1, 16_KiB).protocol, Protocol::kLl);
  EXPECT_EQ(message(setup, 16, 1, 16_KiB + Bytes(1)).protocol, Protocol::kSimple);
  EXPECT_EQ(message(setup, 16, 8, 16_KiB).protocol, Protocol::kSimple);
}

// 32 channels for 8 peers: 4 each. They are doubled while each has more than 32 slots of 512 KiB. Over several hosts a
// channel is planned with 14 GB/s, so 50 GB/s take 4; 16 channels for 16 peers leave one, doubled above 128 KiB.
TEST(NcclSelector, LongMessagesGetMoreChannels) {
  const NcclSetup setup = setup_of(dgx_h100());
  EXPECT_EQ(message(setup, 8, 1, 64_MiB).channels, 4);
  EXPECT_EQ(message(setup, 8, 1, 64_MiB + Bytes(4)).channels, 8);
  EXPECT_EQ(message(setup, 8, 1, 1_GiB).channels, 32);
  EXPECT_EQ(message(setup, 16, 8, 128_KiB).channels, 1);
  EXPECT_EQ(message(setup, 16, 8, 256_KiB).channels, 2);
  EXPECT_EQ(message(setup, 16, 8, 1_GiB).channels, 4);
}

// Four GPUs, all pairs connected: the search finds six rings, doubled; each of four channels uses a different one.
TEST(NcclSelector, FewChannelsOfAMeshEachHaveTheirOwnPath) {
  NcclSetup setup = setup_of(polaris());
  setup.knobs.max_channels = 4;
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectivePlan plan =
      NcclSelector(std::move(setup))
          .plan({.kind = CollectiveKind::kAllReduce, .bytes = Bytes(64 << 20), .layout = &layout});
  ASSERT_EQ(plan.channels, 4);
  ASSERT_EQ(plan.paths.size(), 1U);
  const std::vector<HostPath>& paths = plan.paths.front();
  ASSERT_EQ(paths.size(), 4U);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = a + 1; b < 4; ++b) EXPECT_NE(paths[a].order, paths[b].order) << a << " and " << b;
  }
}

// With NCCL_CROSS_NIC=1 all hosts use the paths that the search found: 0 1 2 3 from NIC 0 to NIC 3, 1 0 3 2 from 1 to
// 2.
TEST(NcclSelector, RingsThatCrossNicsGoAsTheSearchFound) {
  NcclSetup setup = setup_of(alps(), "2.23");
  setup.knobs.cross_nic = 1;
  const GroupLayout layout = make_block_layout(16, 4);
  const CollectivePlan plan =
      NcclSelector(std::move(setup)).plan({.kind = CollectiveKind::kAllGather, .bytes = 64_MiB, .layout = &layout});
  ASSERT_EQ(plan.paths.size(), 1U);
  const std::vector<HostPath>& paths = plan.paths.front();
  ASSERT_EQ(paths.size(), 4U);
  EXPECT_EQ(paths[0], (HostPath{.order = {0, 1, 2, 3}, .in = 0, .out = 3, .relay = -1}));
  EXPECT_EQ(paths[1], (HostPath{.order = {1, 0, 3, 2}, .in = 1, .out = 2, .relay = -1}));
}

TEST(NcclSelector, ListsWhatItWeighedCheapestFirst) {
  const GroupLayout layout = make_block_layout(16, 8);
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &layout};
  const auto options = nccl_cost(setup_of(dgx_h100()), call);
  ASSERT_EQ(options.size(), 10u);
  EXPECT_EQ(to_string(options[0].cost.algorithm), NcclSelector(setup_of(dgx_h100())).plan(call).algorithm);
  for (std::size_t i = 1; i < options.size(); ++i) {
    if (!options[i].cost.why_not.empty()) continue;
    EXPECT_TRUE(options[i - 1].cost.why_not.empty());
    EXPECT_LE(options[i - 1].cost.time_us, options[i].cost.time_us);
  }
}

// Every group has a plan, with channels and threads.
TEST(NcclSelector, PlansForGroupsOfAllShapes) {
  for (const NcclHost& host : {dgx_h100(), dgx_a100(), dgx_b200(), polaris(), alps()}) {
    const NcclSelector selector(setup_of(host));
    for (const int ranks : {1, 2, 3, 4, 5, 7, 12, 16, 33}) {
      for (const int per_host : {1, 2, 3, host.gpus}) {
        const GroupLayout layout = make_block_layout(ranks, per_host);
        for (const auto kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                CollectiveKind::kAllToAll, CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
          for (const Bytes bytes : {0_B, 8_B, 1_MiB, 16_GiB}) {
            const CollectivePlan found = selector.plan({.kind = kind, .bytes = bytes, .layout = &layout});
            EXPECT_FALSE(found.algorithm.empty());
            EXPECT_GE(found.channels, 1);
            EXPECT_LE(found.channels, 64);
            EXPECT_LE(found.threads, 640);
          }
        }
      }
    }
  }
}

TEST(NcclSelector, RingsFollowTheGraphFile) {
  NcclSetup setup = setup_of(dgx_h100());
  setup.knobs.algorithms[static_cast<std::size_t>(CollectiveKind::kAllReduce)].fill(false);
  setup.knobs.algorithms[static_cast<std::size_t>(CollectiveKind::kAllReduce)][index_of(NcclAlgorithm::kRing)] = true;
  EXPECT_TRUE(plan(setup, 8, 8, 64_MiB).paths.empty());  // GPUs on NVSwitch: any order works
  const std::vector<int> order = {0, 3, 1, 2, 7, 6, 5, 4};
  setup.graph = NcclGraphFile{
      .ring = NcclGraph{.channels = 1, .inside_gb = 20.0, .between_gb = 20.0, .orders = {order}}, .gpus = 8};
  EXPECT_EQ(plan(setup, 8, 8, 64_MiB).paths, (std::vector<std::vector<HostPath>>{{{.order = order}}}));
}

// The file's ring enters and leaves by NIC 0; from GPU 4 that is over NVLink to GPU 0, next to the NIC.
TEST(NcclSelector, RingsTakeTheNicsOfTheGraphFile) {
  NcclSetup setup = setup_of(dgx_h100());
  setup.knobs.algorithms[static_cast<std::size_t>(CollectiveKind::kAllReduce)].fill(false);
  setup.knobs.algorithms[static_cast<std::size_t>(CollectiveKind::kAllReduce)][index_of(NcclAlgorithm::kRing)] = true;
  const std::vector<int> order = {0, 3, 1, 2, 7, 6, 5, 4};
  setup.graph = NcclGraphFile{
      .ring = NcclGraph{.channels = 1, .inside_gb = 20.0, .between_gb = 20.0, .orders = {order}, .ports = {{0, 0}}},
      .gpus = 8};
  const HostPath path{.order = order, .in = 0, .out = 0, .relay = 0};
  const CollectivePlan chosen = plan(setup, 16, 8, 64_MiB);
  ASSERT_EQ(chosen.paths.size(), 1U);
  for (const HostPath& of_channel : chosen.paths[0]) EXPECT_EQ(of_channel, path);
}

}  // namespace
}  // namespace ringwright::collectives::selector_test
