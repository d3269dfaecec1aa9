#include "configs/simulation/fabric_view.h"
#include "tests/paths.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::fabric_view_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

// Two DGX H100 on a rail-optimised fabric.
[[nodiscard]] FabricView two_hosts() {
  const auto cluster = load_cluster(ringwright::test_data() + "/configs/two-hosts.yaml");
  EXPECT_TRUE(cluster.has_value()) << render(cluster.error());
  return FabricView(*cluster);
}

TEST(FabricView, CountsDevicesAndLinks) {
  const FabricView view = two_hosts();
  EXPECT_EQ(view.gpus(), 16u);
  const auto devices = view.devices();
  const auto gpus = std::ranges::find(devices, "gpu", &DeviceCount::kind);
  ASSERT_NE(gpus, devices.end());
  EXPECT_EQ(gpus->count, 16u);
  const auto links = view.links();
  const auto to_leaf =
      std::ranges::find_if(links, [](const LinkKindCount& l) { return l.from == "nic" && l.to == "leaf"; });
  ASSERT_NE(to_leaf, links.end());
  EXPECT_EQ(to_leaf->count, 16u);       // eight NICs on each of two hosts
  EXPECT_EQ(to_leaf->each, 400_Gbps);   // cluster.fabric.leaf.speed
}

TEST(FabricView, AWayWithinAHostGoesOverNvLink) {
  const PathView path = two_hosts().path(0, 3);
  ASSERT_EQ(path.hops.size(), 2u);
  EXPECT_EQ(path.hops[0].link, "host0/gpu0->host0/nvswitch0");
  EXPECT_EQ(path.narrowest, 450_GBps);   // configs/nodes/dgx-h100.yaml
}

TEST(FabricView, AWayBetweenHostsIsAsWideAsItsNarrowestLink) {
  const PathView path = two_hosts().path(0, 8);
  EXPECT_EQ(path.hops.front().link, "host0/gpu0->host0/pcie0");
  EXPECT_EQ(path.narrowest, 400_Gbps);
  Duration sum;
  for (const HopView& hop : path.hops) sum += hop.latency;
  EXPECT_EQ(path.latency, sum);
}

TEST(FabricView, IsWholeAndCarriesAllNicsThroughItsMiddle) {
  const FabricView view = two_hosts();
  EXPECT_EQ(view.reachability().unreachable_pairs, 0u);
  EXPECT_EQ(view.bisection(), 400_GBps);  // eight NICs of 50 GB/s
}

TEST(FabricView, DrawsItselfForGraphviz) { EXPECT_THAT(two_hosts().drawing(), HasSubstr("graph")); }


TEST(FabricView, NamesEveryLinkAsFaultsTakeThem) {
  const FabricView view = two_hosts();
  const auto links = view.named_links();
  const auto cable = std::ranges::find(links, "host0/nic0->leaf0.0", &HopView::link);
  ASSERT_NE(cable, links.end());
  EXPECT_EQ(cable->bandwidth, 400_Gbps);
}

}  // namespace
}  // namespace ringwright::configs::fabric_view_test
