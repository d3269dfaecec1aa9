#include "validation/nccl/measured_machine.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::measured_machine_test {
namespace {

using namespace literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

struct Words {
  std::string gpu;
  int nodes = 1;
  int gpus_per_node = 8;
  std::string nic = "none (intra-node)";
  std::string intra = "";
  std::string gbps = "";
};

[[nodiscard]] traces::CollectiveLog log_of(const Words& words) {
  traces::CollectiveLog log;
  log.file = "x.csv";
  log.gpu = words.gpu;
  log.nodes = words.nodes;
  log.gpus_per_node = words.gpus_per_node;
  log.ranks = words.nodes * words.gpus_per_node;
  log.facts = {{"nic", words.nic}, {"intra_fabric", words.intra}, {"network_gbps_per_node", words.gbps}};
  return log;
}

[[nodiscard]] MeasuredMachine machine(const Words& words) {
  const auto found = machine_of(log_of(words), UseProfile::kNo);
  EXPECT_TRUE(found.has_value());
  return found ? *found : MeasuredMachine{};
}

TEST(MeasuredMachine, AGpuLeadsToItsNode) {
  EXPECT_EQ(machine({.gpu = "NVIDIA H100 80GB HBM3"}).node, "dgx-h100");
  EXPECT_EQ(machine({.gpu = "NVIDIA GH200 (H100 96GB) x4 per node", .gpus_per_node = 4}).node, "gh200-x4");
  EXPECT_EQ(machine({.gpu = "Tesla V100-SXM2-16GB", .gpus_per_node = 4}).node, "v100-x4");
  EXPECT_EQ(machine({.gpu = "Tesla V100-SXM2-16GB", .gpus_per_node = 8}).node, "dgx1-v100");
  EXPECT_EQ(machine({.gpu = "AMD Instinct MI300X"}).node, "mi300x-8gpu");
}

// Cards have no NVLink, or bridges between pairs: they are not on the boards of DGX.
TEST(MeasuredMachine, CardsInSlotsAreOnNoBoard) {
  for (const char* name : {"NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB"}) {
    EXPECT_EQ(machine({.gpu = name, .gpus_per_node = 4}).node, "a100-pcie") << name;
  }
  EXPECT_EQ(machine({.gpu = "NVIDIA L40S", .gpus_per_node = 4}).node, "l40s-pcie");
  EXPECT_EQ(machine({.gpu = "NVIDIA H100 PCIe", .gpus_per_node = 4}).node, "h100-pcie");
  EXPECT_EQ(machine({.gpu = "NVIDIA H100 NVL"}).node, "h100-nvl");
  EXPECT_EQ(machine({.gpu = "NVIDIA H200 NVL", .gpus_per_node = 4}).node, "h200-nvl");
  EXPECT_EQ(machine({.gpu = "NVIDIA A10", .gpus_per_node = 4}).node, "a10-pcie");
  for (const char* name : {"Tesla V100-PCIE-32GB", "NVIDIA A10G", "NVIDIA A16"}) {
    EXPECT_FALSE(machine_of(log_of({.gpu = name, .gpus_per_node = 4}), UseProfile::kNo).has_value()) << name;
  }
}

// Bridges join neighbours: 12 lanes between two H100, 18 of an H200 shared by the others at its bridge.
TEST(MeasuredMachine, CardsHaveBridgesOverAllThatTheLogCounts) {
  const MeasuredMachine six = machine({.gpu = "NVIDIA H100 NVL", .gpus_per_node = 6});
  EXPECT_THAT(six.overrides, IsSupersetOf({"cluster.node.gpus=6",
                                           "cluster.node.nvlink.mesh=[\"0-1:12\", \"2-3:12\", \"4-5:12\"]"}));
  EXPECT_THAT(six.notes, Contains(HasSubstr("assumed to be joined by an NVLink bridge")));
  EXPECT_THAT(machine({.gpu = "NVIDIA H200 NVL", .gpus_per_node = 2}).overrides,
              Contains("cluster.node.nvlink.mesh=[\"0-1:18\"]"));
  EXPECT_THAT(machine({.gpu = "NVIDIA H200 NVL", .gpus_per_node = 3}).overrides,
              Contains("cluster.node.nvlink.mesh=[\"0-1:9\", \"0-2:9\", \"1-2:9\"]"));
  for (const Words& words : {Words{.gpu = "NVIDIA H100 PCIe", .gpus_per_node = 4, .intra = "no NVLink"},
                             Words{.gpu = "NVIDIA H100 PCIe", .nodes = 2, .gpus_per_node = 1}}) {
    EXPECT_THAT(machine(words).overrides, Contains("cluster.node.nvlink.kind=none"));
    EXPECT_THAT(machine(words).notes, Not(Contains(HasSubstr("bridge"))));
  }
}

TEST(MeasuredMachine, ALogWithoutAGpuIsRefused) {
  EXPECT_THAT(render(machine_of(log_of({.gpu = ""}), UseProfile::kNo).error()), HasSubstr("does not name its GPU"));
}

TEST(MeasuredMachine, ABoardOfFourThatNothingStatesIsNoted) {
  EXPECT_THAT(machine({.gpu = "NVIDIA H100", .gpus_per_node = 4}).notes, Contains(HasSubstr("--node dgx-h100")));
  EXPECT_THAT(machine({.gpu = "NVIDIA H100", .gpus_per_node = 4, .intra = "no NVSwitch"}).notes,
              Not(Contains(HasSubstr("--node"))));
  EXPECT_THAT(machine({.gpu = "NVIDIA GH200", .gpus_per_node = 4}).notes, Not(Contains(HasSubstr("--node"))));
}

TEST(MeasuredMachine, HostsOfUnequalNumbersOfRanksOrKindsAreRefused) {
  traces::CollectiveLog uneven = log_of({.gpu = "H100", .nodes = 2});
  uneven.ranks = 15;
  EXPECT_THAT(render(machine_of(uneven, UseProfile::kNo).error()), HasSubstr("do not spread evenly over 2 hosts"));
  traces::CollectiveLog mixed = log_of({.gpu = "H100", .nodes = 2});
  mixed.facts["other_gpu"] = "A100";
  EXPECT_THAT(render(machine_of(mixed, UseProfile::kNo).error()), HasSubstr("several kinds: 'H100' and 'A100'"));
}

// All that the simulation depends on, not a choice of them.
TEST(MeasuredMachine, EveryModelledVariableOfALogActs) {
  traces::CollectiveLog log = log_of({.gpu = "H100"});
  log.facts["env"] = "NCCL_ALGO=allreduce:tree;broadcast:ring; NCCL_BUFFSIZE=8388608; NCCL_IB_HCA=mlx5_0";
  const auto overrides = machine_of(log, UseProfile::kNo)->overrides;
  EXPECT_THAT(overrides, Contains("comm.env.NCCL_ALGO=\"allreduce:tree;broadcast:ring\""));
  EXPECT_THAT(overrides, Contains("comm.env.NCCL_BUFFSIZE=\"8388608\""));
  EXPECT_THAT(overrides, Not(Contains(HasSubstr("NCCL_IB_HCA"))));
}

TEST(MeasuredMachine, FourA100AreABoardOfFourUnlessThereIsASwitch) {
  EXPECT_EQ(machine({.gpu = "NVIDIA A100-SXM4-40GB", .gpus_per_node = 4}).node, "a100-x4");
  EXPECT_EQ(machine({.gpu = "NVIDIA A100-SXM4-40GB", .gpus_per_node = 4, .intra = "NVLink3 + NVSwitch"}).node,
            "dgx-a100");
}

TEST(MeasuredMachine, VariablesOfALogActWhateverTextPrecedesThem) {
  traces::CollectiveLog log = log_of({.gpu = "H100"});
  log.facts["env"] = "as default but NCCL_CROSS_NIC=1; NCCL_NET=AWS Libfabric";
  const auto overrides = machine_of(log, UseProfile::kNo)->overrides;
  EXPECT_THAT(overrides, Contains("comm.env.NCCL_CROSS_NIC=\"1\""));
  EXPECT_THAT(overrides, Not(Contains(HasSubstr("NCCL_NET"))));
}

TEST(MeasuredMachine, FourH100WithoutASwitchAreABoardOfFour) {
  const std::string board = "NVLink4 all-to-all 4 x H100 SXM 94GB, NVLS not available";
  EXPECT_EQ(machine({.gpu = "NVIDIA H100", .gpus_per_node = 4, .intra = board}).node, "hgx-h100-x4");
  EXPECT_EQ(machine({.gpu = "NVIDIA H100", .gpus_per_node = 4, .intra = "NVLink4 + NVSwitch"}).node, "dgx-h100");
}

// "no NVSwitch" names the switch as well.
TEST(MeasuredMachine, ASwitchThatIsNotThereIsNotTakenForOne) {
  for (const char* text :
       {"NVLink3 all-to-all, no NVSwitch", "6 links per pair, no NVSwitch/NVLS", "without NVSwitch"}) {
    EXPECT_EQ(machine({.gpu = "NVIDIA A100-SXM4-40GB", .gpus_per_node = 4, .intra = text}).node, "a100-x4") << text;
  }
}

// Variables of libfabric's provider for Slingshot change what it does with messages, so they reach the scenario.
TEST(MeasuredMachine, VariablesOfLibfabricAct) {
  traces::CollectiveLog log =
      log_of({.gpu = "GH200", .nodes = 2, .gpus_per_node = 4, .nic = "4 x HPE Slingshot 11 200 Gb/s"});
  log.facts["env"] = "as default but FI_HMEM_CUDA_USE_GDRCOPY=0; FI_CXI_RX_MATCH_MODE=software";
  EXPECT_THAT(machine_of(log, UseProfile::kNo)->overrides,
              IsSupersetOf({"comm.env.FI_HMEM_CUDA_USE_GDRCOPY=\"0\"", "comm.env.FI_CXI_RX_MATCH_MODE=\"software\"",
                            "cluster.node.nic.transport=slingshot"}));
}

[[nodiscard]] std::vector<std::string> assumed(const traces::CollectiveLog& log) {
  const auto found = machine_of(log, UseProfile::kNo);
  EXPECT_TRUE(found.has_value());
  return found ? found->assumed : std::vector<std::string>();
}

// Logs of one host with A100 without a version are of the years when channels were slow. With a profile, nothing is
// assumed.
TEST(MeasuredMachine, AHostWithA100WithoutAVersionHasAnOldLibrary) {
  EXPECT_THAT(assumed(log_of({.gpu = "A100"})), Contains("comm.costs.launch_channel=1.9us"));
  EXPECT_THAT(assumed(log_of({.gpu = "A100", .nodes = 2})), IsEmpty());
  EXPECT_THAT(assumed(log_of({.gpu = "H100"})), IsEmpty());
  traces::CollectiveLog log = log_of({.gpu = "A100"});
  log.version_of_library = "2.23.4";
  EXPECT_THAT(assumed(log), IsEmpty());
}

// nccl-tests' README: -g 8 on one host, mpirun with one process for each GPU on several.
TEST(MeasuredMachine, OneHostIsAssumedToBeDrivenByOneThreadUnlessTheLogStatesIt) {
  const MeasuredMachine one = machine({.gpu = "H100"});
  EXPECT_EQ(one.gpus_per_process, 8);
  EXPECT_THAT(one.notes, Contains(HasSubstr("how many GPUs a thread drives")));
  EXPECT_EQ(machine({.gpu = "H100", .nodes = 2}).gpus_per_process, std::nullopt);
  traces::CollectiveLog log = log_of({.gpu = "H100"});
  log.facts["gpus_per_process"] = "1";
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->gpus_per_process, 1);
}

