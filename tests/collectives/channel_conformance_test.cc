// Every channel algorithm of the table is proved for every kind that it supports, all small groups and many layouts.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/proof/channel_proof.h"
#include "tests/collectives/example_layouts.h"
#include "tests/collectives/lower_bounds.h"

namespace ringwright::collectives::channel_conformance_test {
namespace {

constexpr std::array kKinds = {CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
                               CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                               CollectiveKind::kBroadcast,     CollectiveKind::kReduce};

std::vector<GroupLayout> layouts_of(int ranks) {
  std::vector<GroupLayout> layouts = {make_block_layout(ranks, ranks)};
  for (const int per_host : {1, 2, 4, 8}) {
    if (per_host < ranks) layouts.push_back(make_block_layout(ranks, per_host));  // often with a short last host
  }
  if (ranks >= 4) layouts.push_back(dealt_layout(ranks, ranks % 2 == 0 ? 2 : 3));
  return layouts;
}

// Slots of 1 KiB, so that small buffers need several loops, and of the default size, so that all is one small chunk.
// LL128 is cut like LL.
std::vector<CollectivePlan> plans_of(std::string_view algorithm) {
  std::vector<CollectivePlan> plans;
  for (const Protocol protocol : {Protocol::kLl, Protocol::kSimple}) {
    for (const int channels : {1, 5}) {
      const Bytes chunk = Bytes(protocol == Protocol::kLl && channels == 1 ? 0 : 1024);
      plans.push_back(
          {.algorithm = std::string(algorithm), .protocol = protocol, .channels = channels, .chunk = chunk});
    }
  }
  return plans;
}

template <class Visitor>
int for_each_call(const std::vector<GroupLayout>& layouts, std::span<const Bytes> sizes, Visitor&& visit) {
  constexpr int kSmall = 16;  // larger groups are proved with several channels only, so that tests stay short
  int visits = 0;
  for (const GroupLayout& layout : layouts) {
    for (const ChannelAlgorithm* algorithm : channel_algorithms()) {
      for (const CollectivePlan& plan : plans_of(algorithm->name())) {
        if (layout.size() > kSmall && plan.channels == 1) continue;
        for (const CollectiveKind kind : kKinds) {
          for (const Bytes bytes : sizes) {
            const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0),
                                      .root = layout.size() / 2};
            if (!algorithm->supports(call, plan)) continue;
            visit(*algorithm, call, plan);
            ++visits;
          }
        }
      }
    }
  }
  return visits;
}

bool uses_switch(const ChannelAlgorithm& algorithm) {
  return algorithm.name().starts_with("nvls") || algorithm.name().starts_with("collnet");
}

void expect_bytes_above_bounds(const ChannelProof& proof, const ChannelAlgorithm& algorithm, const CollectiveCall& call,
                               const CollectivePlan& plan) {
  for (int member = 0; member < call.size(); ++member) {
    EXPECT_GE(proof.received[static_cast<std::size_t>(member)], least_received(call, member))
        << describe(algorithm, call, plan) << ", member " << member;
  }
  if (uses_switch(algorithm)) return;
  const Bytes total = std::accumulate(proof.sent.begin(), proof.sent.end(), Bytes(0));
  EXPECT_GE(total, least_sent_by_all(call)) << describe(algorithm, call, plan);
}

class ChannelConformance : public testing::TestWithParam<int> {};

TEST_P(ChannelConformance, EveryAlgorithmIsProvedForEveryKindItSupports) {
  const int ranks = GetParam();
  // 1 byte is mostly padding; the other size leaves a ragged end of every kind and, with small slots, two loops and
  // more.
  const std::vector<Bytes> sizes = ranks <= 16 ? std::vector{Bytes(1), Bytes(60'003)} : std::vector{Bytes(20'011)};
  const int proofs =
      for_each_call(layouts_of(ranks), sizes,
                    [](const ChannelAlgorithm& algorithm, const CollectiveCall& call, const CollectivePlan& plan) {
                      const ChannelProof proof = prove(algorithm, call, plan);
                      ASSERT_TRUE(proof.holds()) << describe(algorithm, call, plan) << ": " << proof.violation;
                      expect_bytes_above_bounds(proof, algorithm, call, plan);
                    });
  EXPECT_GE(proofs, 20);
}

TEST(ChannelParts, EveryMembersPartsAreAPermutationOfItsBlocks) {
  const std::array sizes = {Bytes(60'003)};
  for_each_call(layouts_of(12), sizes,
                [](const ChannelAlgorithm& algorithm, const CollectiveCall& call, const CollectivePlan& plan) {
                  std::vector<int> all(static_cast<std::size_t>(algorithm.blocks(call, plan)));
                  std::iota(all.begin(), all.end(), 0);
                  std::vector<int> parts;
                  for (int member = 0; member < call.size(); ++member) {
                    algorithm.parts(call, plan, member, parts);
                    EXPECT_TRUE(std::ranges::is_permutation(parts, all))
                        << describe(algorithm, call, plan) << ", member " << member;
                  }
                });
}

INSTANTIATE_TEST_SUITE_P(AllSmallGroups, ChannelConformance, testing::Range(2, 49));
INSTANTIATE_TEST_SUITE_P(SampledGroups, ChannelConformance, testing::Values(72));

}  // namespace
}  // namespace ringwright::collectives::channel_conformance_test
