#include "validation/nccl/measured_machine.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::measured_machine_test {
namespace {

using namespace literals;
using ::testing::Contains;
using ::testing::HasSubstr;
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

// FI_CXI_RDZV_THRESHOLD and FI_CXI_RDZV_GET_MIN: 16384 and 2049 bytes.
TEST(MeasuredMachine, SlingshotMatchesInSoftwareAndFetchesLargeMessages) {
  EXPECT_THAT(
      machine({.gpu = "GH200", .nodes = 2, .gpus_per_node = 4, .nic = "4 x HPE Slingshot 11 200 Gb/s"}).overrides,
      IsSupersetOf({"comm.costs.network.eager=18433B", "comm.costs.network.at_once=2",
                    "comm.costs.network.matched.own_copy=4KiB", "comm.costs.network.matched.copy_call=8us"}));
}

// What a machine is taken for shows without values of classes as well.
[[nodiscard]] std::vector<std::string> planned(const traces::CollectiveLog& log) {
  const auto found = machine_of(log, UseProfile::kNo, std::string(kNoClasses));
  EXPECT_TRUE(found.has_value());
  return found ? found->overrides : std::vector<std::string>();
}

TEST(MeasuredMachine, OldLibrariesTakeLongerForEachChannel) {
  traces::CollectiveLog log = log_of({.gpu = "A100"});
  log.version_of_library = "2.8.4";
  EXPECT_THAT(planned(log), IsSupersetOf({"comm.costs.launch_channel=1.6us", "comm.costs.host.channel=0.2us"}));
  log.version_of_library = "2.23.4";
  EXPECT_THAT(planned(log), Not(Contains(HasSubstr("channel"))));
}

// Logs of one host with A100 without a version are of the years when it was slow.
TEST(MeasuredMachine, AHostWithA100WithoutAVersionHasAnOldLibrary) {
  EXPECT_THAT(planned(log_of({.gpu = "A100"})), Contains("comm.costs.launch_channel=1.9us"));
  EXPECT_THAT(planned(log_of({.gpu = "A100", .nodes = 2})), Not(Contains(HasSubstr("launch_channel"))));
  EXPECT_THAT(planned(log_of({.gpu = "H100"})), Not(Contains(HasSubstr("launch_channel"))));
}

TEST(MeasuredMachine, ValuesOfItsClassComeLast) {
  const auto overrides = machine({.gpu = "H100"}).overrides;
  EXPECT_THAT(overrides, Contains(HasSubstr("comm.costs.launch=")));
  const auto planning = planned(log_of({.gpu = "H100"}));
  ASSERT_GT(overrides.size(), planning.size());
  EXPECT_TRUE(std::equal(planning.begin(), planning.end(), overrides.begin()));
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

TEST(MeasuredMachine, MessagesOverTcpPassTheSocketsOfTheHosts) {
  EXPECT_THAT(planned(log_of({.gpu = "H100", .nodes = 2, .nic = "4 x 200 Gb/s TCP"})),
              Contains("comm.costs.network.post=20us"));
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

TEST(MeasuredMachine, LargeMessagesOnSlingshotAreFetchedByTheReceiver) {
  EXPECT_THAT(planned(log_of({.gpu = "A100", .nodes = 2, .gpus_per_node = 4, .nic = "2 x HPE Slingshot 200 Gb/s"})),
              Contains("comm.costs.network.rendezvous=2us"));
  EXPECT_THAT(planned(log_of({.gpu = "A100", .nodes = 2, .nic = "4 x HDR InfiniBand 200 Gb/s"})),
              Not(Contains(HasSubstr("comm.costs.network"))));
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

TEST(MeasuredMachine, WithoutAProfileLinksCarryThePlannedRate) {
  // NCCL, graph/topo.h: 20.6 of 25 GB/s a lane for Hopper.
  EXPECT_THAT(machine({.gpu = "H100"}).overrides, Contains("cluster.node.nvlink.efficiency=82.4%"));
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
  const MeasuredMachine two = machine({.gpu = "NVIDIA GB200", .nodes = 32, .gpus_per_node = 4});
  EXPECT_EQ(two.hosts, 2);
  EXPECT_EQ(two.gpus_per_host, 64);
}

TEST(MeasuredMachine, WhatIsNotKnownIsRefusedWithAFix) {
  const auto strange = machine_of(log_of({.gpu = "TPU v4"}), UseProfile::kNo);
  ASSERT_FALSE(strange.has_value());
  EXPECT_THAT(render(strange.error()), HasSubstr("--cluster"));
  EXPECT_FALSE(machine_of(log_of({.gpu = "H100", .gpus_per_node = 16}), UseProfile::kNo).has_value());
}

TEST(NetworkClass, IsFoundFromWordsOfTheNic) {
  EXPECT_EQ(network_class("4 x HPE Slingshot 11 200 Gb/s (one per GPU)"), "slingshot");
  EXPECT_EQ(network_class("8 x ConnectX-7 400 Gb/s RoCE (gIB)"), "roce");
  EXPECT_EQ(network_class("8 x ConnectX-7 400 Gb/s"), "infiniband");
  EXPECT_EQ(network_class("8 x 400 Gb/s EFA"), "efa");
  EXPECT_EQ(network_class("pigeons"), "unknown");
}

}  // namespace
}  // namespace ringwright::validation::measured_machine_test
