// Without GPUDirect RDMA messages pass through host memory: over more links, and so never sooner.
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "tests/paths.h"

namespace ringwright::configs::gpudirect_test {
namespace {

using namespace literals;

std::vector<std::string> shipped_nodes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::share_dir() + "/nodes")) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// Two hosts on one leaf.
Duration all_reduce(const std::string& node, const std::string& model, const std::string& gpudirect, Bytes bytes) {
  const std::string text =
      fmt::format("cluster:\n  nodes: 2\n  node: {{preset: {}}}\n  fabric: {{type: fat_tree}}\n"
                  "collectives: {{model: {}, overhead: none}}\n"
                  "comm: {{costs: {{gpudirect: {}}}, env: {{NCCL_PROTO: Simple}}}}\n",
                  node, model, gpudirect);
  const auto scenario = load_machine_text("machine.yaml", text);
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  CollectiveBench bench(*scenario);
  const auto result = bench.run({.bytes = bytes});
  if (!result) throw std::runtime_error(render(result.error()));
  return result->time;
}

class Gpudirect : public testing::TestWithParam<std::string> {};

// With one protocol: without GPUDirect NCCL uses no LL128, and where LL128 is the slower choice of its cost model, that
// gains more than the copies cost. To 1 in 1,000: where another link is the bottleneck, a message that comes later may
// share it at a better time.
TEST_P(Gpudirect, IsNeverSlowerThanHostMemory) {
  for (const std::string model : {"closed_form", "steps", "chunks"}) {
    for (const Bytes bytes : {4_KiB, 1_MiB, 64_MiB}) {
      const double direct = to_seconds(all_reduce(GetParam(), model, "true", bytes));
      EXPECT_GE(to_seconds(all_reduce(GetParam(), model, "false", bytes)), direct * (1.0 - 1e-3))
          << model << " " << to_string(bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Gpudirect, testing::ValuesIn(shipped_nodes()),
                         [](const auto& name) {
                           std::string word = name.param;
                           std::ranges::replace(word, '-', '_');
                           return word;
                         });

// One GPU and one NIC a host, which sends 400 MB and receives 400 MB over 25 GB/s. Through memory of 10 GB/s in each
// direction both are written and read: 800 MB in each direction.
// As `explain` says, and as it prints the default.
TEST(GpudirectOff, CopiesAtTheRateOfTheSlotWhereTheirsIsZero) {
  const std::string as_given = "false", zero = "false, host_copy: 0GB/s";
  EXPECT_EQ(all_reduce("dgx-a100", "chunks", zero, 64_MiB), all_reduce("dgx-a100", "chunks", as_given, 64_MiB));
  EXPECT_LT(all_reduce("dgx-a100", "chunks", zero, 64_MiB),
            all_reduce("dgx-a100", "chunks", "false, host_copy: 1GB/s", 64_MiB));
}

TEST(GpudirectOff, LoadsHostMemory) {
  const auto time = [](const std::string& gpudirect) {
    const std::string text =
        "cluster:\n  nodes: 2\n  node:\n    gpus: 1\n    gpu: {preset: h100-sxm5-80gb}\n"
        "    nic: {count: 1, bandwidth: 25GB/s, latency: 0ns}\n"
        "    pcie: {bandwidth: 50GB/s, latency: 0ns, sockets: 1}\n    memory: {bandwidth: 10GB/s, latency: 0ns}\n"
        "  fabric: {type: fat_tree}\ncollectives: {model: steps, overhead: none}\n"
        "comm: {costs: {gpudirect: " +
        gpudirect + "}}\n";
    const auto scenario = load_machine_text("machine.yaml", text);
    if (!scenario) throw std::runtime_error(render(scenario.error()));
    CollectiveBench bench(*scenario);
    return to_seconds(bench.run({.operation = CollectiveOperation::kSendReceive, .bytes = Bytes(400'000'000)})->time);
  };
  EXPECT_NEAR(time("true"), 0.016, 1e-4);
  EXPECT_NEAR(time("false"), 0.080, 1e-4);
}

}  // namespace
}  // namespace ringwright::configs::gpudirect_test
