// Libraries other than NCCL: what they select, and what their software adds to the messages of a call.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulate.h"
#include "core/plan/step_costs.h"
#include "tests/paths.h"

namespace ringwright::configs::libraries_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;

// Hosts of a node on one switch.
std::string machine(int hosts, const std::string& node, const std::string& rest) {
  return fmt::format("version: 1\ncluster: {{nodes: {}, node: {{preset: {}}}, fabric: {{type: {}}}}}\n{}\n", hosts,
                     node, hosts == 1 ? "single_node" : "fat_tree", rest);
}

CollectiveResult call(const std::string& text, CollectiveOperation operation, Bytes bytes, int per_host = 0) {
  const auto scenario = load_machine_text("machine.yaml", text);
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  CollectiveBench bench(*scenario);
  const auto result = bench.run({.operation = operation, .bytes = bytes, .gpus_per_host = per_host});
  if (!result) throw std::runtime_error(render(result.error()));
  return *result;
}

std::string problems_of(const std::string& text) {
  const auto scenario = load_machine_text("machine.yaml", text);
  return scenario ? render(scenario->document.log().diagnostics()) : render(scenario.error());
}

// S4.2 of systems.md: the cost of the algorithm, and two copies of the buffer over PCIe.
TEST(Gloo, TakesTheTimeOfItsAlgorithmAndTwoCopies) {
  const std::string costs = "model: steps, overhead: none, step_costs: {message: 10us, reduce_rate: 5GB/s, "
                            "copy_rate: 8GB/s}";
  for (const Bytes bytes : {64_KiB, 64_MiB}) {
    const Duration ring = call(machine(4, "dgx-a100", "collectives: {" + costs + ", world: {algorithm: ring}}"),
                               CollectiveOperation::kAllReduce, bytes, 1)
                              .time;
    const std::string gloo = "comm: {library: gloo, costs: {host_copy: 20GB/s}}";
    const CollectiveResult result = call(machine(4, "dgx-a100", gloo), CollectiveOperation::kAllReduce, bytes, 1);
    EXPECT_EQ(result.algorithm, "ring");
    EXPECT_EQ(result.time, ring + 2 * transfer_time(bytes, Bandwidth(20e9))) << to_string(bytes);
  }
}

// Each of 4 ranks copies its 16 MiB down and all 64 MiB up.
TEST(Gloo, GathersAShareIntoAWholeBuffer) {
  const std::string costs = "step_costs: {message: 0s, reduce_rate: 5GB/s, copy_rate: 8GB/s}";
  const auto time = [&](const std::string& rest) {
    return call(machine(4, "dgx-a100", rest + costs + "}"), CollectiveOperation::kAllGather, 64_MiB, 1).time;
  };
  const Duration ring = time("collectives: {model: steps, overhead: none, world: {algorithm: ring}, ");
  EXPECT_EQ(time("comm: {library: gloo, costs: {host_copy: 20GB/s}}\ncollectives: {"),
            ring + transfer_time(16_MiB, Bandwidth(20e9)) + transfer_time(64_MiB, Bandwidth(20e9)));
}

// Between two hosts: two copies, a message and its copy to the socket in addition to the wire.
TEST(Gloo, StagesMessagesBetweenRanksToo) {
  const auto time = [](const std::string& rest) {
    return call(machine(2, "dgx-a100", rest), CollectiveOperation::kSendReceive, 64_MiB, 1).time;
  };
  const Duration wire = time("collectives: {model: steps, overhead: none}");
  EXPECT_EQ(time("comm: {library: gloo, costs: {host_copy: 20GB/s}}"),
            wire + 2 * transfer_time(64_MiB, Bandwidth(20e9)) + 10_us + transfer_time(64_MiB, Bandwidth(8e9)));
}

// The classes of time of a library over TCP: far slower than NCCL over RDMA.
TEST(Gloo, IsSlowerThanNccl) {
  const Duration nccl = call(machine(2, "dgx-h100", ""), CollectiveOperation::kAllReduce, 64_MiB).time;
  EXPECT_GT(call(machine(2, "dgx-h100", "comm: {library: gloo}"), CollectiveOperation::kAllReduce, 64_MiB).time, nccl);
}

