// Variables of NCCL in a collective: what they forbid does not happen, and what they cannot do is listed.
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "tests/support/own_folder.h"

namespace ringwright::configs::nccl_variables_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Asked {
  std::string node;
  std::string env;
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  std::string model = "chunks";
};

[[nodiscard]] Result<Scenario> machine(const Asked& asked) {
  return load_machine_text("machine.yaml", fmt::format("cluster: {{nodes: 1, node: {{preset: {}}}}}\n"
                                                       "collectives: {{model: {}}}\ncomm: {{env: {{{}}}}}\n",
                                                       asked.node, asked.model, asked.env));
}

[[nodiscard]] CollectiveResult one_gib(const Asked& asked) {
  const auto scenario = machine(asked);
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : render(scenario.error()));
  if (!scenario) return {};
  CollectiveBench bench(*scenario);
  const auto result = bench.run({.operation = asked.operation, .bytes = 1_GiB});
  EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
  return result ? *result : CollectiveResult{};
}

// Each of 8 GPUs sends 2 x 7/8 of the buffer over its PCIe slot of at most 63 GB/s; over NVLink, of 450, it took a
// seventh of that.
TEST(NcclVariables, WithoutPeerToPeerNothingCrossesNvlink) {
  for (const std::string model : {"chunks", "steps", "closed_form"}) {
    for (const std::string env : {"NCCL_P2P_DISABLE: 1", "NCCL_P2P_LEVEL: LOC"}) {
      const CollectiveResult result = one_gib({.node = "dgx-h100", .env = env, .model = model});
      EXPECT_GE(to_seconds(result.time), 1.75 * 1073741824.0 / 63.1e9) << model << " " << env;
    }
  }
  EXPECT_LT(to_seconds(one_gib({.node = "dgx-h100", .env = "NCCL_P2P_LEVEL: NVL"}).time), 5e-3);
}

TEST(NcclVariables, BoardsThatOnlyNvlinkJoinsNeedPeerToPeer) {
  const auto refused = machine({.node = "gb200-nvl72", .env = "NCCL_P2P_DISABLE: 1"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("NCCL_P2P_DISABLE leaves no path between GPUs of different boards"));
}

[[nodiscard]] std::string listed(const Asked& asked) {
  const auto scenario = machine(asked);
  std::string text;
  if (!scenario) return render(scenario.error());
  for (const IgnoredKey& key : scenario->document.log().ignored()) text += key.path + ": " + key.why + "\n";
  for (const IgnoredKey& key : one_gib(asked).ignored) text += key.path + ": " + key.why + "\n";
  return text;
}

TEST(NcclVariables, PeerToPeerWithoutNvlinkIsListed) {
  for (const std::string env : {"NCCL_P2P_DISABLE: 1", "NCCL_P2P_LEVEL: LOC"}) {
    EXPECT_THAT(listed({.node = "l40s-pcie", .env = env}), HasSubstr("GPUs have no NVLink")) << env;
    EXPECT_THAT(listed({.node = "mi300x-8gpu", .env = env}), IsEmpty()) << env;
  }
  EXPECT_EQ(one_gib({.node = "l40s-pcie", .env = "NCCL_P2P_DISABLE: 1"}).time,
            one_gib({.node = "l40s-pcie", .env = ""}).time);
}

// The file's channels pass eight GPUs; the first four are another communicator.
TEST(NcclVariables, AGraphOfOtherHostsIsListed) {
  std::string channel = "<channel>";
  for (int gpu = 0; gpu < 8; ++gpu) channel += fmt::format("<gpu dev=\"{}\"/>", gpu);
  const std::string file = test::own_folder() + "/graph.xml";
  std::ofstream(file) << R"(<graphs version="1"><graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" )"
                      << R"(speedinter="20" typeintra="NVL" typeinter="PIX" samechannels="1">)" << channel
                      << "</channel></graph></graphs>";
  const auto scenario =
      load_machine_text("machine.yaml", "cluster: {nodes: 1, node: {preset: dgx-a100}}\ncomm: {graph: " + file + "}\n");
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  CollectiveBench bench(*scenario);
  EXPECT_THAT(bench.run({.bytes = 1_MiB})->ignored, IsEmpty());
  const auto four = bench.run({.bytes = 1_MiB, .gpus_per_host = 4});
  ASSERT_EQ(four->ignored.size(), 1U);
  EXPECT_EQ(four->ignored[0].path, "comm.graph");
  EXPECT_THAT(four->ignored[0].why, HasSubstr("have 8 GPUs"));
}

