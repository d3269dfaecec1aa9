// NCCL's estimates: terms derived by hand from its formulas, and the whole model against measured times.
#include "collectives/nccl/cost/cost.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::cost_test {
namespace {

using namespace ringwright::literals;

class OneGroup {
 public:
  OneGroup(NcclSetup setup, int ranks, int per_host)
      : setup_(std::move(setup)), layout_(make_block_layout(ranks, per_host)) {}

  NcclCost cost(CollectiveKind kind, Bytes bytes, NcclAlgorithm algorithm, Protocol protocol) const {
    const NcclCostModel model(setup_.tables, setup_.host, setup_.knobs, layout_);
    for (const NcclCost& cost : model.costs({.kind = kind, .bytes = bytes, .layout = &layout_})) {
      if (cost.algorithm == algorithm && cost.protocol == protocol) return cost;
    }
    return {.why_not = "no such row"};
  }
  std::size_t rows(CollectiveKind kind) const {
    const NcclCostModel model(setup_.tables, setup_.host, setup_.knobs, layout_);
    return model.costs({.kind = kind, .bytes = 1_MiB, .layout = &layout_}).size();
  }
  double best_us(Bytes bytes) const {
    return nccl_cost(setup_, {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout_})[0].cost.time_us;
  }

 private:
  NcclSetup setup_;
  GroupLayout layout_;
};

constexpr auto kAllReduce = CollectiveKind::kAllReduce;
constexpr auto kRing = NcclAlgorithm::kRing;
constexpr auto kTree = NcclAlgorithm::kTree;

// 6.6 us and 14 steps of 0.6 us; 12 x 30 GB/s on the bus, half of it with LL but at most 141, times 8/14.
TEST(NcclCost, RingOfLlOnEightH100) {
  const NcclCost cost = OneGroup(setup_of(dgx_h100()), 8, 8).cost(kAllReduce, 64_KiB, kRing, Protocol::kLl);
  EXPECT_NEAR(cost.latency_us, 6.6 + 14 * 0.6, 1e-9);
  EXPECT_NEAR(cost.bandwidth_gb, 141.0 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost.time_us, 15.0 + 65536.0 / (1000 * 141.0 * 8 / 14), 1e-9);
}

TEST(NcclCost, RingOfSimpleReachesTheBus) {
  const NcclCost cost = OneGroup(setup_of(dgx_a100()), 8, 8).cost(kAllReduce, 1_GiB, kRing, Protocol::kSimple);
  EXPECT_NEAR(cost.latency_us, 8.4 + 14 * 3.4, 1e-9);
  EXPECT_NEAR(cost.bandwidth_gb, 240.0 * 8 / 14, 1e-9);
}

// LL128 carries 0.92 of the bus (331 GB/s), less than 12 x 36.7.
TEST(NcclCost, RingOfLl128CarriesNearlyTheBus) {
  const NcclCost cost = OneGroup(setup_of(dgx_h100()), 8, 8).cost(kAllReduce, 1_MiB, kRing, Protocol::kLl128);
  EXPECT_NEAR(cost.bandwidth_gb, 0.92 * 360.0 * 8 / 14, 1e-9);
}

// 2 x 8: 28 + 2 = 30 steps, 2 of them between hosts at 2.7 us; the others take at least the 1 us of a post.
TEST(NcclCost, StepsBetweenHostsCostTheNetwork) {
  const NcclCost cost = OneGroup(setup_of(dgx_h100()), 16, 8).cost(kAllReduce, 1_KiB, kRing, Protocol::kLl);
  EXPECT_NEAR(cost.latency_us, 6.6 + 28 * 1.0 + 2 * 2.7, 1e-9);
}

TEST(NcclCost, PostsTakeTwiceAsLongOnAmdHostsAndAsLongAsTheUserSets) {
  NcclSetup setup = setup_of(dgx_a100());
  EXPECT_NEAR(OneGroup(setup, 16, 8).cost(kAllReduce, 1_KiB, kRing, Protocol::kLl).latency_us,
              6.6 + 28 * 2.0 + 2 * 2.7, 1e-9);
  setup.knobs.net_overhead_us = 0.0;
  EXPECT_NEAR(OneGroup(setup, 16, 8).cost(kAllReduce, 1_KiB, kRing, Protocol::kLl).latency_us,
              6.6 + 28 * 0.6 + 2 * 2.7, 1e-9);
}

// 16 hosts: four levels up and down, and chains of seven hops inside.
TEST(NcclCost, TreesPayLevelsNotRanks) {
  const NcclCost cost = OneGroup(setup_of(dgx_h100()), 128, 8).cost(kAllReduce, 64_B, kTree, Protocol::kLl);
  EXPECT_NEAR(cost.latency_us, 6.8 + 2 * (7 * 0.6 + 4 * 5.0), 1e-9);
}

// 1 MiB is 2^14 times 64 B: LL's factor there is 0.5.
TEST(NcclCost, TreesAreCorrectedBySize) {
  const NcclCost cost = OneGroup(setup_of(dgx_h100()), 128, 8).cost(kAllReduce, 1_MiB, kTree, Protocol::kLl);
  EXPECT_NEAR(cost.time_us, cost.latency_us + 1048576.0 / (1000 * cost.bandwidth_gb * 0.5), 1e-9);
}

// 8 heads of 40 GB/s at 0.85 * 7/8, both directions at once: 59.5 a head, times 8 and 8/14.
TEST(NcclCost, InSwitchReductionBeatsTheBus) {
  const NcclCost cost =
      OneGroup(setup_of(dgx_h100()), 8, 8).cost(kAllReduce, 1_GiB, NcclAlgorithm::kNvls, Protocol::kSimple);
  EXPECT_NEAR(cost.bandwidth_gb, 8 * 59.5 * 8 / 14, 1e-9);
  EXPECT_NEAR(cost.latency_us, 25.0, 1e-9);
}

TEST(NcclCost, ReportsWhyAChoiceCannotBeUsed) {
  const OneGroup one_host(setup_of(dgx_a100()), 8, 8);
  EXPECT_EQ(one_host.cost(kAllReduce, 1_MiB, NcclAlgorithm::kNvls, Protocol::kSimple).why_not, "no NVSwitch with NVLS");
  EXPECT_NE(one_host.cost(kAllReduce, 1_MiB, NcclAlgorithm::kCollnetChain, Protocol::kSimple).why_not, "");
  const OneGroup two_hosts(setup_of(dgx_h100()), 16, 8);
  EXPECT_EQ(two_hosts.cost(kAllReduce, 1_MiB, NcclAlgorithm::kNvls, Protocol::kSimple).why_not,
            "needs CollNet between hosts");
  EXPECT_EQ(two_hosts.cost(kAllReduce, 1_MiB, NcclAlgorithm::kNvlsTree, Protocol::kSimple).why_not, "");
}

// The variable alone is not enough: the fabric's switches must be able to.
TEST(NcclCost, CollnetNeedsTheVariableAndTheSwitches) {
  NcclSetup setup = setup_of(dgx_h100());
  setup.knobs.collnet = true;
  const auto why_not = [&setup](NcclAlgorithm algorithm) {
    return std::string(OneGroup(setup, 16, 8).cost(kAllReduce, 1_MiB, algorithm, Protocol::kSimple).why_not);
  };
  EXPECT_EQ(why_not(NcclAlgorithm::kCollnetDirect), "the network switches do not reduce");
  setup.host.network_reduces = true;
  EXPECT_EQ(why_not(NcclAlgorithm::kCollnetDirect), "");
  EXPECT_EQ(why_not(NcclAlgorithm::kCollnetChain), "");
  EXPECT_EQ(why_not(NcclAlgorithm::kNvls), "");
  setup.knobs.collnet = false;
  EXPECT_EQ(why_not(NcclAlgorithm::kCollnetChain), "needs NCCL_COLLNET_ENABLE and several hosts");
}

// On Polaris hosts the path to the NIC goes through the CPU.
TEST(NcclCost, Ll128NeedsAPathToTheNicWithoutTheCpu) {
  EXPECT_NE(OneGroup(setup_of(polaris()), 8, 4).cost(kAllReduce, 1_MiB, kRing, Protocol::kLl128).why_not, "");
  EXPECT_EQ(OneGroup(setup_of(dgx_a100()), 16, 8).cost(kAllReduce, 1_MiB, kRing, Protocol::kLl128).why_not, "");
  EXPECT_EQ(OneGroup(setup_of(alps()), 8, 4).cost(kAllReduce, 1_MiB, kRing, Protocol::kLl128).why_not, "");
  EXPECT_NE(OneGroup(setup_of(alps(), "2.20"), 8, 4).cost(kAllReduce, 1_MiB, kRing, Protocol::kLl128).why_not, "");
}

TEST(NcclCost, PatIsForOneGpuAHostAndGathersOnly) {
  const auto kPat = NcclAlgorithm::kPat;
  EXPECT_EQ(
      OneGroup(setup_of(dgx_h100()), 8, 1).cost(CollectiveKind::kAllGather, 1_MiB, kPat, Protocol::kSimple).why_not,
      "");
  EXPECT_NE(
      OneGroup(setup_of(dgx_h100()), 8, 2).cost(CollectiveKind::kAllGather, 1_MiB, kPat, Protocol::kSimple).why_not,
      "");
  EXPECT_NE(OneGroup(setup_of(dgx_h100(), "2.20"), 8, 1)
                .cost(CollectiveKind::kAllGather, 1_MiB, kPat, Protocol::kSimple)
                .why_not,
            "");
  EXPECT_EQ(OneGroup(setup_of(dgx_h100()), 8, 1).cost(kAllReduce, 1_MiB, kPat, Protocol::kSimple).why_not,
            "no such row");
}

TEST(NcclCost, HasRowsForWhatNcclRanks) {
  const OneGroup group(setup_of(dgx_h100()), 16, 8);
  EXPECT_EQ(group.rows(CollectiveKind::kAllReduce), 10u);  // tree and ring with three protocols, four others with one
  EXPECT_EQ(group.rows(CollectiveKind::kAllGather), 6u);   // ring, CollNet direct, NVLS, PAT
  EXPECT_EQ(group.rows(CollectiveKind::kBroadcast), 3u);
  EXPECT_EQ(group.rows(CollectiveKind::kAllToAll), 0u);
  EXPECT_EQ(OneGroup(setup_of(dgx_h100()), 1, 1).rows(CollectiveKind::kAllReduce), 0u);
}

TEST(NcclCost, VersionsDiffer) {
  // 2.20 charges 28 us per hop for a tree with Simple: 2 * 7 hops.
  EXPECT_NEAR(OneGroup(setup_of(dgx_h100(), "2.20"), 8, 8).cost(kAllReduce, 1_MiB, kTree, Protocol::kSimple).latency_us,
              14 * 28.0, 1e-9);
  EXPECT_NEAR(OneGroup(setup_of(dgx_h100()), 8, 8).cost(kAllReduce, 1_MiB, kTree, Protocol::kSimple).latency_us,
              8.4 + 14 * 4.0, 1e-9);
}

// Times in microseconds by size, the better of out-of-place and in-place.
std::map<std::int64_t, double> measured(const std::string& file) {
  std::map<std::int64_t, double> times;
  std::ifstream in(test_data() + "/collectives/nccl/measured/" + file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] < '0' || line[0] > '9') continue;
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    times[std::stoll(fields[0])] = std::min(std::stod(fields[5]), std::stod(fields[8]));
  }
  return times;
}