// A socket's copy is paid for each message: n - 1 steps with one message of S / n, twice.
TEST(StepCosts, CopyRatesAddACopyToEveryMessage) {
  const auto time = [](const std::string& costs) {
    return call(machine(4, "dgx-a100",
                        "collectives: {model: steps, overhead: none, world: {algorithm: ring}, step_costs: {" + costs +
                            "}}"),
                CollectiveOperation::kAllReduce, 64_MiB, 1)
        .time;
  };
  const Duration copies = 6 * transfer_time(16_MiB, Bandwidth(8e9));
  EXPECT_EQ(time("message: 1us, copy_rate: 8GB/s"), time("message: 1us") + copies);
}

// Every algorithm of CCL_ALLREDUCE takes the time of the algorithm here, and two copies unless it is `topo`.
TEST(OneCcl, TakesTheAlgorithmThatItsVariableNames) {
  struct Name {
    std::string theirs;
    std::string ours;
    int copies;
  };
  for (const Name& name : {Name{"topo", "hierarchical", 0}, Name{"rabenseifner", "halving_doubling", 2},
                           Name{"ring", "ring", 2}, Name{"double_tree", "double_tree", 2},
                           Name{"recursive_doubling", "recursive_doubling", 2}, Name{"nreduce", "all_pairs", 2}}) {
    const std::string costs = "collectives: {model: steps, overhead: none, step_costs: {message: 2us}";
    const Duration plain = call(machine(2, "dgx-a100", costs + ", world: {algorithm: " + name.ours + "}}"),
                                CollectiveOperation::kAllReduce, 4_MiB)
                               .time;
    const CollectiveResult result =
        call(machine(2, "dgx-a100",
                     "comm: {library: oneccl, costs: {host_copy: 20GB/s}, env: {CCL_ALLREDUCE: " + name.theirs + "}}"),
             CollectiveOperation::kAllReduce, 4_MiB);
    EXPECT_EQ(result.algorithm, name.ours);
    EXPECT_EQ(result.time, plain + name.copies * transfer_time(4_MiB, Bandwidth(20e9))) << name.theirs;
  }
}

// scatter of oneCCL's all-to-all, its double tree of short broadcasts, and Rabenseifner's reduce.
TEST(OneCcl, SelectsTheOtherCollectivesToo) {
  const auto algorithm = [](const std::string& env, CollectiveOperation operation) {
    return call(machine(2, "dgx-a100", "comm: {library: oneccl, env: {" + env + "}}"), operation, 4_MiB).algorithm;
  };
  EXPECT_EQ(algorithm("CCL_ALLTOALL: scatter", CollectiveOperation::kAllToAll), "pairwise");
  EXPECT_EQ(algorithm("CCL_ALLTOALL: naive", CollectiveOperation::kAllToAll), "direct");
  EXPECT_EQ(algorithm("CCL_BCAST: double_tree", CollectiveOperation::kBroadcast), "double_tree");
  EXPECT_EQ(algorithm("CCL_BCAST: ring", CollectiveOperation::kBroadcast), "scatter_ring");
  EXPECT_EQ(algorithm("CCL_REDUCE: rabenseifner", CollectiveOperation::kReduce), "scatter_allgather");
  EXPECT_EQ(algorithm("CCL_REDUCE_SCATTER: naive", CollectiveOperation::kReduceScatter), "direct");
}

TEST(OneCcl, SwitchesAtTheSizesOfItsVariable) {
  const auto algorithm = [](Bytes bytes) {
    return call(machine(2, "dgx-a100",
                        "comm: {library: oneccl, env: {CCL_ALLREDUCE: \"recursive_doubling:0-8192;ring:8193-max\"}}"),
                CollectiveOperation::kAllReduce, bytes)
        .algorithm;
  };
  EXPECT_EQ(algorithm(8_KiB), "recursive_doubling");
  EXPECT_EQ(algorithm(Bytes(8192 + 64)), "ring");
}