TEST(NcclVariables, ATunerFileThatDecidesNothingIsListed) {
  const std::string file = test::own_folder() + "tuner.csv";
  const auto listed_with = [&](const std::string& line) {
    std::ofstream(file) << line << "\n";
    const auto scenario = load_machine_text(
        "machine.yaml", "cluster: {nodes: 1, node: {preset: dgx-h100}}\ncomm: {tuner_config: " + file + "}\n");
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : render(scenario.error()));
    CollectiveBench bench(*scenario);
    const auto result = bench.run({.bytes = 1_MiB});
    return result->ignored.empty() ? std::string() : result->ignored[0].path + ": " + result->ignored[0].why;
  };
  EXPECT_THAT(listed_with("allreduce,0,4294967295,tree,simple,4,-1,-1"), IsEmpty());
  EXPECT_EQ(listed_with("allreduce,0,4096,tree,simple,4,-1,-1"), "comm.tuner_config: no line fits a call");
  EXPECT_EQ(listed_with("allreduce,0,4294967295,tree,simple,4,2,16"), "comm.tuner_config: no line fits a call");
  EXPECT_THAT(listed_with("allreduce,0,4294967295,nvls,ll,4,-1,-1"), HasSubstr("line 1 asks for nvls with ll"));
}

// Instances of AWS have four NICs for each GPU, of which NCCL's exchanges use all.
TEST(NcclVariables, NicsThatSendsDoNotUseAreListed) {
  const auto listed_of = [](CollectiveOperation operation, int nics) {
    const auto scenario = load_machine_text(
        "machine.yaml", fmt::format("cluster: {{nodes: 2, node: {{preset: dgx-h100, nic: {{count: {}}}}}}}\n", nics));
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : render(scenario.error()));
    CollectiveBench bench(*scenario);
    const auto ignored = bench.run({.operation = operation, .bytes = 1_MiB})->ignored;
    return ignored.empty() ? std::string() : ignored[0].path + ": " + ignored[0].why;
  };
  const std::string says = "cluster.node.nic.count: in part: all-to-alls and sends leave by one NIC of each GPU";
  EXPECT_THAT(listed_of(CollectiveOperation::kAllToAll, 32), HasSubstr(says));
  EXPECT_THAT(listed_of(CollectiveOperation::kSendReceive, 32), HasSubstr(says));
  EXPECT_THAT(listed_of(CollectiveOperation::kAllToAll, 8), IsEmpty());
  EXPECT_THAT(listed_of(CollectiveOperation::kAllReduce, 32), IsEmpty());
}

TEST(NcclVariables, AnAlgorithmThatCannotRunIsListed) {
  const Asked gather{.node = "dgx-a100", .env = "NCCL_ALGO: Tree", .operation = CollectiveOperation::kAllGather};
  EXPECT_EQ(one_gib(gather).algorithm, "ring");
  EXPECT_THAT(listed(gather), HasSubstr("comm.env.NCCL_ALGO: in part: it leaves nothing for all_gather among 8 ranks"));
  EXPECT_THAT(listed({.node = "dgx-a100", .env = "NCCL_ALGO: Tree"}), IsEmpty());
  EXPECT_THAT(listed({.node = "dgx-a100", .env = "NCCL_ALGO: NVLS"}), HasSubstr("leaves nothing for all_reduce"));
  EXPECT_THAT(listed({.node = "dgx-h100", .env = "NCCL_ALGO: NVLS"}), IsEmpty());
}

}  // namespace
}  // namespace ringwright::configs::nccl_variables_test
