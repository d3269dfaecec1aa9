// An all-reduce around hosts that have lost NICs: the proof for every such host, and what their NICs carry.
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"
#include "collectives/steps/library_rings.h"

namespace ringwright::collectives::around_lost_nics_test {
using namespace literals;

namespace {

struct Shape {
  int hosts = 2;
  int per_host = 2;
  std::vector<LostNics> lost = {};
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
            layout_of({.hosts = hosts, .per_host = per_host, .lost = {{.host = host, .lost = 1, .of = per_host}}});
        const CollectiveCall call = call_on(layout, 16_MiB + Bytes(97));
        ASSERT_TRUE(planned().supports(call));
        EXPECT_EQ(prove(planned(), call).violation, "") << per_host << " on " << hosts << ", host " << host;
      }
    }
  }
}

// Hosts with equal and with different losses, next to each other and at the ends of the order.
TEST(AroundLostNics, EveryMemberEndsWithTheSumOfHostsThatSpareSeveral) {
  const auto lost = [](std::vector<std::pair<int, int>> masks) {
    std::vector<LostNics> all;
    for (const auto& [host, mask] : masks) all.push_back({.host = host, .lost = mask, .of = 4});
    return all;
  };
  const std::vector<Shape> shapes{{.hosts = 4, .per_host = 4, .lost = lost({{0, 1}, {2, 2}})},
                                  {.hosts = 4, .per_host = 4, .lost = lost({{1, 0b111}, {2, 0b1000}})},
                                  {.hosts = 4, .per_host = 4, .lost = lost({{0, 0b11}, {3, 0b110}})},
                                  {.hosts = 5, .per_host = 4, .lost = lost({{0, 1}, {1, 1}})},
                                  {.hosts = 6, .per_host = 4, .lost = lost({{0, 1}, {1, 0b11}, {2, 0b111}})},
                                  {.hosts = 7, .per_host = 4, .lost = lost({{3, 0b11}, {5, 1}, {6, 0b1100}})}};
  for (const Shape& shape : shapes) {
    const GroupLayout layout = layout_of(shape);
    const CollectiveCall call = call_on(layout, 16_MiB + Bytes(97));
    ASSERT_TRUE(planned().supports(call));
    EXPECT_EQ(prove(planned(), call).violation, "") << shape.hosts << " hosts, host " << shape.lost.front().host;
  }
}

bool same_send(const CollectiveSend& one, const CollectiveSend& other) {
  return one.peer == other.peer && one.size == other.size && one.nics == other.nics;
}
bool same_await(const CollectiveAwait& one, const CollectiveAwait& other) {
  return one.peer == other.peer && one.send == other.send;
}

// Of every member the same messages as from a plan for each question.
TEST(AroundLostNics, APlanMadeOnceIsTheSame) {
  const GroupLayout layout = layout_of({.hosts = 4, .per_host = 4, .lost = {{.host = 1, .lost = 0b11, .of = 4}}});
  const CollectiveCall call = call_on(layout, 16_MiB + Bytes(97));
  LibraryAlgorithms made;
  const CollectiveAlgorithm& once = made.around_lost_nics(call);
  EXPECT_EQ(&once, &made.around_lost_nics(call));
  ASSERT_EQ(once.steps(call), planned().steps(call));
  EXPECT_EQ(once.pieces(call), planned().pieces(call));
  CollectiveStep found, expected;
  for (int index = 0; index < planned().steps(call); ++index) {
    for (int member = 0; member < call.size(); ++member) {
      once.step(call, member, index, found);
      planned().step(call, member, index, expected);
      ASSERT_TRUE(std::ranges::equal(found.sends, expected.sends, same_send)) << member << " in step " << index;
      ASSERT_TRUE(std::ranges::equal(found.awaits, expected.awaits, same_await)) << member << " in step " << index;
      ASSERT_EQ(found.await_everyone, expected.await_everyone);
    }
  }
}

struct Traffic {
  double out = 0.0;
  double in = 0.0;
};