TEST(MeasuredMachine, ThreadsThatDriveSeveralGpusAreStatedByTheLog) {
  traces::CollectiveLog log = log_of({.gpu = "A100"});
  log.facts["gpus_per_process"] = "4";
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->gpus_per_process, 4);
}

// The script behind SimuMax's logs starts the tests with -g 8.
TEST(MeasuredMachine, ThreadsThatDriveSeveralGpusAreStatedByTheMachine) {
  traces::CollectiveLog log = log_of({.gpu = "H100"});
  log.facts["source"] = "github.com/MooreThreads/SimuMax";
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->gpus_per_process, 8);
  log.facts["gpus_per_process"] = "1";  // a log's own value wins
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->gpus_per_process, 1);
}

// The host of stas00's H200 took 21 us more for a call through PyTorch than the device for the same call behind others.
TEST(MeasuredMachine, CallsThatPyTorchIssuedOneAtATimeIncludeTheHostsTime) {
  traces::CollectiveLog log = log_of({.gpu = "H200"});
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->alone, std::nullopt);
  log.facts["timing"] = "alone PyTorch";
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->alone, 21_us);
  log.facts["timing"] = "";
  log.facts["source"] = "github.com/stas00/ml-engineering";  // the machine states it
  EXPECT_NE(machine_of(log, UseProfile::kNo)->alone, std::nullopt);
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->gpus_per_process, 1);
  log.facts["timing"] = "in a row";  // a log's own value wins
  EXPECT_EQ(machine_of(log, UseProfile::kNo)->alone, std::nullopt);
}

