// The models of a collective, from formulas to kernels, give the same time of a collective alone, on every shipped
// host: the user's choices, and the library's settings, act in all of them.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/catalogue.h"
#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulation.h"
#include "core/base/text.h"
#include "tests/configs/played.h"

namespace ringwright::configs::rungs_agree_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

constexpr std::array kRungs = {"steps", "chunks", "closed_form"};

struct Asked {
  std::string node = "dgx-h100";
  int hosts = 1;
  std::string rest;  // further sections of the file
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Bytes bytes = 64_MiB;
  int gpus = 0;  // of each host; 0: all
};

Result<Scenario> machine_of(const Asked& asked, const std::string& collectives) {
  const std::string text = fmt::format("cluster: {{nodes: {}, node: {{preset: {}}}}}\ncollectives: {{{}}}\n{}\n",
                                       asked.hosts, asked.node, collectives, asked.rest);
  return load_machine_text("machine.yaml", text, {.overrides = {}, .share_folders = {}});
}

Result<CollectiveResult> try_on(const Asked& asked, const std::string& collectives) {
  auto scenario = machine_of(asked, collectives);
  if (!scenario) return tl::unexpected(scenario.error());
  CollectiveBench bench(*scenario);
  return bench.run({.operation = asked.operation, .bytes = asked.bytes, .gpus_per_host = asked.gpus});
}

