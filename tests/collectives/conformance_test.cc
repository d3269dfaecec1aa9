// Every algorithm of the table is proved for every kind that it supports, all small groups and many layouts.
#include "collectives/builtin.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/proof.h"

namespace ringwright::collectives {
namespace {

constexpr std::array kKinds = {CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
                               CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                               CollectiveKind::kBroadcast,     CollectiveKind::kReduce};

// Members are dealt to hosts like cards, so that no host's members are neighbours in the group.
GroupLayout dealt_layout(int ranks, int hosts) {
  std::vector<std::int64_t> host;
  std::vector<int> gpu;
  for (int i = 0; i < ranks; ++i) {
    host.push_back(i % hosts);
    gpu.push_back(i / hosts);
  }
  return make_group_layout(host, gpu);
}

std::vector<GroupLayout> layouts_of(int ranks) {
  std::vector<GroupLayout> layouts;
  for (const int per_host : {1, 2, 4, 8, 48}) {
    if (per_host < 2 * ranks) layouts.push_back(make_block_layout(ranks, per_host));  // often a short last host
  }
  if (ranks >= 4) layouts.push_back(dealt_layout(ranks, 2));
  if (ranks >= 6) layouts.push_back(dealt_layout(ranks, 3));
  return layouts;
}

std::vector<int> roots_of(CollectiveKind kind, int ranks) {
  const bool rooted = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
  if (!rooted) return {0};
  return {0, ranks / 2, ranks - 1};
}

std::string describe(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  std::string hosts;
  for (const auto& host : call.layout->hosts) hosts += " " + std::to_string(host.size());
  return std::string(algorithm.name()) + " " + std::string(to_string(call.kind)) + " of " +
         std::to_string(call.bytes.count()) + " bytes over hosts" + hosts + ", root " + std::to_string(call.root);
}

// 1 byte leaves most pieces empty; a prime leaves pieces of two sizes; the large ones make pipelines deep.
constexpr std::array kSizes = {Bytes(1), Bytes(1'000'003), Bytes(64'000'000)};

class Conformance : public testing::TestWithParam<int> {};

TEST_P(Conformance, EveryAlgorithmIsProvedForEveryKindItSupports) {
  const int ranks = GetParam();
  int proofs = 0;
  for (const GroupLayout& layout : layouts_of(ranks)) {
    for (const CollectiveAlgorithm* algorithm : algorithms()) {
      for (const CollectiveKind kind : kKinds) {
        for (const int root : roots_of(kind, ranks)) {
          for (const Bytes bytes : kSizes) {
            const CollectiveCall call{
                .kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0), .root = root};
            if (!algorithm->supports(call)) continue;
            const Proof proof = prove(*algorithm, call);
            ASSERT_TRUE(proof.holds()) << describe(*algorithm, call) << ": " << proof.violation;
            ++proofs;
          }
        }
      }
    }
  }
  EXPECT_GE(proofs, 30);
}

INSTANTIATE_TEST_SUITE_P(AllSmallGroups, Conformance, testing::Range(1, 49));

}  // namespace
}  // namespace ringwright::collectives