// apps/nccl of MSCCL++: up to 16 KiB, up to 1 MiB, and beyond.
TEST(Mscclpp, SelectsBySizeInsideAHost) {
  const auto algorithm = [](const std::string& node, Bytes bytes) {
    return call(machine(1, node, "comm: {library: mscclpp}"), CollectiveOperation::kAllReduce, bytes).algorithm;
  };
  EXPECT_EQ(algorithm("dgx-h100", 16_KiB), "all_pairs_once");
  EXPECT_EQ(algorithm("dgx-h100", 512_KiB), "all_pairs");
  EXPECT_EQ(algorithm("dgx-h100", 64_MiB), "in_switch");
  EXPECT_EQ(algorithm("dgx-a100", 64_MiB), "all_pairs");  // A100's NVSwitch does not reduce
}

TEST(Mscclpp, IsNcclBetweenHosts) {
  const std::string steps = "collectives: {model: steps}";
  const auto nccl = call(machine(2, "dgx-h100", steps), CollectiveOperation::kAllReduce, 64_MiB);
  const auto mscclpp =
      call(machine(2, "dgx-h100", "comm: {library: mscclpp}\n" + steps), CollectiveOperation::kAllReduce, 64_MiB);
  EXPECT_EQ(nccl.time, mscclpp.time);
  EXPECT_EQ(nccl.algorithm, mscclpp.algorithm);
}

// Two latencies of all-pairs instead of 14 of a ring.
TEST(Mscclpp, IsFasterThanNcclForSmallCalls) {
  const Duration nccl = call(machine(1, "dgx-h100", ""), CollectiveOperation::kAllReduce, 16_KiB).time;
  const std::string mscclpp = machine(1, "dgx-h100", "comm: {library: mscclpp}");
  EXPECT_LT(call(mscclpp, CollectiveOperation::kAllReduce, 16_KiB).time, nccl);
}

TEST(AdapCc, ReplacesAllReducesOnly) {
  const std::string adapcc = machine(4, "dgx-a100", "comm: {library: adapcc}");
  EXPECT_EQ(call(adapcc, CollectiveOperation::kAllReduce, 64_MiB).algorithm, "adaptive_trees");
  const std::string nccl = machine(4, "dgx-a100", "collectives: {model: steps}");
  EXPECT_EQ(call(adapcc, CollectiveOperation::kAllGather, 64_MiB).algorithm,
            call(nccl, CollectiveOperation::kAllGather, 64_MiB).algorithm);
}

TEST(HierarchicalLibraries, TakeTheirCompositions) {
  const auto algorithm = [](const std::string& library, int hosts) {
    return call(machine(hosts, "dgx-a100", "comm: {library: " + library + "}"), CollectiveOperation::kAllReduce, 4_MiB)
        .algorithm;
  };
  EXPECT_EQ(algorithm("accl", 4), "hybrid");
  EXPECT_EQ(algorithm("hccl", 4), "hybrid");
  EXPECT_EQ(algorithm("hccl", 3), "hierarchical");  // 3 hosts are no power of two
  EXPECT_EQ(algorithm("tccl", 4), "hierarchical");
}

// 8 hosts: 3 exchanges of halving instead of 7 of a ring, and as many bytes.
TEST(HierarchicalLibraries, HybridHasFewerStepsBetweenHosts) {
  const auto time = [](const std::string& algorithm, Bytes bytes) {
    const std::string steps = "collectives: {model: steps, overhead: none, world: {algorithm: " + algorithm + "}}";
    return call(machine(8, "dgx-a100", steps), CollectiveOperation::kAllReduce, bytes).time;
  };
  EXPECT_LT(time("hybrid", 64_KiB), time("hierarchical", 64_KiB));
  EXPECT_NEAR(to_seconds(time("hybrid", 1_GiB)) / to_seconds(time("hierarchical", 1_GiB)), 1.0, 0.02);
}