TEST(MeasuredMachine, AnUnknownTimingOfCallsIsRefused) {
  traces::CollectiveLog log = log_of({.gpu = "H200"});
  log.facts["timing"] = "by stopwatch";
  const auto refused = machine_of(log, UseProfile::kNo);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("E243"));
}

TEST(MeasuredMachine, ALogOfAListedMachineTakesItsProfile) {
  traces::CollectiveLog log =
      log_of({.gpu = "NVIDIA GH200", .nodes = 4, .gpus_per_node = 4, .nic = "4 x Slingshot 200 Gb/s"});
  log.facts["source"] = "github.com/boeschf/nccl-benchmark-on-alps-2025";
  log.file = "unseen.csv";
  EXPECT_EQ(machine_of(log, UseProfile::kYes)->profile, "alps-gh200");
  EXPECT_FALSE(machine_of(log, UseProfile::kYes)->fitted_on);
  log.facts["source"] = "example.org";
  EXPECT_EQ(machine_of(log, UseProfile::kYes)->profile, "");
}

TEST(MeasuredMachine, NicsAreThoseOfTheLog) {
  const MeasuredMachine four = machine({.gpu = "A100", .nodes = 3, .nic = "4 x HDR InfiniBand 200 Gb/s"});
  EXPECT_THAT(four.overrides, IsSupersetOf({"cluster.node.nic.count=4", "cluster.node.nic.bandwidth=200Gbps"}));
  EXPECT_EQ(four.network, "infiniband");
  const MeasuredMachine by_host =
      machine({.gpu = "A100", .nodes = 2, .nic = "8 x InfiniBand (SR-IOV)", .gbps = "1600"});
  EXPECT_THAT(by_host.overrides, IsSupersetOf({"cluster.node.nic.count=8", "cluster.node.nic.bandwidth=200Gbps"}));
}

