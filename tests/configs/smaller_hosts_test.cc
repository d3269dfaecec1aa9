// Hosts with fewer or more GPUs than the preset whose links they have.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"
#include "tests/paths.h"

namespace ringwright::configs::smaller_hosts_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Scenario host_of(const std::string& node, int gpus, const std::string& more = "") {
  return load(
      "model: {preset: gpt2-1.5b}\ntraining: {global_batch: 64, micro_batch: 1, precision: fp16}\n"
      "parallel: {dp: auto}\ncluster: {nodes: 1, node: {preset: " +
      node + ", gpus: " + std::to_string(gpus) + more + "}}\n");
}

TEST(SmallerHosts, EveryShippedHostCanHaveFewerGpus) {
  for (const auto& entry : std::filesystem::directory_iterator(share_dir() + "/nodes")) {
    const std::string node = entry.path().stem().string();
    const Scenario whole = load(
        "model: {preset: gpt2-1.5b}\ntraining: {global_batch: 1440, micro_batch: 1, precision: fp16}\n"
        "parallel: {dp: auto}\ncluster: {nodes: 1, node: {preset: " +
        node + "}}\n");
    for (int gpus = 1; gpus < whole.cluster.host.gpus; gpus *= 2) {
      EXPECT_EQ(host_of(node, gpus).cluster.host.gpus, gpus) << node;
    }
  }
}

TEST(SmallerHosts, KeepTheLinksAmongTheirGpus) {
  EXPECT_EQ(host_of("a100-x4", 4).cluster.host.nvlink.mesh.size(), 6U);
  EXPECT_EQ(host_of("a100-x4", 2).cluster.host.nvlink.mesh.size(), 1U);
  EXPECT_TRUE(host_of("a100-x4", 1).cluster.host.nvlink.mesh.empty());
}

TEST(SmallerHosts, MoreGpusThanThePresetJoinsAreAMistake) {
  EXPECT_THAT([] { host_of("a100-x4", 8); },
              ThrowsMessage<std::runtime_error>(HasSubstr("E122]: the preset joins 4 GPUs, and the host has 8")));
}

TEST(SmallerHosts, ListsOfAScenarioAreKeptToItsGpus) {
  EXPECT_THAT([] { host_of("a100-x4", 2, ", nvlink: {mesh: [\"0-1:4\", \"0-2:4\"]}"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("'0-2:4' is not a link between two of the 2 GPUs")));
}

}  // namespace
}  // namespace ringwright::configs::smaller_hosts_test
