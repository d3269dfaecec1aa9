// An all-reduce around a host that has lost NICs: the proof for every such host, and what its NICs carry.
#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"

namespace ringwright::collectives::around_lost_nics_test {
using namespace literals;

namespace {

struct Shape {
  int hosts = 2;
  int per_host = 2;
  LostNics lost;
};

GroupLayout layout_of(const Shape& shape) {
  GroupLayout layout = make_block_layout(shape.hosts * shape.per_host, shape.per_host);
  layout.lost_nics = shape.lost;
  return layout;
}

CollectiveCall call_on(const GroupLayout& layout, Bytes bytes = 16_MiB) {
  return {.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0)};
}

const CollectiveAlgorithm& planned() { return *find_algorithm("around_lost_nics"); }

TEST(AroundLostNics, EveryMemberEndsWithTheSum) {
  for (const int hosts : {2, 3, 4, 5}) {
    for (const int per_host : {2, 3, 4}) {
      for (int host = 0; host < hosts; ++host) {
        const GroupLayout layout =
            layout_of({.hosts = hosts, .per_host = per_host, .lost = {.host = host, .lost = 1, .of = per_host}});
        const CollectiveCall call = call_on(layout, 16_MiB + Bytes(97));
        if (hosts % 2 == 1 && host == 0) {
          EXPECT_FALSE(planned().supports(call)) << "the ring closes with a change of rails";
          continue;
        }
        ASSERT_TRUE(planned().supports(call));
        EXPECT_EQ(prove(planned(), call).violation, "") << per_host << " on " << hosts << ", host " << host;
      }
    }
  }
}

// X = 1/4 of 4 hosts with 4 members, n = 16: the spared host sends, and receives, 2 (n-1)/n (1 - X) S + X S to and from
// other hosts instead of 2 (n-1)/n S.
TEST(AroundLostNics, SparesTheHost) {
  const GroupLayout layout = layout_of({.hosts = 4, .per_host = 4, .lost = {.host = 1, .lost = 1 << 2, .of = 4}});
  const CollectiveCall call = call_on(layout);
  double sent = 0.0;
  double received = 0.0;
  CollectiveStep step;
  for (int index = 0; index < planned().steps(call); ++index) {
    for (int member = 0; member < call.size(); ++member) {
      planned().step(call, member, index, step);
      for (const CollectiveSend& send : step.sends) {
        const bool from = member / 4 == 1;
        const bool to = send.peer / 4 == 1;
        if (from && !to) sent += static_cast<double>(send.size.count());
        if (to && !from) received += static_cast<double>(send.size.count());
      }
    }
  }
  const double expected = (2.0 * 15.0 / 16.0 * 0.75 + 0.25) * static_cast<double>(call.bytes.count());
  EXPECT_NEAR(sent, expected, 0.001 * expected);
  EXPECT_NEAR(received, expected, 0.001 * expected);
}

TEST(AroundLostNics, NeedsLostNicsAndSixteenMebibytes) {
  const GroupLayout complete = layout_of({});
  const GroupLayout lost = layout_of({.hosts = 2, .per_host = 2, .lost = {.host = 0, .lost = 1, .of = 2}});
  EXPECT_FALSE(planned().supports(call_on(complete)));
  EXPECT_TRUE(planned().supports(call_on(lost)));
  EXPECT_FALSE(planned().supports(call_on(lost, 16_MiB - Bytes(1))));
  // A NIC for each member.
  const GroupLayout more = layout_of({.hosts = 2, .per_host = 2, .lost = {.host = 0, .lost = 1, .of = 4}});
  EXPECT_FALSE(planned().supports(call_on(more)));
  const GroupLayout all = layout_of({.hosts = 2, .per_host = 2, .lost = {.host = 0, .lost = 3, .of = 2}});
  EXPECT_FALSE(planned().supports(call_on(all)));
}

}  // namespace
}  // namespace ringwright::collectives::around_lost_nics_test