// A3 Mega and A3 High are in one repository, with the same GPU.
TEST(MeasuredMachine, MachinesOfOneSourceAreDistinguishedByTheirNics) {
  traces::CollectiveLog log = log_of({.gpu = "NVIDIA H100", .nodes = 2, .nic = "8 x 200 Gb/s (GPUDirect-TCPXO)"});
  log.facts["source"] = "github.com/GoogleCloudPlatform/cluster-toolkit";
  EXPECT_NE(machine_of(log, UseProfile::kYes)->profile, "gcp-a3-high");
  log.facts["nic"] = "4 x 200 Gb/s (GPUDirect-TCPX)";
  EXPECT_EQ(machine_of(log, UseProfile::kYes)->profile, "gcp-a3-high");
  traces::CollectiveLog other = log_of({.gpu = "NVIDIA B200", .nodes = 2, .nic = "8 x 400 Gb/s InfiniBand"});
  other.facts["source"] = "github.com/dstackai/dstack";
  EXPECT_EQ(machine_of(other, UseProfile::kYes)->profile, "");
  other.facts["nic"] = "8 x ConnectX-7 400 Gb/s RoCE (gIB)";
  EXPECT_EQ(machine_of(other, UseProfile::kYes)->profile, "gcp-a4");
}

TEST(MeasuredMachine, TwoPortsAGpuAreOneOfTwiceTheSpeed) {
  const MeasuredMachine oci = machine({.gpu = "A100", .nodes = 2, .nic = "16 x ConnectX-5 100 Gb/s RoCE"});
  EXPECT_THAT(oci.overrides, IsSupersetOf({"cluster.node.nic.count=8", "cluster.node.nic.bandwidth=200Gbps",
                                           "cluster.node.nic.ports=2"}));
  EXPECT_EQ(oci.network, "roce");
}

