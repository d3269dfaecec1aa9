// The scattered exchange: all data arrive, part by part.
#include <set>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives::scattered_test {
namespace {

const CollectiveAlgorithm& scattered() {
  return *find_algorithm("scattered");
}

// 256 members: all 255 at once. 300: 65,536 / 300 = 218 at once, in two steps. 2,048: 32 at once.
TEST(Scattered, KeepsTheMessagesInFlightOf256Members) {
  const auto steps = [](int members) {
    const GroupLayout layout = make_block_layout(members, 4);
    return scattered().steps({.kind = CollectiveKind::kAllToAll, .bytes = Bytes(1 << 20), .layout = &layout});
  };
  EXPECT_EQ(steps(1), 0);
  EXPECT_EQ(steps(256), 1);
  EXPECT_EQ(steps(300), 2);
  EXPECT_EQ(steps(2048), 64);
}

TEST(Scattered, IsProvedInSeveralSteps) {
  const GroupLayout layout = make_block_layout(300, 72);
  for (const Bytes bytes : {Bytes(300 * 1000), Bytes(70'001)}) {
    const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = bytes, .layout = &layout};
    const Proof proof = prove(scattered(), call);
    EXPECT_TRUE(proof.holds()) << proof.violation;
  }
}

// So that NVLink and NICs are loaded in every step.
TEST(Scattered, SendsToNearAndFarMembersInEveryStep) {
  const GroupLayout layout = make_block_layout(288, 72);
  const CollectiveCall call{.kind = CollectiveKind::kAllToAll, .bytes = Bytes(288'000), .layout = &layout};
  CollectiveStep step;
  for (int index = 0; index < scattered().steps(call); ++index) {
    scattered().step(call, 0, index, step);
    std::set<int> hosts;
    for (const CollectiveSend& send : step.sends) hosts.insert(send.peer / 72);
    EXPECT_EQ(hosts.size(), 4U);
  }
}

}  // namespace
}  // namespace ringwright::collectives::scattered_test