// Half a cycle, 2 log2 16 = 8 messages of 20 us, and four passes over the buffer in the GPU's memory.
TEST(Horovod, AddsItsCycleItsNegotiationAndItsBuffer) {
  const std::string steps = "collectives: {model: steps}";
  const Duration nccl = call(machine(2, "dgx-a100", steps), CollectiveOperation::kAllReduce, 64_MiB).time;
  const auto scenario = load_machine_text("machine.yaml", machine(2, "dgx-a100", steps));
  ASSERT_TRUE(scenario.has_value());
  const Duration passes = 4 * transfer_time(64_MiB, scenario->cluster.gpu.memory_bandwidth);
  const auto with = [&](const std::string& env) {
    return call(machine(2, "dgx-a100", "comm: {library: horovod, env: {" + env + "}}\n" + steps),
                CollectiveOperation::kAllReduce, 64_MiB)
        .time;
  };
  EXPECT_EQ(with("HOROVOD_CYCLE_TIME: 5"), nccl + 2500_us + 8 * 20_us + passes);
  EXPECT_EQ(with("HOROVOD_CYCLE_TIME: 0, HOROVOD_FUSION_THRESHOLD: 0"), nccl + 8 * 20_us);
  EXPECT_EQ(with("HOROVOD_CYCLE_TIME: 0, HOROVOD_FUSION_THRESHOLD: 0, HOROVOD_CACHE_CAPACITY: 0"), nccl + 30 * 20_us);
}

std::uint64_t gradient_calls(const std::string& env) {
  const auto scenario = load_scenario_text(
      "job.yaml",
      "version: 1\ncluster: {nodes: 1, node: {preset: dgx-a100}}\n"
      "model: {num_layers: 2, hidden_size: 512, num_attention_heads: 8, seq_length: 256, vocab_size: 1024}\n"
      "training: {global_batch: 8, micro_batch: 1}\nparallel: {dp: auto, zero: {overlap_grad_reduce: true}}\n"
      "comm: {library: horovod, env: {" + env + "}}\n");
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  const auto outcome = simulate(*scenario, FoldMode::kFold);
  if (!outcome) throw std::runtime_error(render(outcome.error()));
  std::uint64_t calls = 0;
  for (const CollectiveUse& use : outcome->report->facts.collectives) {
    if (use.dimension == "dp" && use.operation == "all_reduce") calls += use.calls;
  }
  return calls;
}

// O1 of systems.md: a threshold of 0 is one message for each tensor, an infinite one is one message.
TEST(Horovod, FusesTensorsUpToTheThreshold) {
  const std::uint64_t each = gradient_calls("HOROVOD_FUSION_THRESHOLD: 0");
  EXPECT_EQ(gradient_calls("HOROVOD_FUSION_THRESHOLD: 1e15"), 1u);
  EXPECT_GT(each, 10u);
  const std::uint64_t some = gradient_calls("HOROVOD_FUSION_THRESHOLD: 4194304");
  EXPECT_GT(some, 1u);
  EXPECT_LT(some, each);
}

TEST(Libraries, RefuseWhatBelongsToNcclsKernels) {
  for (const char* const given : {"model: chunks", "overhead: kernels", "tuner: nccl"}) {
    EXPECT_THAT(problems_of(machine(2, "dgx-a100", std::string("comm: {library: gloo}\ncollectives: {") + given + "}")),
                HasSubstr("E563"))
        << given;
  }
}

TEST(Libraries, ReportWhatDoesNotCount) {
  EXPECT_THAT(problems_of(machine(2, "dgx-a100", "comm: {library: gloo}\ncollectives: {model: closed_form}")),
              HasSubstr("W562"));
  EXPECT_THAT(problems_of(machine(2, "dgx-a100", "comm: {library: horovod}\ncollectives: {model: chunks}")),
              HasSubstr("W562"));
}

// Hosts of two kinds, in either order: copies take the time of the GPU that takes longest.
TEST(Libraries, CopyAtTheRateOfTheSlowestGpuOfAllGroups) {
  const auto times = [](const std::string& library) {
    std::vector<Duration> of;
    for (const auto& [first, second] : {std::pair("dgx-h100", "dgx-a100"), std::pair("dgx-a100", "dgx-h100")}) {
      of.push_back(call(fmt::format("cluster: {{groups: [{{nodes: 1, node: {{preset: {}}}}}, {{nodes: 1, node: "
                                    "{{preset: {}}}}}], fabric: {{type: fat_tree}}}}\ncomm: {{library: {}}}\n",
                                    first, second, library),
                        CollectiveOperation::kAllReduce, 64_MiB)
                       .time);
    }
    return of;
  };
  for (const char* library : {"gloo", "horovod"}) {
    const std::vector<Duration> of = times(library);
    EXPECT_EQ(of[0], of[1]) << library;
  }
}

}  // namespace
}  // namespace ringwright::configs::libraries_test