// Geometric mean of estimate / measured from `from` up to below `to`.
double ratio(const OneGroup& group, const std::string& file, std::int64_t from, std::int64_t to) {
  double sum = 0.0;
  int rows = 0;
  for (const auto& [bytes, us] : measured(file)) {
    if (bytes < from || bytes >= to) continue;
    sum += std::log(group.best_us(Bytes(bytes)) / us);
    ++rows;
  }
  EXPECT_GT(rows, 3);
  return std::exp(sum / rows);
}

// The error of NCCL's formula against these logs is known from an independent implementation: 1.02, 0.88, 0.90, 0.74,
// 0.97 by bands of size. The formula is a poor clock in the middle; ours must be as poor.
TEST(NcclCost, IsAsFarFromMeasuredH100TimesAsNcclsFormula) {
  const OneGroup group(setup_of(dgx_h100()), 8, 8);
  const std::string file = "h100_x8_all_reduce.csv";
  EXPECT_NEAR(ratio(group, file, 0, 1025), 1.02, 0.015);
  EXPECT_NEAR(ratio(group, file, 1025, (64 << 10) + 1), 0.88, 0.015);
  EXPECT_NEAR(ratio(group, file, (64 << 10) + 1, (4 << 20) + 1), 0.90, 0.015);
  EXPECT_NEAR(ratio(group, file, (4 << 20) + 1, 128 << 20), 0.74, 0.015);
  EXPECT_NEAR(ratio(group, file, 128 << 20, std::int64_t{1} << 40), 0.97, 0.015);
}

TEST(NcclCost, IsAsFarFromMeasuredA100TimesAsNcclsFormula) {
  const OneGroup group(setup_of(dgx_a100()), 8, 8);
  const std::string file = "a100_x8_all_reduce.csv";
  EXPECT_NEAR(ratio(group, file, 0, 1025), 0.43, 0.015);
  EXPECT_NEAR(ratio(group, file, 1025, (64 << 10) + 1), 0.43, 0.015);
  EXPECT_NEAR(ratio(group, file, (64 << 10) + 1, (4 << 20) + 1), 0.50, 0.015);
  EXPECT_NEAR(ratio(group, file, (4 << 20) + 1, 128 << 20), 0.79, 0.015);
  EXPECT_NEAR(ratio(group, file, 128 << 20, std::int64_t{1} << 40), 0.96, 0.015);
}

}  // namespace
}  // namespace ringwright::collectives::cost_test
