// AdapCC's trees: which hosts are inner ones, and what each of them sends. The proof is that of all algorithms.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"
#include "collectives/steps/library_rings.h"

namespace ringwright::collectives::adaptive_trees_test {
using namespace literals;

namespace {

// What each host sends to others, in buffers.
std::vector<double> sent_by_hosts(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  std::vector<double> sent(static_cast<std::size_t>(call.layout->host_count()), 0.0);
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    for (int member = 0; member < call.size(); ++member) {
      const int host = call.layout->host_of[static_cast<std::size_t>(member)];
      algorithm.step(call, member, index, step);
      for (const CollectiveSend& send : step.sends) {
        if (call.layout->host_of[static_cast<std::size_t>(send.peer)] == host) continue;
        sent[static_cast<std::size_t>(host)] +=
            static_cast<double>(send.size.count()) / static_cast<double>(call.bytes.count());
      }
    }
  }
  return sent;
}

// Eight hosts, the third and the sixth slow: in the order they stand last, and are leaves of all four trees, with a
// quarter of the buffer up in each. All hosts together send up and down seven links of each tree: 14 buffers / 4 x 4.
TEST(AdaptiveTrees, SlowHostsAreLeaves) {
  const GroupLayout layout = make_block_layout(16, 2);
  const CollectiveCall call{
      .kind = CollectiveKind::kAllReduce, .bytes = 64_MiB, .layout = &layout, .dimension = DimensionId(0)};
  const auto trees = make_adaptive_trees({2.0, 2.0, 1.0, 2.0, 2.0, 0.5, 2.0, 2.0});
  EXPECT_EQ(prove(*trees, call).violation, "");
  const std::vector<double> sent = sent_by_hosts(*trees, call);
  EXPECT_NEAR(sent[5], 1.0, 1e-6);  // a leaf four times
  EXPECT_NEAR(sent[2], 1.25, 1e-6);  // at place 6: 6, 5 and 4 are leaves, 3 has one child
  EXPECT_NEAR(std::accumulate(sent.begin(), sent.end(), 0.0), 14.0, 1e-6);
  // The first of the others: root, then three times a leaf.
  EXPECT_NEAR(sent[0], (2.0 + 1.0 + 1.0 + 1.0) / 4.0, 1e-6);
}

TEST(AdaptiveTrees, AreProvedOnUnevenHosts) {
  GroupLayout layout = make_group_layout({0, 0, 0, 1, 2, 2, 3}, {0, 1, 2, 0, 0, 1, 0});
  const CollectiveCall call{
      .kind = CollectiveKind::kAllReduce, .bytes = 20_MiB, .layout = &layout, .dimension = DimensionId(0)};
  EXPECT_EQ(prove(*make_adaptive_trees({1.0, 3.0, 2.0, 4.0}), call).violation, "");
}

}  // namespace
}  // namespace ringwright::collectives::adaptive_trees_test