TEST(MeasuredMachine, NicsThatTheLogDoesNotNameAreReportedAsAssumed) {
  const MeasuredMachine unknown = machine({.gpu = "H100", .nodes = 2, .nic = "not stated"});
  EXPECT_THAT(unknown.overrides, Not(Contains(HasSubstr("nic.count"))));
  EXPECT_THAT(unknown.notes, Contains(HasSubstr("assumed")));
}

TEST(MeasuredMachine, TraysOfARackAreOneHost) {
  // 18 trays of four are 72 GPUs of one NVLink domain; 36 trays are two racks; 32 of them fill two racks evenly.
  const MeasuredMachine rack = machine({.gpu = "NVIDIA GB200", .nodes = 18, .gpus_per_node = 4});
  EXPECT_EQ(rack.hosts, 1);
  EXPECT_EQ(rack.gpus_per_host, 72);
  EXPECT_EQ(rack.gpus_per_process, std::nullopt);  // a thread drives GPUs of one tray at most
  const MeasuredMachine two =
      machine({.gpu = "NVIDIA GB200", .nodes = 32, .gpus_per_node = 4, .nic = "8 x ConnectX-8 400 Gb/s RoCE per tray"});
  EXPECT_EQ(two.hosts, 2);
  EXPECT_EQ(two.gpus_per_host, 64);
  // Two for each GPU of a tray, in all 18 trays.
  EXPECT_THAT(two.overrides, IsSupersetOf({"cluster.node.nic.count=72", "cluster.node.nic.bandwidth=800Gbps"}));
}

TEST(MeasuredMachine, WhatIsNotKnownIsRefusedWithAFix) {
  const auto strange = machine_of(log_of({.gpu = "TPU v4"}), UseProfile::kNo);
  ASSERT_FALSE(strange.has_value());
  EXPECT_THAT(render(strange.error()), HasSubstr("--cluster"));
  EXPECT_FALSE(machine_of(log_of({.gpu = "H100", .gpus_per_node = 16}), UseProfile::kNo).has_value());
}

TEST(NetworkClass, IsFoundFromWordsOfTheNic) {
  EXPECT_EQ(network_class("4 x HPE Slingshot 11 200 Gb/s (one per GPU)"), "slingshot");
  EXPECT_EQ(network_class("8 x ConnectX-7 400 Gb/s RoCE (gIB)"), "gib");
  EXPECT_EQ(network_class("8 x ConnectX-7 400 Gb/s"), "infiniband");
  EXPECT_EQ(network_class("8 x 400 Gb/s EFA"), "efa");
  EXPECT_EQ(network_class("8 x 200 Gb/s (GPUDirect-TCPXO)"), "fastrak");
  EXPECT_EQ(network_class("4 x 200 Gb/s (GPUDirect-TCPX)"), "tcpx");
  EXPECT_EQ(network_class("TCP over Ethernet/IPoIB"), "tcp");
  EXPECT_EQ(network_class("none (intra-node)"), "none");
  EXPECT_EQ(network_class("pigeons"), "unknown");
}

// The first network named carries the messages; others are for storage.
TEST(NetworkClass, IsThatOfTheFirstNics) {
  EXPECT_EQ(network_class("4 x NDR200 InfiniBand (mlx5_2..5) + 1 RoCE"), "infiniband");
  EXPECT_EQ(network_class("8 x 400 Gb/s RoCE + 1 x HDR InfiniBand for storage"), "roce");
}

}  // namespace
}  // namespace ringwright::validation::measured_machine_test