// Between the host and others, in buffers.
Traffic traffic_of(const CollectiveCall& call, int host) {
  Traffic traffic;
  CollectiveStep step;
  const int per_host = call.layout->largest_host;
  for (int index = 0; index < planned().steps(call); ++index) {
    for (int member = 0; member < call.size(); ++member) {
      planned().step(call, member, index, step);
      for (const CollectiveSend& send : step.sends) {
        const bool from = member / per_host == host;
        const bool to = send.peer / per_host == host;
        const double share = static_cast<double>(send.size.count()) / static_cast<double>(call.bytes.count());
        if (from && !to) traffic.out += share;
        if (to && !from) traffic.in += share;
      }
    }
  }
  return traffic;
}

// X = 1/4 of 4 hosts with 4 members, n = 16: the spared host sends, and receives, 2 (n-1)/n (1 - X) S + X S to and from
// other hosts instead of 2 (n-1)/n S.
TEST(AroundLostNics, SparesTheHost) {
  const GroupLayout layout = layout_of({.hosts = 4, .per_host = 4, .lost = {{.host = 1, .lost = 1 << 2, .of = 4}}});
  const Traffic traffic = traffic_of(call_on(layout), 1);
  const double expected = 2.0 * 15.0 / 16.0 * 0.75 + 0.25;
  EXPECT_NEAR(traffic.out, expected, 0.001 * expected);
  EXPECT_NEAR(traffic.in, expected, 0.001 * expected);
}

// Losses of 1/2 and 1/4, hosts 1 and 3 of 4: three levels with 1/2, 1/4 and 1/4 of the buffer over 16, 12 and 8
// members.
// A level of n members costs each host 2 (n-1)/n of its part. Then each spared host sends its own part, 1/2 and 1/4;
// both receive the 1/2 that host 1 missed. Host 0 sends all levels, and half of what the chains send: for each part 1
// from host 0 to 2 or back, and 2 to spared hosts.
TEST(AroundLostNics, SparesEachHostByItsLosses) {
  const GroupLayout layout = layout_of(
      {.hosts = 4, .per_host = 4, .lost = {{.host = 1, .lost = 0b11, .of = 4}, {.host = 3, .lost = 0b100, .of = 4}}});
  const CollectiveCall call = call_on(layout);
  const double first = 2.0 * 15.0 / 16.0 * 0.5;
  const double second = 2.0 * 11.0 / 12.0 * 0.25;
  const double third = 2.0 * 7.0 / 8.0 * 0.25;
  const Traffic most = traffic_of(call, 1);
  EXPECT_NEAR(most.out, first + 0.5, 0.002);
  EXPECT_NEAR(most.in, first + 0.5, 0.002);
  const Traffic less = traffic_of(call, 3);
  EXPECT_NEAR(less.out, first + second + 0.25, 0.002);
  EXPECT_NEAR(less.in, first + second + 0.5, 0.002);
  const Traffic complete = traffic_of(call, 0);
  EXPECT_NEAR(complete.out, first + second + third + 0.5 * 3.0 / 2.0, 0.01);
}

TEST(AroundLostNics, NeedsLostNicsAndSixteenMebibytes) {
  const GroupLayout complete = layout_of({});
  const GroupLayout lost = layout_of({.hosts = 2, .per_host = 2, .lost = {{.host = 0, .lost = 1, .of = 2}}});
  EXPECT_FALSE(planned().supports(call_on(complete)));
  EXPECT_TRUE(planned().supports(call_on(lost)));
  EXPECT_FALSE(planned().supports(call_on(lost, 16_MiB - Bytes(1))));
  // A NIC for each member.
  const GroupLayout more = layout_of({.hosts = 2, .per_host = 2, .lost = {{.host = 0, .lost = 1, .of = 4}}});
  EXPECT_FALSE(planned().supports(call_on(more)));
  const GroupLayout all = layout_of({.hosts = 2, .per_host = 2, .lost = {{.host = 0, .lost = 3, .of = 2}}});
  EXPECT_FALSE(planned().supports(call_on(all)));
  // As many complete hosts as others.
  const GroupLayout most = layout_of(
      {.hosts = 3, .per_host = 2, .lost = {{.host = 0, .lost = 1, .of = 2}, {.host = 1, .lost = 1, .of = 2}}});
  EXPECT_FALSE(planned().supports(call_on(most)));
}

}  // namespace
}  // namespace ringwright::collectives::around_lost_nics_test
