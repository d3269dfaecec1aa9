// Rings along all sides of a torus are proved on boxes of many shapes, and use every link of every host equally.
#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/proof/proof.h"
#include "collectives/steps/library_rings.h"
#include "tests/collectives/example_layouts.h"

namespace ringwright::collectives::torus_rings_test {
namespace {

TEST(TorusRings, AreProvedOnBoxesOfAllShapes) {
  const std::vector<std::vector<int>> boxes = {{2}, {5}, {4, 1, 1}, {1, 3, 1}, {2, 2}, {3, 2}, {2, 3, 2}, {4, 3, 2}};
  for (const std::vector<int>& sides : boxes) {
    int hosts = 1;
    for (const int side : sides) hosts *= side;
    for (const int per_host : {1, 2, 3}) {
      const GroupLayout layout = make_block_layout(hosts * per_host, per_host);
      const auto rings = make_torus_rings(sides);
      for (const CollectiveKind kind :
           {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
        for (const Bytes bytes : {Bytes(1), Bytes(300'007)}) {
          const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0)};
          ASSERT_TRUE(rings->supports(call));
          const Proof proof = prove(*rings, call);
          ASSERT_TRUE(proof.holds()) << describe(*rings, call) << ": " << proof.violation;
        }
      }
    }
  }
}

// 4 x 4 x 4: in every step each host sends one message along each of its six links, all of one size.
TEST(TorusRings, SendAlongSixLinksInEveryStep) {
  const GroupLayout layout = make_block_layout(64, 1);
  const auto rings = make_torus_rings({4, 4, 4});
  const CollectiveCall call{
      .kind = CollectiveKind::kAllReduce, .bytes = Bytes(64 * 6 * 10), .layout = &layout, .dimension = DimensionId(0)};
  EXPECT_EQ(rings->steps(call), 2 * 3 * 3);
  CollectiveStep step;
  Bytes sent;
  for (int index = 0; index < rings->steps(call); ++index) {
    rings->step(call, 21, index, step);
    std::set<int> peers;
    for (const CollectiveSend& send : step.sends) {
      peers.insert(send.peer);
      EXPECT_EQ(send.size, step.sends.front().size);
      sent += send.size;
    }
    EXPECT_EQ(peers.size(), 6U);
  }
  EXPECT_EQ(sent, Bytes(2 * 63 * 60));  // 2 S (1 - 1/64)
}

TEST(TorusRings, NeedHostsThatFillTheBox) {
  const GroupLayout layout = make_block_layout(6, 1);
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(600), .layout = &layout};
  EXPECT_TRUE(make_torus_rings({3, 2})->supports(call));
  EXPECT_FALSE(make_torus_rings({2, 2})->supports(call));
  EXPECT_FALSE(make_torus_rings({1})->supports(call));
}

}  // namespace
}  // namespace ringwright::collectives::torus_rings_test
