// What NCCL's sources choose, by version: values worked out from src/graph/tuning.cc, paths.cc and src/enqueue.cc, and
// lines that NCCL itself prints (NCCL_DEBUG_SUBSYS=TUNING).
#include <gtest/gtest.h>

#include "collectives/nccl/cost/cost.h"
#include "collectives/nccl/cost/selector.h"
#include "collectives/nccl/cost/work.h"
#include "tests/collectives/nccl/asked_call.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::source_choices_test {
namespace {

using namespace ringwright::literals;

constexpr auto kAllReduce = CollectiveKind::kAllReduce;
constexpr auto kAllGather = CollectiveKind::kAllGather;

CollectivePlan plan(const NcclSetup& setup, CollectiveKind kind, Bytes bytes, int ranks = 8, int per_host = 8) {
  const GroupLayout layout = make_block_layout(ranks, per_host);
  return NcclSelector(setup).plan({.kind = kind, .bytes = bytes, .layout = &layout});
}

// Printed by NCCL 2.30.7 on eight H100: "AllReduce: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}", 1048576
// Bytes RING LL {0..23}, 2097152 Bytes NVLS SIMPLE {0..15}.
TEST(NcclSourceChoices, EightH100ChooseAsNcclPrints) {
  const NcclSetup setup = setup_of(dgx_h100(), "2.30");
  const CollectivePlan small = plan(setup, kAllReduce, 4_KiB);
  EXPECT_EQ(small.algorithm, "ring");
  EXPECT_EQ(small.protocol, Protocol::kLl);
  EXPECT_EQ(small.channels, 1);
  const CollectivePlan middle = plan(setup, kAllReduce, 1_MiB);
  EXPECT_EQ(middle.algorithm, "ring");
  EXPECT_EQ(middle.protocol, Protocol::kLl);
  EXPECT_EQ(middle.channels, 24);
  const CollectivePlan large = plan(setup, kAllReduce, 2_MiB);
  EXPECT_EQ(large.algorithm, "nvls");
  EXPECT_EQ(large.channels, 16);
}

// A ring with Simple on 24 channels: 768 KiB starve none. As cells of 32 KiB of traffic, 16 KiB of an all-reduce, they
// are 48, two for each channel; 784 KiB are 49, three for each of 17.
TEST(NcclSourceChoices, BuffersAreDividedIntoCells) {
  const auto channels = [](const std::string& version, Bytes bytes, Protocol protocol = Protocol::kLl128) {
    return work(version, {.host = dgx_h100(), .bytes = bytes, .protocol = protocol}).channels;
  };
  EXPECT_EQ(channels("2.30", 768_KiB), 24);
  EXPECT_EQ(channels("2.30", 784_KiB), 17);
  // Cells of 16 KiB of traffic up to 2.28: 98 of 8 KiB, five for each of 20.
  EXPECT_EQ(channels("2.28", 784_KiB), 20);
  // From 2.22 on, of 16 B: as many channels as do not starve.
  EXPECT_EQ(channels("2.22", 784_KiB), 24);
  EXPECT_EQ(channels("2.21", 784_KiB), 24);
  // A single cell of 16 KiB, or two of 8.
  EXPECT_EQ(channels("2.30", 16_KiB), 1);
  EXPECT_EQ(channels("2.25", 16_KiB), 2);
  // LL's traffic counts four times since 2.27: 8 cells of 8 KiB before, 32 of 2 KiB since.
  EXPECT_EQ(
      work("2.25", {.host = dgx_h100(), .bytes = 64_KiB, .algorithm = NcclAlgorithm::kTree, .protocol = Protocol::kLl})
          .channels,
      8);
  EXPECT_EQ(
      work("2.28", {.host = dgx_h100(), .bytes = 64_KiB, .algorithm = NcclAlgorithm::kTree, .protocol = Protocol::kLl})
          .channels,
      16);
}

// 2.21 reduces a tree's threads for small sizes: 512 to 64 for LL (96 at least), 640 to 320 for LL128, 64 and four
// warps for Simple. 2.22 does not.
TEST(NcclSourceChoices, TreesTakeAllThreadsSince222) {
  const auto threads = [](const std::string& version, Protocol protocol) {
    return work(version, {.host = dgx_h100(), .bytes = 8_B, .algorithm = NcclAlgorithm::kTree, .protocol = protocol})
        .threads;
  };
  EXPECT_EQ(threads("2.21", Protocol::kLl), 96);
  EXPECT_EQ(threads("2.21", Protocol::kLl128), 320);
  EXPECT_EQ(threads("2.21", Protocol::kSimple), 192);
  EXPECT_EQ(threads("2.22", Protocol::kLl), 640);
  EXPECT_EQ(threads("2.22", Protocol::kSimple), 640);
}

// A tuner's channels do not change how many threads the size leaves.
TEST(NcclSourceChoices, TunersChannelsLeaveThreadsAsTheyAre) {
  const NcclSetup setup = setup_of(dgx_h100(), "2.30");
  const Asked asked{.host = dgx_h100(), .bytes = 64_KiB};
  EXPECT_EQ(work(setup, asked, 16).threads, work(setup, asked).threads);
}

// Versions know LL128 of the GPUs of their time; 2.17 not through a GPU between two others.
TEST(NcclSourceChoices, Ll128NeedsAGpuThatTheVersionKnows) {
  const auto has_ll128 = [](const std::string& version, const NcclHost& host) {
    return cost(version, {.host = host, .protocol = Protocol::kLl128}).why_not.empty();
  };
  EXPECT_FALSE(has_ll128("2.24", dgx_b200()));
  EXPECT_TRUE(has_ll128("2.25", dgx_b200()));
  const NcclHost b300 = switched_host({.compute_capability = 103, .nvlink_gb = 900.0});
  EXPECT_FALSE(has_ll128("2.25", b300));
  EXPECT_TRUE(has_ll128("2.27", b300));
  EXPECT_FALSE(has_ll128("2.8", dgx_h100()));
  EXPECT_TRUE(has_ll128("2.18", dgx_h100()));
}

// In-switch reduction takes 25 us since 2.21 and 23 us in 2.20. A communicator with two GPUs of a host has none, since
// NCCL's topology holds only its own GPUs.
TEST(NcclSourceChoices, InSwitchReductionNeedsThreeGpusOfTheCommunicator) {
  const Asked nvls{.host = dgx_h100(), .algorithm = NcclAlgorithm::kNvls};
  EXPECT_NEAR(cost("2.21", nvls).latency_us, 25.0, 1e-9);
  EXPECT_NEAR(cost("2.20", nvls).latency_us, 23.0, 1e-9);
  Asked pair = nvls;
  pair.ranks = pair.per_host = 2;
  EXPECT_EQ(cost("2.30", pair).why_not, "needs more than two GPUs on a switch");
  pair.ranks = pair.per_host = 3;
  EXPECT_TRUE(cost("2.30", pair).why_not.empty());
}

// Blackwell: 16 channels of in-switch reduction up to 2.24, 32 in 2.25, since then 24 on one host.
// NCCL_MAX_NCHANNELS limits rings and trees, NCCL_MAX_CTAS in-switch reduction too.
TEST(NcclSourceChoices, ChannelsOfInSwitchReduction) {
  const Asked nvls{.host = dgx_b200(), .bytes = 1_GiB, .algorithm = NcclAlgorithm::kNvls};
  EXPECT_EQ(work("2.24", nvls).channels, 16);
  EXPECT_EQ(work("2.25", nvls).channels, 32);
  EXPECT_EQ(work("2.30", nvls).channels, 24);
  NcclSetup setup = setup_of(dgx_b200(), "2.30");
  setup.knobs.max_channels = 4;
  EXPECT_EQ(work(setup, nvls).channels, 24);
  Asked ring = nvls;
  ring.algorithm = NcclAlgorithm::kRing;
  EXPECT_EQ(work(setup, ring).channels, 4);
  setup.knobs.max_blocks = 8;
  EXPECT_EQ(work(setup, nvls).channels, 8);
}

// Blackwell's limits of one channel changed with 2.28, 2.29 and 2.30: eight B200 have 32 of 45 GB/s.
TEST(NcclSourceChoices, V228AndV229HaveTheirOwnLimitsOfBlackwell) {
  const auto ring = [](const std::string& version) {
    const Asked asked{.host = dgx_b200(), .protocol = Protocol::kLl128};
    return cost(version, asked).bandwidth_gb / cost(version, {.host = dgx_b200()}).bandwidth_gb;
  };
  EXPECT_NEAR(ring("2.28"), 0.92, 1e-9);  // 73.4 do not limit 41.4
  EXPECT_NEAR(ring("2.29"), 34.5 / 45.0, 1e-9);
  EXPECT_NEAR(ring("2.30"), 40.0 / 45.0, 1e-9);
  const Asked tree{.host = dgx_b200(), .ranks = 32, .algorithm = NcclAlgorithm::kNvlsTree};
  EXPECT_NEAR(cost("2.29", tree).latency_us - cost("2.28", tree).latency_us, 2 * 2 * (20.9 - 14.0), 1e-9);
}

// CollNet's sums take all channels that the size leaves; gathers by it came with 2.20, in the switch over hosts with
// 2.27.
TEST(NcclSourceChoices, CollnetTakesAllChannelsOfTheSize) {
  NcclHost host = dgx_h100();
  host.network_reduces = true;
  const auto with = [&](const std::string& version) {
    NcclSetup setup = setup_of(host, version);
    setup.knobs.collnet = true;
    return setup;
  };
  const Asked chain{.host = host, .ranks = 16, .bytes = 640_KiB, .algorithm = NcclAlgorithm::kCollnetChain};
  // 640 KiB: two of 640 threads with 512 B each.
  EXPECT_EQ(work(with("2.30"), chain).channels, 2);
  Asked direct = chain;
  direct.algorithm = NcclAlgorithm::kCollnetDirect;
  direct.bytes = 64_MiB;
  // 16 channels with 640 threads of 512 B for each of eight heads are 40 MiB.
  EXPECT_EQ(work(with("2.30"), direct).channels, 16);
  direct.bytes = 32_MiB;
  EXPECT_EQ(work(with("2.30"), direct).channels, 12);
  direct.kind = kAllGather;
  EXPECT_EQ(cost(with("2.19"), direct).why_not, "not in this version");
  EXPECT_TRUE(cost(with("2.20"), direct).why_not.empty());
  direct.algorithm = NcclAlgorithm::kNvls;
  EXPECT_EQ(cost(with("2.25"), direct).why_not, "not in this version");
  EXPECT_TRUE(cost(with("2.27"), direct).why_not.empty());
}

// With POWER processors a tree's hop over PCIe costs a ring's 5.7 us with Simple, not 4.
TEST(NcclSourceChoices, PowerProcessorsChangeATreesHop) {
  NcclHost host = dgx_a100();
  host.links = NcclHost::Links::kPcie;
  const Asked tree{.host = host, .algorithm = NcclAlgorithm::kTree};
  const double amd = cost("2.30", tree).latency_us;
  Asked power = tree;
  power.host.processor = Processor::kPower;
  EXPECT_NEAR(cost("2.30", power).latency_us - amd, 2 * 7 * (5.7 - 4.0), 1e-9);
}

// Hosts with Intel's and AMD's processors have AMD's limits of LL since 2.25, and 1 us for each post to the network;
// before, those of the weakest host, here the first. Two hosts: 22.5 GB/s on AMD, 39 on Intel.
TEST(NcclSourceChoices, HostsOfSeveralCpuVendorsHaveAmdsLimits) {
  NcclHost host = dgx_h100();
  host.others = {switched_host({.processor = Processor::kAmd})};
  GroupLayout layout = make_block_layout(16, 8);
  layout.nic_set = {0, kNicSetsOfKind};
  const auto ring = [&](const std::string& version, Protocol protocol) {
    const NcclSetup setup = setup_of(host, version);
    const NcclCostModel model(setup.tables, setup.host, setup.knobs, layout);
    for (const NcclCost& row : model.costs({.kind = kAllReduce, .bytes = 1_MiB, .layout = &layout})) {
      if (row.algorithm == NcclAlgorithm::kRing && row.protocol == protocol) return row;
    }
    return NcclCost{};
  };
  EXPECT_NEAR(ring("2.25", Protocol::kLl).bandwidth_gb, 22.5 * 16 / 30, 1e-9);
  EXPECT_NEAR(ring("2.24", Protocol::kLl).bandwidth_gb, 39.0 * 16 / 30, 1e-9);
  EXPECT_NEAR(ring("2.25", Protocol::kSimple).latency_us, ring("2.24", Protocol::kSimple).latency_us, 1e-9);
}

// PAT has no threads of its own, so that no size reduces its channels: 32 KiB of traffic for each remain.
TEST(NcclSourceChoices, PatIsDividedByTrafficAlone) {
  const Asked pat{.host = dgx_h100(),
                  .ranks = 8,
                  .per_host = 1,
                  .kind = kAllGather,
                  .bytes = 64_KiB,
                  .algorithm = NcclAlgorithm::kPat};
  EXPECT_EQ(work("2.30", pat).channels, 2);
}

// Eight H100 have 32 channels of sends, all for one peer: from 2.22 to 2.28 LL is used up to 16 KiB for each of them,
// before and since then for each that a message takes.
TEST(NcclSourceChoices, SmallSendsUseLlByVersion) {
  const auto exchange = [](const std::string& version, Bytes of_peer, int ranks = 8) {
    return plan(setup_of(dgx_h100(), version), CollectiveKind::kAllToAll, of_peer * ranks, ranks);
  };
  EXPECT_EQ(exchange("2.21", 32_KiB).protocol, Protocol::kSimple);
  EXPECT_EQ(exchange("2.22", 512_KiB).protocol, Protocol::kLl);
  EXPECT_EQ(exchange("2.28", 513_KiB).protocol, Protocol::kSimple);
  EXPECT_EQ(exchange("2.29", 32_KiB).protocol, Protocol::kSimple);
  EXPECT_EQ(exchange("2.29", 16_KiB).protocol, Protocol::kLl);
  // LL's slots have 64 KiB: a channel joins for each 8 KiB, up to 4 for each of eight peers.
  EXPECT_EQ(exchange("2.28", 16_KiB).message_channels, 2);
  EXPECT_EQ(exchange("2.28", 64_KiB).message_channels, 4);
  EXPECT_EQ(exchange("2.30", 64_KiB).message_channels, 1);
  // Two hosts, 16 channels: one for each of 16 peers, doubled while a part has more than 128 KiB. A NIC of 50 GB/s
  // allows four since 2.30, before two.
  EXPECT_EQ(exchange("2.30", 128_KiB, 16).message_channels, 1);
  EXPECT_EQ(exchange("2.30", 256_KiB, 16).message_channels, 2);
  EXPECT_EQ(exchange("2.30", 1_MiB, 16).message_channels, 4);
  EXPECT_EQ(exchange("2.28", 1_MiB, 16).message_channels, 2);
}

// RCCL gives a peer four channels for each lane of MI300 and MI350, so that its 32 channels are for all eight members,
// however large a message is: with eight, half of the lanes would wait.
TEST(NcclSourceChoices, PeersOnXgmiHaveFourChannelsForEachLane) {
  constexpr int kGpus = 8;
  NcclHost host{.gpus = kGpus,
                .compute_capability = 90,
                .links = NcclHost::Links::kMesh,
                .pcie = Bandwidth(63e9),
                .gpu_slot = Bandwidth(63e9),
                .sockets = 2,
                .nics = kGpus,
                .nic = Bandwidth(50e9),
                .processor = Processor::kAmd};
  host.gpu_at = {0, 0, 0, 0, 1, 1, 1, 1};
  host.nic_at = host.gpu_at;
  for (int a = 0; a < kGpus; ++a) {
    for (int b = a + 1; b < kGpus; ++b) host.lanes.push_back({.a = a, .b = b, .bandwidth = Bandwidth(76.8e9)});
  }
  for (const Bytes of_peer : {8_MiB, 64_MiB, 256_MiB, 2_GiB}) {
    const CollectivePlan chosen = plan(setup_of(host, "rccl"), CollectiveKind::kAllToAll, of_peer * kGpus, kGpus);
    EXPECT_EQ(chosen.message_channels, 4) << of_peer.count();
  }
}

}  // namespace
}  // namespace ringwright::collectives::source_choices_test
