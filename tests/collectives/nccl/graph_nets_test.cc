// NICs of a graph file beside those of the GPUs.
#include "collectives/nccl/graph_nets.h"

#include <gtest/gtest.h>

namespace ringwright::collectives::graph_nets_test {
namespace {

std::string differs(const std::string& channel, const std::vector<int>& nic_of, int pattern = 4) {
  const std::string text = "<graphs version=\"1\"><graph pattern=\"" + std::to_string(pattern) + "\"><channel>" +
                           channel + "</channel></graph></graphs>";
  const auto rings = parse_ring_nets(text, "g.xml");
  return rings ? other_nets(*rings, nic_of) : render(rings.error());
}

// Rings enter by the NIC of their first GPU and leave by that of their last, or the file says otherwise.
TEST(RingNets, SayWhereRingsUseOtherNics) {
  const std::string named = "<net dev=\"0\"/><gpu dev=\"0\"/><gpu dev=\"1\"/><net dev=\"1\"/>";
  EXPECT_EQ(differs("<gpu dev=\"0\"/><gpu dev=\"1\"/>", {1, 0}), "");
  EXPECT_EQ(differs(named, {0, 1}), "");
  EXPECT_EQ(differs(named, {0, 0}), "channel 0 leaves hosts by net 1, and GPU 1 uses NIC 0");
  EXPECT_EQ(differs(named, {1, 0}),
            "channel 0 enters hosts by net 0, and GPU 0 uses NIC 1; so it is with 1 more ends of rings");
}

TEST(RingNets, OfOtherPatternsDoNotMatter) {
  EXPECT_EQ(differs("<net dev=\"0\"/><gpu dev=\"0\"/>", {1}, 1), "");
}

}  // namespace
}  // namespace ringwright::collectives::graph_nets_test
