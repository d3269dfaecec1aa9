#include "configs/scenario/fabric_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::fabric_names_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::IsEmpty;

// A NIC on a PCIe switch and a leaf; the leaf has two cables to its spine.
Fabric small_fabric() {
  Fabric fabric;
  const NodeId pcie = fabric.add_node({.kind = NodeKind::kPcieSwitch, .first = 0, .second = 0});
  const NodeId nic = fabric.add_node({.kind = NodeKind::kNic, .first = 0, .second = 0});
  const NodeId leaf = fabric.add_node({.kind = NodeKind::kLeaf, .first = 0, .second = 0});
  const NodeId spine = fabric.add_node({.kind = NodeKind::kSpine, .first = 0});
  fabric.add_duplex({.from = pcie, .to = nic, .bandwidth = 64_GBps, .latency = 1_ns});    // links 0 and 1
  fabric.add_duplex({.from = nic, .to = leaf, .bandwidth = 50_GBps, .latency = 1_ns});    // 2 and 3
  fabric.add_duplex({.from = leaf, .to = spine, .bandwidth = 50_GBps, .latency = 1_ns});  // 4 and 5
  fabric.add_duplex({.from = leaf, .to = spine, .bandwidth = 50_GBps, .latency = 1_ns});  // 6 and 7
  return fabric;
}

TEST(FabricNames, FindsAllParallelLinksOfAName) {
  const Fabric fabric = small_fabric();
  const FoundLinks found = FabricNames(fabric).links("leaf0.0->spine0");
  EXPECT_THAT(found.links, ElementsAre(LinkId(4), LinkId(6)));
  EXPECT_THAT(found.problem, IsEmpty());
}

TEST(FabricNames, FindsEveryLinkByTheNameThatItPrints) {
  const Fabric fabric = small_fabric();
  const FabricNames names(fabric);
  for (std::size_t link = 0; link < fabric.link_count(); ++link) {
    EXPECT_THAT(names.links(fabric.name(LinkId(link))).links, testing::Contains(LinkId(link)));
  }
}

TEST(FabricNames, FindsTheCableOfANicButNotItsSlot) {
  const Fabric fabric = small_fabric();
  EXPECT_THAT(FabricNames(fabric).cables_of_nic("host0/nic0").links, ElementsAre(LinkId(2), LinkId(3)));
}

TEST(FabricNames, SuggestsTheNearestName) {
  const Fabric fabric = small_fabric();
  const FabricNames names(fabric);
  EXPECT_EQ(names.links("leaf0.0->spine1").problem, "there is no link from 'leaf0.0' to 'spine1'");
  EXPECT_EQ(names.links("leaf0.0->spine1").nearest, "leaf0.0->spine0");
  EXPECT_EQ(names.links("leaf0.1->spine0").problem, "the fabric has no node 'leaf0.1'");
  EXPECT_EQ(names.links("leaf0.1->spine0").nearest, "leaf0.0");
  EXPECT_EQ(names.cables_of_nic("host0/nic3").nearest, "host0/nic0");
}

TEST(FabricNames, RefusesWhatIsNoLinkOrNoNic) {
  const Fabric fabric = small_fabric();
  const FabricNames names(fabric);
  EXPECT_EQ(names.links("leaf0.0").problem, "'leaf0.0' is no link: a link is FROM->TO");
  EXPECT_EQ(names.links("leaf0.0->host0/pcie0").problem, "there is no link from 'leaf0.0' to 'host0/pcie0'");
  EXPECT_EQ(names.cables_of_nic("spine0").problem, "'spine0' is no NIC");
}

}  // namespace
}  // namespace ringwright::configs::fabric_names_test