CollectiveResult on(const Asked& asked, const std::string& collectives) {
  auto result = try_on(asked, collectives);
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

std::vector<std::string> nodes() {
  return preset_names(load_options({}), "nodes");
}

// The ratio of the larger to the smaller of the models' times.
double spread(const Asked& asked) {
  std::vector<double> times;
  for (const char* rung : kRungs) times.push_back(to_seconds(on(asked, fmt::format("model: {}", rung)).time));
  return *std::ranges::max_element(times) / *std::ranges::min_element(times);
}

class OnEveryHost : public testing::TestWithParam<std::string> {};

constexpr std::array kOperations = {CollectiveOperation::kAllReduce, CollectiveOperation::kAllGather,
                                    CollectiveOperation::kReduceScatter};

TEST_P(OnEveryHost, TheRungsAgreeAboveSixteenMebibytes) {
  const auto machine = machine_of({.node = GetParam()}, "");
  ASSERT_TRUE(machine.has_value()) << render(machine.error());
  if (machine->cluster.host.gpus == 1) {
    EXPECT_LT(on({.node = GetParam()}, "").time, 10_us) << "a collective of one GPU is the start of a kernel";
    return;
  }
  for (const CollectiveOperation operation : kOperations) {
    for (const Bytes bytes : {32_MiB, 256_MiB}) {
      const Asked asked{.node = GetParam(), .operation = operation, .bytes = bytes};
      EXPECT_LT(spread(asked), 1.10) << to_string(operation) << " " << to_string(bytes);
    }
  }
}

bool is_rack(std::string_view node) {
  return node == "gb200-nvl72" || node == "gb300-nvl72";
}

// Between racks of 72 GPUs trees are chains in each rack, whose chunks steps forward as a whole: up to 13.5 %.
double largest_spread(const Asked& asked) {
  return is_rack(asked.node) ? 1.15 : 1.10;
}

TEST_P(OnEveryHost, TheRungsAgreeOverHosts) {
  const int most = is_rack(GetParam()) ? 2 : 4;  // a run of four racks takes 10 s
  for (const CollectiveOperation operation : kOperations) {
    for (int hosts = 2; hosts <= most; hosts *= 2) {
      for (const Bytes bytes : {64_MiB, 256_MiB}) {
        const Asked asked{.node = GetParam(), .hosts = hosts, .operation = operation, .bytes = bytes};
        EXPECT_LT(spread(asked), largest_spread(asked))
            << to_string(operation) << " of " << to_string(bytes) << " on " << hosts << " hosts";
      }
    }
  }
}

// Apart from the cost of kernels: the messages alone take no longer, or they use too few lanes.
TEST_P(OnEveryHost, MessagesOnWiresAreNoSlowerThanKernels) {
  for (const int gpus : {0, 2, 4}) {
    const Asked asked{.node = GetParam(), .gpus = gpus};
    const Duration wires = on(asked, "model: steps, overhead: none, tuner: nccl").time;
    EXPECT_LT(to_seconds(wires), 1.05 * to_seconds(on(asked, "model: chunks").time)) << gpus << " GPUs";
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, OnEveryHost, testing::ValuesIn(nodes()), [](const auto& node) {
  std::string name = node.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// Of the shortest pieces of rings, in the order of machines and in that of a search: steps took 1.5 to 2.4 times as
// long while each waited for a message between hosts.
TEST(Rungs, StreamShortPiecesOfRings) {
  for (const char* node : {"dgx-h100", "dgx-b200", "dgx2-v100", "mi300x-8gpu"}) {
    for (const CollectiveOperation operation : {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter}) {
      for (const Bytes bytes : {4_KiB, 64_KiB, 1_MiB, 64_MiB}) {
        const Asked asked{.node = node, .hosts = 4, .operation = operation, .bytes = bytes};
        EXPECT_LT(spread(asked), 1.05) << node << " " << to_string(operation) << " " << to_string(bytes);
      }
    }
  }
  const auto forced = [](const char* rung) {
    const Asked asked{.hosts = 16, .operation = CollectiveOperation::kAllGather, .bytes = 16_KiB};
    return to_seconds(on(asked, fmt::format("model: {}, world: {{algorithm: rail_rings}}", rung)).time);
  };
  EXPECT_NEAR(forced("steps") / forced("chunks"), 1.0, 0.05);
}

// More than 256 ranks: step by step with one peer each they took 2 to 3.2 times as long, since either NVLink or the
// NICs rested in every step.
TEST(Rungs, ExchangeAmongManyRanksOverAllLinksAtOnce) {
  for (const Bytes bytes : {64_KiB, 16_MiB, 256_MiB}) {
    const Asked asked{.node = "gb200-nvl72",
                      .hosts = 4,
                      .operation = CollectiveOperation::kAllToAll,
                      .bytes = Bytes(bytes.count() / 288 * 288)};
    EXPECT_LT(spread(asked), 1.10) << bytes.count();
    EXPECT_EQ(on(asked, "model: steps").algorithm, "scattered");
  }
}

// Few GPUs of a host: NCCL's rings and trees leave by further NICs than their own, or by all of these equally.
TEST(Rungs, LeaveByAllNicsOfTheLibrarysChannels) {
  struct Group {
    const char* node;
    int gpus;
  };
  for (const Group group :
       {Group{"dgx2-v100", 2}, Group{"dgx2-v100", 3}, Group{"gb200-nvl72", 1}, Group{"gb200-nvl72", 3}}) {
    for (const CollectiveOperation operation :
         {CollectiveOperation::kAllReduce, CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter}) {
      for (const int hosts : {2, 4}) {
        const Asked asked{
            .node = group.node, .hosts = hosts, .operation = operation, .bytes = 64_MiB, .gpus = group.gpus};
        EXPECT_LT(spread(asked), 1.10) << group.node << " " << group.gpus << " " << hosts << " "
                                       << to_string(operation);
      }
    }
  }
}

// Replicas of tensor-parallel pairs: each has one GPU at either socket, and NCCL's two channels leave by one NIC, in
// both replicas. Rings by the GPUs' own NICs had both, and the step took 14.9 ms instead of 20.2.
TEST(Rungs, LeaveByFewerNicsThanTheirOwnWhereTheLibraryDoes) {
  const std::string text =
      "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 512,"
      " vocab_size: 100000, seq_length: 128}\n"
      "training: {global_batch: 4, micro_batch: 1}\nparallel: {tp: 2}\ncompute: {model: roofline}\n"
      "cluster: {nodes: 2, node: {preset: l40s-pcie}, fabric: {type: fat_tree}}\n";
  const Duration steps = play(load(text, {"collectives.model=steps"})).time();
  const Duration chunks = play(load(text, {"collectives.model=chunks"})).time();
  EXPECT_NEAR(ratio(steps, chunks), 1.0, 0.02);
}

// A chain crosses the sockets once in each direction with the whole buffer, a ring with 2 (n-1)/n of it: on four cards
// half as much again, and steps that simulated a ring took 1.38 times as long.
TEST(Rungs, ATreeOnCardsInSlotsIsAChain) {
  for (const char* node : {"a10-pcie", "a100-pcie", "l40s-pcie"}) {
    for (const Bytes bytes : {16_MiB, 64_MiB, 256_MiB}) {
      const Asked asked{.node = node, .rest = "comm: {env: {NCCL_ALGO: Tree}}", .bytes = bytes};
      EXPECT_LT(spread(asked), 1.05) << node << " " << to_string(bytes);
    }
  }
}

TEST(Rungs, GiveAForcedAlgorithmItsOwnTime) {
  for (const char* algorithm : {"ring", "rail_rings", "double_tree", "nvls_tree"}) {
    const Asked asked{.hosts = 2};
    const auto forced = [&](const char* rung) {
      return on(asked, fmt::format("model: {}, world: {{algorithm: {}}}", rung, algorithm));
    };
    const Duration kernels = forced("chunks").time;
    for (const char* rung : {"steps", "closed_form"}) {
      const CollectiveResult result = forced(rung);
      EXPECT_EQ(result.algorithm, algorithm);
      EXPECT_NEAR(to_seconds(result.time) / to_seconds(kernels), 1.0, 0.10) << rung << " " << algorithm;
    }
  }
}

// A single ring leaves each host by one NIC of 50 GB/s: S 2 (n-1)/n / 50 GB/s = 2.52 ms at least; rings on all rails
// take an eighth of that.
TEST(Rungs, TellARingFromRingsOnAllRails) {
  for (const char* rung : kRungs) {
    const auto forced = [&](const char* algorithm) {
      return on({.hosts = 2}, fmt::format("model: {}, world: {{algorithm: {}}}", rung, algorithm)).time;
    };
    EXPECT_GT(forced("ring"), 2500_us) << rung;
    EXPECT_LT(forced("rail_rings"), 900_us) << rung;
  }
}

TEST(Rungs, SayThatNoKernelPlaysAnAlgorithm) {
  const Asked asked{.hosts = 2};
  const std::string hierarchical = ", world: {algorithm: hierarchical}";
  const CollectiveResult steps = on(asked, "model: steps" + hierarchical);
  EXPECT_EQ(steps.time, on(asked, "model: steps, overhead: none" + hierarchical).time);
  EXPECT_EQ(steps.channels, 0);
  ASSERT_EQ(steps.ignored.size(), 1U);
  EXPECT_EQ(steps.ignored[0].path, "collectives.overhead");
  EXPECT_THAT(steps.ignored[0].why, HasSubstr("hierarchical"));
  const auto chunks = try_on(asked, "model: chunks" + hierarchical);
  ASSERT_FALSE(chunks.has_value());
  EXPECT_THAT(render(chunks.error()), testing::AllOf(HasSubstr("E151"), HasSubstr("rail_rings"), HasSubstr("steps")));
}

TEST(Rungs, HeedTheEnvironmentAlike) {
  for (const char* variable : {"NCCL_ALGO: Ring", "NCCL_ALGO: Tree", "NCCL_MAX_CTAS: 2", "NCCL_PROTO: LL"}) {
    const Asked asked{.hosts = 2, .rest = fmt::format("comm: {{env: {{{}}}}}", variable)};
    const CollectiveResult chunks = on(asked, "model: chunks");
    EXPECT_NE(chunks.time, on({.hosts = 2}, "model: chunks").time) << variable;
    for (const char* rung : {"steps", "closed_form"}) {
      const CollectiveResult result = on(asked, fmt::format("model: {}", rung));
      EXPECT_NEAR(to_seconds(result.time) / to_seconds(chunks.time), 1.0, 0.10) << rung << " " << variable;
      EXPECT_EQ(result.protocol, chunks.protocol) << rung << " " << variable;
      EXPECT_EQ(result.channels, chunks.channels) << rung << " " << variable;
    }
  }
}

// On a mesh: one ring of seven.
TEST(Rungs, UseAsManyRingsAsTheEnvironmentAllows) {
  const Asked one{.node = "mi300x-8gpu", .rest = "comm: {env: {NCCL_MAX_NCHANNELS: 1, NCCL_ALGO: Ring}}"};
  const Asked all{.node = "mi300x-8gpu", .rest = "comm: {env: {NCCL_ALGO: Ring}}"};
  const char* const wires = "model: steps, overhead: none, tuner: nccl";
  EXPECT_NEAR(to_seconds(on(one, wires).time) / to_seconds(on(all, wires).time), 7.0, 0.3);
}

// RCCL's all-reduces of eight GPUs use all links of the mesh, also as steps: one ring took four to five times as long.
TEST(Rungs, SendToAllPeersOfAMeshAtOnce) {
  for (const Bytes bytes : {8_KiB, 512_KiB, 2_MiB, 16_MiB}) {
    const Asked asked{.node = "mi300x-8gpu", .bytes = bytes};
    const CollectiveResult chunks = on(asked, "model: chunks");
    const CollectiveResult steps = on(asked, "model: steps");
    EXPECT_EQ(chunks.algorithm, "all_pairs");
    EXPECT_EQ(steps.algorithm, "all_pairs");
    EXPECT_NEAR(to_seconds(steps.time) / to_seconds(chunks.time), 1.0, 0.02) << bytes.count();
  }
}

TEST(Rungs, PlayTheUsersPlan) {
  const Asked asked{.hosts = 2, .rest = "comm: {plan: {algorithm: ring, protocol: simple, channels: 8}}"};
  const CollectiveResult steps = on(asked, "model: steps");
  EXPECT_EQ(steps.algorithm, "rail_rings");
  EXPECT_EQ(steps.channels, 8);
  EXPECT_NEAR(to_seconds(steps.time) / to_seconds(on(asked, "model: chunks").time), 1.0, 0.10);
}

// --- a torus: every host sends through the six links of its router at once ---

Duration on_torus(const std::string& host, std::string_view rung) {
  const std::string text = fmt::format(
      "cluster: {{nodes: 64, node: {{preset: dgx-h100, gpus: 1, {}nic: {{count: 6, bandwidth: 400Gbps}}}}, "
      "fabric: {{type: torus, dims: [4, 4, 4]}}}}\ncollectives: {{model: {}}}\n",
      host, rung);
  auto scenario = load_machine_text("torus.yaml", text, {.overrides = {}, .share_folders = {}});
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  const auto result = CollectiveBench(*scenario).run({.bytes = 1_GiB});
  if (!result) throw std::runtime_error(render(result.error()));
  EXPECT_EQ(result->algorithm, "torus_rings");
  return result->time;
}

// 4 x 4 x 4 hosts of one GPU with six NICs of 50 GB/s, 1 GiB: 2 S (1 - 1/64) / (6 x 50 GB/s) = 7.05 ms.
TEST(Rungs, UseAllLinksOfATorus) {
  for (const char* rung : {"steps", "closed_form"}) {
    const Duration time = on_torus("nvlink: {kind: none}, pcie: {switches: 1, gpu_bandwidth: 900GB/s}, ", rung);
    EXPECT_NEAR(to_seconds(time) * 1e3, 7.05, 0.35) << rung;
  }
}

// The six NICs of a host share the GPU's PCIe link.
TEST(Rungs, ShareTheLinkOfTheGpuOnATorus) {
  const double steps = to_seconds(on_torus("", "steps"));
  EXPECT_GT(steps, 5 * 7.05e-3);
  EXPECT_NEAR(to_seconds(on_torus("", "closed_form")), steps, 0.1 * steps);
}

}  // namespace
}  // namespace ringwright::configs::rungs_agree_test
