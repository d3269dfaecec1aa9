// Each version's formula against values worked out by hand from the numbers that its source publishes.
#include <tuple>

#include <gtest/gtest.h>

#include "collectives/nccl/cost/cost.h"
#include "collectives/nccl/cost/selector.h"
#include "collectives/nccl/cost/work.h"
#include "tests/collectives/nccl/asked_call.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::versions_test {
namespace {

using namespace ringwright::literals;

constexpr auto kAllReduce = CollectiveKind::kAllReduce;
constexpr auto kAllGather = CollectiveKind::kAllGather;
constexpr auto kRing = NcclAlgorithm::kRing;
constexpr auto kTree = NcclAlgorithm::kTree;
constexpr auto kNvls = NcclAlgorithm::kNvls;

// 12 lanes of 21 GB/s hold 6 rings of 42, doubled: 252 GB/s, but NCCL limits A100 to 235. LL128 is limited by
// collective: 16.9 GB/s per channel for an all-reduce, 12 for a reduce.
TEST(NcclVersions, V28LimitsLl128ByWhatTheCallDoes) {
  EXPECT_NEAR(cost("2.8", {.host = dgx_a100()}).bandwidth_gb, 235.0 * 8 / 14, 1e-9);
  const Asked reduce{.host = dgx_a100(), .kind = CollectiveKind::kReduce, .protocol = Protocol::kLl128};
  EXPECT_NEAR(cost("2.8", {.host = dgx_a100(), .protocol = Protocol::kLl128}).bandwidth_gb, 12 * 16.9 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.8", reduce).bandwidth_gb, 12 * 12.0, 1e-9);
  EXPECT_NEAR(cost("2.9", reduce).bandwidth_gb, 0.92 * 235.0, 1e-9);
}

// Two hosts of four V100: hops of LL inside them 1.8 x 0.47 us, two of fourteen between them.
TEST(NcclVersions, V28ChargesLlMoreInsideHostsWhereThereAreSeveral) {
  const NcclHost host = mesh_of_four({.compute_capability = 70,
                                      .lanes = 2,
                                      .pcie_gb = 15.75,
                                      .slot_gb = 15.75,
                                      .sockets = 2,
                                      .processor = Processor::kIntel});
  const Asked two_hosts{.host = host, .per_host = 4, .protocol = Protocol::kLl};
  EXPECT_NEAR(cost("2.8", two_hosts).latency_us, 3.6 + 12 * 0.47 * 1.8 + 2 * 2.7, 1e-9);
  Asked tree = two_hosts;
  tree.algorithm = kTree;
  EXPECT_NEAR(cost("2.8", tree).latency_us, 4.4 + 2 * (3 * 0.52 * 1.8 + 5.0), 1e-9);
  // 2.12 counts four steps between two hosts, and 2.18 no steps shorter than a post of 1 us.
  EXPECT_NEAR(cost("2.9", two_hosts).latency_us, 3.6 + 12 * 0.47 * 1.8 + 2 * 2.7, 1e-9);
  EXPECT_NEAR(cost("2.12", two_hosts).latency_us, 3.6 + 10 * 0.47 * 1.8 + 4 * 2.7, 1e-9);
  EXPECT_NEAR(cost("2.15", two_hosts).latency_us, 3.6 + 10 * 0.47 * 1.8 + 4 * 2.7, 1e-9);
  EXPECT_NEAR(cost("2.18", two_hosts).latency_us, 6.6 + 10 * 1.0 + 4 * 2.7, 1e-9);
}

// From 64 KiB * 16 ranks / 16 on, latency counts 1.9 times on A100, 1.5 times on H100.
TEST(NcclVersions, V217PutsRingsOnAPlateauByRanks) {
  const auto extra = [](NcclHost host, Bytes bytes) {
    const NcclCost row = cost("2.17", {.host = std::move(host), .ranks = 16, .bytes = bytes});
    return (row.time_us - static_cast<double>(bytes.count()) / (1000 * row.bandwidth_gb)) / row.latency_us;
  };
  EXPECT_NEAR(extra(dgx_a100(), 64_KiB), 1.9, 1e-9);
  EXPECT_NEAR(extra(dgx_a100(), 32_KiB), 1.0, 1e-9);
  EXPECT_NEAR(extra(dgx_h100(), 64_KiB), 1.5, 1e-9);
}

// 2.17: 40 us and three quarters of the rings' 370 GB/s. 2.18: 23 us for all of the switch, trees 19 us for each other
// host and back. 2.20: hops of 23 us, 2.22: of 25.
TEST(NcclVersions, InSwitchReductionHasChangedWithEachVersion) {
  const Asked one_host{.host = dgx_h100(), .algorithm = kNvls};
  EXPECT_EQ(cost("2.15", one_host).why_not, "not in this version");
  EXPECT_NEAR(cost("2.17", one_host).latency_us, 40.0, 1e-9);
  EXPECT_NEAR(cost("2.17", one_host).bandwidth_gb, 0.75 * 370.0, 1e-9);
  EXPECT_NEAR(cost("2.18", one_host).latency_us, 23.0, 1e-9);
  EXPECT_NEAR(cost("2.18", one_host).bandwidth_gb, 8 * 40.0 * 5 / 6, 1e-6);
  EXPECT_NEAR(cost("2.20", one_host).latency_us, 23.0, 1e-9);
  EXPECT_NEAR(cost("2.22", one_host).latency_us, 25.0, 1e-9);
  const Asked four_hosts{.host = dgx_h100(), .ranks = 32, .algorithm = NcclAlgorithm::kNvlsTree};
  EXPECT_NEAR(cost("2.18", four_hosts).latency_us, 23.0 + 2 * 3 * 19.0, 1e-9);
  EXPECT_NEAR(cost("2.20", four_hosts).latency_us, 23.0 + 2 * 2 * 14.0, 1e-9);
  EXPECT_EQ(cost("2.17", four_hosts).why_not, "not in this version");
}

// Eight heads of 40 GB/s: 5/6 of it up to 2.22, all up to 2.26, then the seven eighths from other GPUs.
TEST(NcclVersions, InSwitchGathersHaveChangedThreeTimes) {
  const Asked gather{.host = dgx_h100(), .kind = kAllGather, .algorithm = kNvls};
  EXPECT_EQ(cost("2.18", gather).why_not, "not in this version");
  EXPECT_NEAR(cost("2.22", gather).bandwidth_gb, 320.0 * 5 / 6, 1e-6);
  EXPECT_NEAR(cost("2.25", gather).bandwidth_gb, 320.0, 1e-9);
  EXPECT_NEAR(cost("2.27", gather).bandwidth_gb, 320.0 * 7 / 8, 1e-9);
}

// LL of Hopper: a quarter of 360 GB/s, at most 87.7; from 2.21 on half, at most 141.
TEST(NcclVersions, V221GivesLlHalfOfARing) {
  const Asked ring{.host = dgx_h100(), .protocol = Protocol::kLl};
  EXPECT_NEAR(cost("2.20", ring).bandwidth_gb, 87.7 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.21", ring).bandwidth_gb, 141.0 * 8 / 14, 1e-9);
}

// A chain of seven hops up and down: 4 us each in 2.18, 28 from 2.20 to 2.22 and before 2.18, then 4 again with a base.
TEST(NcclVersions, TreesWithSimpleStartSlowlyInSomeVersions) {
  const Asked tree{.host = dgx_h100(), .algorithm = kTree};
  EXPECT_NEAR(cost("2.17", tree).latency_us, 14 * 28.0, 1e-9);
  EXPECT_NEAR(cost("2.18", tree).latency_us, 14 * 4.0, 1e-9);
  EXPECT_NEAR(cost("2.22", tree).latency_us, 14 * 28.0, 1e-9);
  EXPECT_NEAR(cost("2.23", tree).latency_us, 8.4 + 14 * 4.0, 1e-9);
}

// Four hosts of one H100: 2 channels of 24 GB/s.
TEST(NcclVersions, PatIsBelievedToReachLessAfterItsFirstVersion) {
  const Asked pat{.host = dgx_h100(), .ranks = 4, .per_host = 1, .kind = kAllGather, .algorithm = NcclAlgorithm::kPat};
  EXPECT_EQ(cost("2.22", pat).why_not, "not in this version");
  EXPECT_NEAR(cost("2.23", pat).bandwidth_gb, 48.0 * 0.85, 1e-9);
  EXPECT_NEAR(cost("2.24", pat).bandwidth_gb, 48.0 * 0.75, 1e-9);
}

// 16 rings of 45 GB/s carry 662 with LL128, less than 16 x 73.4 and more than 16 x 40.
TEST(NcclVersions, BlackwellIsKnownFromV225On) {
  const Asked ring{.host = dgx_b200(), .protocol = Protocol::kLl128};
  EXPECT_FALSE(cost("2.24", ring).why_not.empty());
  EXPECT_NEAR(cost("2.25", ring).bandwidth_gb, 0.92 * 720.0 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.30", ring).bandwidth_gb, 16 * 40.0 * 8 / 14, 1e-9);
}

// 256 KiB of Simple feed 8 channels of 512 threads with 64 bytes each. Of their 512 KiB of traffic 32 KiB are enough.
TEST(NcclVersions, V223WantsTrafficForEachChannel) {
  Asked few{.host = dgx_h100(), .bytes = 256_KiB};
  EXPECT_EQ(work("2.21", few).channels, 8);
  EXPECT_EQ(work("2.22", few).channels, 8);
  // LL's 64 KiB starve more than 2 channels of 512 threads with 8 bytes for each of 8 ranks in all versions.
  few.protocol = Protocol::kLl;
  few.bytes = 64_KiB;
  EXPECT_EQ(work("2.8", few).channels, 2);
  EXPECT_EQ(work("2.27", few).channels, 2);
  // In-switch reduction gets its 16 channels, or those with 16 KiB of traffic each, since 2.29 32: of 64 KiB 8, then 4.
  few.algorithm = kNvls;
  few.protocol = Protocol::kSimple;
  EXPECT_EQ(work("2.21", few).channels, 16);
  EXPECT_EQ(work("2.22", few).channels, 16);
  EXPECT_EQ(work("2.23", few).channels, 8);
  EXPECT_EQ(work("2.29", few).channels, 4);
}

// 16 hosts of four: seven levels. 64 MiB on 4 channels: 32 loops of 512 KiB are fewer than 8 x 7, 64 of 256 KiB are
// not. 8 MiB: 16 of 128 KiB, and still fewer than 28: 32 of 64 KiB.
TEST(NcclVersions, OldTreesCutSmallBuffersFiner) {
  const GroupLayout layout = make_block_layout(64, 4);
  const auto chunk = [&](Bytes bytes, Bytes slot = {}) {
    return tree_chunk_by_depth({.kind = kAllReduce, .bytes = bytes, .layout = &layout}, 4, slot);
  };
  EXPECT_EQ(chunk(1_GiB), 512_KiB);
  EXPECT_EQ(chunk(64_MiB), 256_KiB);
  EXPECT_EQ(chunk(8_MiB), 64_KiB);
  EXPECT_EQ(chunk(512_KiB), 32_KiB);
  // NCCL_BUFFSIZE of 8 MiB: slots of 1 MiB, halved as the others are.
  EXPECT_EQ(chunk(8_GiB, 1_MiB), 1_MiB);
  EXPECT_EQ(chunk(64_MiB, 1_MiB), 256_KiB);
  NcclSetup setup = setup_of(polaris(), "2.17");
  setup.knobs.buffer[index_of(Protocol::kSimple)] = 8_MiB;
  const CollectiveCall call{.kind = kAllReduce, .bytes = 1_MiB, .layout = &layout};
  setup.knobs.protocols[index_of(kAllReduce)].fill(Allowed::kNo);
  setup.knobs.protocols[index_of(kAllReduce)][index_of(Protocol::kSimple)] = Allowed::kYes;
  EXPECT_LE(NcclSelector(setup).plan_with(call, kTree).chunk, 64_KiB);
  EXPECT_TRUE(shipped_tables("2.17").tree.chunks_by_depth);
  EXPECT_FALSE(shipped_tables("2.20").tree.chunks_by_depth);
}

// 640 threads with 60 bytes each are 38,400: chains use that, rings half of it, trees an eighth. With Simple 512
// threads move 8 bytes each, in trees 64.
TEST(NcclVersions, OldChunksAreMultiplesOfWhatThreadsTakeAtOnce) {
  const auto grain = [](NcclAlgorithm algorithm, Protocol protocol, int threads, CollectiveKind kind = kAllReduce) {
    return chunk_grain(kind, {.algorithm = algorithm, .protocol = protocol}, threads).count();
  };
  EXPECT_EQ(grain(NcclAlgorithm::kRing, Protocol::kLl128, 640), 19'200);
  EXPECT_EQ(grain(NcclAlgorithm::kRing, Protocol::kLl128, 640, CollectiveKind::kBroadcast), 38'400);
  EXPECT_EQ(grain(NcclAlgorithm::kTree, Protocol::kLl128, 640), 4'800);
  EXPECT_EQ(grain(NcclAlgorithm::kRing, Protocol::kSimple, 512 + 32), 4'096);
  EXPECT_EQ(grain(NcclAlgorithm::kTree, Protocol::kSimple, 512 + 64), 32'768);
  EXPECT_EQ(grain(NcclAlgorithm::kRing, Protocol::kLl, 512), 0);
  EXPECT_EQ(grain(NcclAlgorithm::kNvls, Protocol::kSimple, 640), 0);
  EXPECT_TRUE(shipped_tables("2.8").channels.chunks_by_threads);
  EXPECT_TRUE(shipped_tables("2.18").channels.chunks_by_threads);
  EXPECT_FALSE(shipped_tables("2.19").channels.chunks_by_threads);
  EXPECT_FALSE(shipped_tables("rccl").channels.chunks_by_threads);
}

// NCCL_P2P_LL_THRESHOLD came with 2.14. Parts of a message: a slot of 512 KiB before, then 64 KiB on one host; between
// hosts a message of more than 128 KiB takes a second channel. A trace of NCCL 2.10 has 8 channels for parts
// of 0.5 MB among eight A100, and 24 for 7.5 MB.
TEST(NcclVersions, SmallSendsTakeOneChannelAndSince214Ll) {
  const auto exchange = [](const std::string& version, Bytes bytes, int ranks = 8) {
    const NcclSetup setup = setup_of(dgx_a100(), version);
    const GroupLayout layout = make_block_layout(ranks, 8);
    return NcclSelector(setup).plan({.kind = CollectiveKind::kAllToAll, .bytes = bytes, .layout = &layout});
  };
  EXPECT_EQ(exchange("2.9", 4_KiB).protocol, Protocol::kSimple);
  EXPECT_EQ(exchange("2.14", 4_KiB).protocol, Protocol::kLl);
  EXPECT_EQ(exchange("2.9", 4_KiB).channels, 8);
  EXPECT_EQ(exchange("2.30", 4_KiB).channels, 8);
  EXPECT_EQ(exchange("2.9", 4_MiB).message_channels, 1);
  EXPECT_EQ(exchange("2.14", 4_MiB).message_channels, 4);
  EXPECT_EQ(exchange("2.14", 1_MiB).message_channels, 2);
  EXPECT_EQ(exchange("2.9", 64_MiB).message_channels, 4);
  EXPECT_EQ(exchange("2.30", 2_MiB, 16).message_channels, 1);
  EXPECT_EQ(exchange("2.30", 4_MiB, 16).message_channels, 2);
}

// src/graph/tuning.cc of 2.14.3: compCap80 is 8.0 alone, other GPUs have Volta's limits and none of all
// channels; 2.15.1 also knows 9.0. 12 lanes of 22 GB/s are 264, 18 of them 396.
TEST(NcclVersions, BeforeV217OnlyA100AndH100HaveLimitsOfTheirOwn) {
  NcclHost a10 = dgx_a100();
  a10.compute_capability = 86;
  EXPECT_NEAR(cost("2.14", {.host = dgx_a100()}).bandwidth_gb, 235.0 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.14", {.host = a10}).bandwidth_gb, 264.0 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.16", {.host = a10}).bandwidth_gb, 264.0 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.17", {.host = a10}).bandwidth_gb, 235.0 * 8 / 14, 1e-9);
  const Asked ll{.host = dgx_h100(), .protocol = Protocol::kLl};
  EXPECT_NEAR(cost("2.14", ll).bandwidth_gb, 39.0 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost("2.15", ll).bandwidth_gb, 87.7 * 8 / 14, 1e-9);
}

// src/graph/search.cc, topo.h and connect.cc. 18 lanes of 22 GB/s: 8 rings of 44, doubled to the 16 that it looks for
// (2.14.3); 6 of 66, doubled (2.17.1). 18 of 20 GB/s: 6 of 60, doubled (2.18.3).
TEST(NcclVersions, TheSearchHasChangedWithHopper) {
  const auto ring = [](const NcclHost& host, const std::string& version, int ranks = 8) {
    const GroupLayout layout = make_block_layout(ranks, host.gpus);
    const NcclGraphs graphs = NcclSelector(setup_of(host, version)).graphs(layout);
    return std::tuple(graphs.ring.channels, graphs.ring.inside_gb, graphs.compute_channels);
  };
  EXPECT_EQ(ring(dgx_h100(), "2.14"), std::tuple(16, 22.0, 32));
  EXPECT_EQ(ring(dgx_h100(), "2.17"), std::tuple(12, 33.0, 24));
  EXPECT_EQ(ring(dgx_h100(), "2.18"), std::tuple(12, 30.0, 24));
  // H800, 8 lanes of 20 GB/s: a log of 2.18 has 16 channels (github.com/NVIDIA/nccl/issues/892).
  EXPECT_EQ(ring(switched_host({.nvlink_gb = 200.0}), "2.18"), std::tuple(8, 20.0, 16));
  // Eight NICs of 48 GB/s. Rings that return to their NIC cross NVLink eight times: 8 x 45 GB/s. Those that leave by
  // another NIC have 48, which 2.18 and 2.19 take for 15 % more only.
  EXPECT_EQ(ring(dgx_h100(), "2.17", 16), std::tuple(8, 48.0, 16));
  EXPECT_EQ(ring(dgx_h100(), "2.18", 16), std::tuple(8, 45.0, 16));
  EXPECT_EQ(ring(dgx_h100(), "2.19", 16), std::tuple(8, 45.0, 16));
  EXPECT_EQ(ring(dgx_h100(), "2.20", 16), std::tuple(8, 48.0, 16));
  // Six of 48 GB/s: four compute channels for each since 2.18.
  const NcclHost six = switched_host({.nics = 6, .switches = 6, .gpus = 6});
  EXPECT_EQ(ring(six, "2.17", 12), std::tuple(6, 48.0, 12));
  EXPECT_EQ(ring(six, "2.18", 12), std::tuple(6, 48.0, 24));
}

// Eight A100 with 32 channels and 24 for each peer: 8 x 32 are more than 4 x 32, so that a peer has 16
// (scheduleP2pTasksToPlan of src/enqueue.cc, 2.14.3 and 2.17.1). From 2.19 on 32.
TEST(NcclVersions, OldSendsLeaveChannelsToOtherPeers) {
  const auto channels = [](const std::string& version) {
    const NcclSetup setup = setup_of(dgx_a100(), version);
    const GroupLayout layout = make_block_layout(8, 8);
    return NcclSelector(setup).plan_message({.bytes = 1_GiB, .layout = &layout, .from = 0, .to = 1}).channels;
  };
  EXPECT_EQ(channels("2.9"), 16);
  EXPECT_EQ(channels("2.17"), 16);
  EXPECT_EQ(channels("2.19"), 32);
}

// A quarter of a slot of 512 KiB on every path (SENDRECV_SLICEFACTOR of 2.10.3); then a slot on one host, and from 2.17
// on 128 KiB over PCIe. Between hosts 128 KiB, halved for messages of less than eight of them, and again for less than
// one.
TEST(NcclVersions, ChunksOfSendsHaveChanged) {
  const auto chunk = [](NcclSetup setup, int per_host, Bytes bytes) {
    const GroupLayout layout = make_block_layout(8, per_host);
    return NcclSelector(setup).plan_message({.bytes = bytes, .layout = &layout, .from = 0, .to = 7}).chunk;
  };
  EXPECT_EQ(chunk(setup_of(dgx_a100(), "2.9"), 8, 1_GiB), 128_KiB);
  EXPECT_EQ(chunk(setup_of(dgx_a100(), "2.14"), 8, 1_GiB), 512_KiB);
  NcclHost pcie = dgx_a100();
  pcie.links = NcclHost::Links::kPcie;
  EXPECT_EQ(chunk(setup_of(pcie, "2.9"), 8, 1_GiB), 128_KiB);
  EXPECT_EQ(chunk(setup_of(pcie, "2.14"), 8, 1_GiB), 512_KiB);
  EXPECT_EQ(chunk(setup_of(pcie, "2.17"), 8, 1_GiB), 128_KiB);
  NcclSetup given = setup_of(pcie, "2.14");
  given.knobs.p2p_pcie_chunk = 64_KiB;
  EXPECT_EQ(chunk(given, 8, 1_GiB), 64_KiB);
  EXPECT_EQ(chunk(setup_of(dgx_a100()), 4, 1_MiB), 128_KiB);
  EXPECT_EQ(chunk(setup_of(dgx_a100()), 4, 1_MiB - 4_KiB), 64_KiB);
  EXPECT_EQ(chunk(setup_of(dgx_a100()), 4, 64_KiB), 32_KiB);
  EXPECT_EQ(chunk(setup_of(dgx_a100()), 8, 64_KiB), 512_KiB);
}

// computeColl of src/enqueue.cc, 2.19.3: 512 KiB, below 32 x 16 channels x 8 heads of them (2 GiB) 256 KiB, below 16 of
// those 128, below 4 of those 64 (64 MiB) and below one 32; from four hosts on 64 KiB.
TEST(NcclVersions, NvlsTreesOnceHadLargeChunks) {
  const auto chunk = [](const std::string& version, int ranks, Bytes bytes) {
    const NcclSetup setup = setup_of(dgx_h100(), version);
    const GroupLayout layout = make_block_layout(ranks, 8);
    const CollectiveCall call{.kind = kAllReduce, .bytes = bytes, .layout = &layout};
    return NcclSelector(setup).plan_with(call, NcclAlgorithm::kNvlsTree).chunk;
  };
  EXPECT_EQ(chunk("2.21", 16, 2_GiB), 512_KiB);
  EXPECT_EQ(chunk("2.21", 16, 1_GiB), 256_KiB);
  EXPECT_EQ(chunk("2.21", 16, 256_MiB), 128_KiB);
  EXPECT_EQ(chunk("2.21", 16, 60_MiB), 64_KiB);
  EXPECT_EQ(chunk("2.21", 16, 4_MiB), 32_KiB);
  EXPECT_EQ(chunk("2.21", 32, 2_GiB), 64_KiB);
  EXPECT_EQ(chunk("2.22", 16, 2_GiB), Bytes(0));  // as channels cut the buffer: 128 KiB
}

// RCCL's factors: a ring over hosts counts a tenth at 128 MiB and all from 256 MiB on; on one host all.
TEST(NcclVersions, RcclSwitchesRingsOnBySize) {
  const auto slope = [](int ranks, Bytes bytes) {
    const NcclCost row = cost("rccl", {.host = dgx_a100(), .ranks = ranks, .bytes = bytes});
    return static_cast<double>(bytes.count()) / (row.time_us - row.latency_us) / 1000.0 / row.bandwidth_gb;
  };
  EXPECT_NEAR(slope(8, 128_MiB), 1.0, 1e-9);
  EXPECT_NEAR(slope(16, 128_MiB), 0.1, 1e-9);
  EXPECT_NEAR(slope(16, 256_MiB), 1.0, 1e-9);
}

// LL up to 1 MiB, LL128 up to 9 MiB and 3 more with each doubling of hosts: 12 on two of them.
TEST(NcclVersions, RcclTakesProtocolsBySizeOverHosts) {
  const auto usable = [](int ranks, Bytes bytes, Protocol protocol) {
    const Asked tree{.host = dgx_a100(), .ranks = ranks, .bytes = bytes, .algorithm = kTree, .protocol = protocol};
    return cost("rccl", tree).why_not.empty();
  };
  EXPECT_TRUE(usable(16, 1_MiB, Protocol::kLl));
  EXPECT_FALSE(usable(16, 2_MiB, Protocol::kLl));
  EXPECT_TRUE(usable(16, 12_MiB, Protocol::kLl128));
  EXPECT_FALSE(usable(16, 13_MiB, Protocol::kLl128));
  EXPECT_TRUE(usable(32, 13_MiB, Protocol::kLl128));
  EXPECT_TRUE(usable(8, 2_MiB, Protocol::kLl));
}

// Eight on one host: LL by 32 thread blocks from 1 KiB on, by 64 from 80 KiB, Simple from 1 MiB up to 20 MiB; then
// rings.
TEST(NcclVersions, RcclUsesAllPairsInTheMiddle) {
  const GroupLayout layout = make_block_layout(8, 8);
  NcclSetup setup = setup_of(dgx_a100(), "rccl");
  const auto plan = [&](Bytes bytes) {
    return NcclSelector(setup).plan({.kind = kAllReduce, .bytes = bytes, .layout = &layout});
  };
  EXPECT_NE(plan(512_B).algorithm, "all_pairs");
  EXPECT_EQ(plan(1_KiB).algorithm, "all_pairs");
  EXPECT_EQ(plan(64_KiB).channels, 32);
  EXPECT_EQ(plan(512_KiB).channels, 64);
  EXPECT_EQ(plan(512_KiB).protocol, Protocol::kLl);
  EXPECT_EQ(plan(1_MiB).protocol, Protocol::kSimple);
  EXPECT_EQ(plan(32_MiB).algorithm, "ring");
  setup.knobs.algorithms[index_of(kAllReduce)][index_of(kTree)] = false;  // set by the user
  EXPECT_NE(plan(64_KiB).algorithm, "all_pairs");
}

}  // namespace
}  // namespace ringwright::collectives::versions_test
