// Every algorithm of the table is proved for every kind that it supports, all small groups and many layouts.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/proof/proof.h"
#include "collectives/shapes/cut.h"
#include "core/ports/equal_steps.h"
#include "tests/collectives/example_layouts.h"
#include "tests/collectives/lower_bounds.h"

namespace ringwright::collectives::conformance_test {
namespace {

constexpr std::array kKinds = {CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
                               CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                               CollectiveKind::kBroadcast,     CollectiveKind::kReduce};

std::vector<GroupLayout> layouts_of(int ranks) {
  std::vector<GroupLayout> layouts;
  layouts.push_back(make_block_layout(ranks, ranks));
  for (const int per_host : {1, 2, 4, 8}) {
    if (per_host < ranks) layouts.push_back(make_block_layout(ranks, per_host));  // often with a short last host
  }
  if (ranks >= 4) layouts.push_back(dealt_layout(ranks, ranks % 2 == 0 ? 2 : 3));
  return layouts;
}

std::vector<int> roots_of(CollectiveKind kind, int ranks) {
  const bool rooted = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
  if (!rooted) return {0};
  return {ranks / 2, ranks - 1};
}

// Every supported call of the given sizes in the given layouts.
template <class Visitor>
void for_each_call(const std::vector<GroupLayout>& layouts, std::span<const Bytes> sizes, Visitor&& visit) {
  for (const GroupLayout& layout : layouts) {
    for (const CollectiveAlgorithm* algorithm : algorithms()) {
      for (const CollectiveKind kind : kKinds) {
        for (const int root : roots_of(kind, layout.size())) {
          for (const Bytes bytes : sizes) {
            const CollectiveCall call{
                .kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0), .root = root};
            if (algorithm->supports(call)) visit(*algorithm, call);
          }
        }
      }
    }
  }
}

bool uses_switch(const CollectiveAlgorithm& algorithm) {
  return algorithm.name() == "in_switch" || algorithm.name() == "nvls_tree" || algorithm.name().starts_with("collnet");
}

void expect_bytes_above_bounds(const Proof& proof, const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  for (int member = 0; member < call.size(); ++member) {
    const Bytes least = least_received(call, member);
    // A share of an algorithm with finer pieces may differ by a byte per piece.
    const Bytes slack(algorithm.pieces(call));
    EXPECT_GE(proof.received[static_cast<std::size_t>(member)] + slack, least)
        << describe(algorithm, call) << ", member " << member;
  }
  if (uses_switch(algorithm)) return;
  const Bytes total = std::accumulate(proof.sent.begin(), proof.sent.end(), Bytes(0));
  EXPECT_GE(total + Bytes(algorithm.pieces(call)), least_sent_by_all(call)) << describe(algorithm, call);
}

// "At most one byte apart" also holds across the pieces of one sender of an all-to-all, which are all treated the same.
void expect_even_pieces(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  Bytes least = call.bytes;
  Bytes most;
  for (int piece = 0; piece < algorithm.pieces(call); ++piece) {
    least = std::min(least, algorithm.piece_size(call, piece));
    most = std::max(most, algorithm.piece_size(call, piece));
  }
  EXPECT_LE(most - least, Bytes(1)) << describe(algorithm, call);
}

class Conformance : public testing::TestWithParam<int> {};

TEST_P(Conformance, EveryAlgorithmIsProvedForEveryKindItSupports) {
  int proofs = 0;
  // 1 byte leaves most pieces empty; a prime leaves pieces of two sizes and several chunks in every pipeline.
  const std::array sizes = {Bytes(1), Bytes(300'007)};
  for_each_call(layouts_of(GetParam()), sizes, [&](const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
    const Proof proof = prove(algorithm, call);
    ASSERT_TRUE(proof.holds()) << describe(algorithm, call) << ": " << proof.violation;
    expect_bytes_above_bounds(proof, algorithm, call);
    expect_even_pieces(algorithm, call);
    ++proofs;
  });
  EXPECT_GE(proofs, 20);
}

INSTANTIATE_TEST_SUITE_P(AllSmallGroups, Conformance, testing::Range(1, 49));

TEST(Conformance, HoldsForDeepPipelinesAndSizesBeyondFourGigabytes) {
  const std::array sizes = {Bytes(40'000'000), Bytes((std::int64_t{1} << 53) + 1)};
  for (const int ranks : {2, 5, 6}) {
    const std::vector<GroupLayout> layouts = {make_block_layout(ranks, 1), make_block_layout(ranks, 2)};
    for_each_call(layouts, sizes, [&](const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
      // The longest pipelines are the same from this size on; chains and trees of them are proved at two sizes.
      if (algorithm.pieces(call) > 5'000) return;
      const Proof proof = prove(algorithm, call);
      ASSERT_TRUE(proof.holds()) << describe(algorithm, call) << ": " << proof.violation;
    });
  }
}

TEST(Conformance, GroupsOfOneDoNothing) {
  const std::array sizes = {Bytes(1'000)};
  for_each_call({make_block_layout(1, 1)}, sizes, [](const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
    EXPECT_EQ(algorithm.steps(call), 0) << describe(algorithm, call);
  });
}

// The port's contract with folding: equal (role, bytes) for all members, a role being peer - member modulo the size.
bool is_identical(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  CollectiveStep first;
  CollectiveStep other;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    algorithm.step(call, 0, index, first);
    for (int member = 1; member < call.size(); ++member) {
      algorithm.step(call, member, index, other);
      if (first.sends.size() != other.sends.size() || first.awaits.size() != other.awaits.size()) return false;
      for (std::size_t i = 0; i < first.sends.size(); ++i) {
        const CollectiveSend& a = first.sends[i];
        const CollectiveSend& b = other.sends[i];
        if (a.peer != (b.peer - member + call.size()) % call.size() || a.size != b.size ||
            a.route_kind != b.route_kind) {
          return false;
        }
      }
      for (std::size_t i = 0; i < first.awaits.size(); ++i) {
        const int role = (other.awaits[i].peer - member + call.size()) % call.size();
        if (first.awaits[i].peer != role || first.awaits[i].send != other.awaits[i].send) return false;
      }
    }
  }
  return true;
}

TEST(Conformance, WhoClaimsRotationSymmetryHasIt) {
  int claims = 0;
  for (const int ranks : {2, 3, 4, 6, 8, 12}) {
    const std::array sizes = {Bytes(12 * 16 * 9 * 1'000), Bytes(300'007)};
    for_each_call(layouts_of(ranks), sizes, [&](const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
      if (!algorithm.rotation_symmetric(call)) return;
      EXPECT_TRUE(is_identical(algorithm, call)) << describe(algorithm, call);
      ++claims;
    });
  }
  EXPECT_GE(claims, 100);
}

TEST(Conformance, StepsOfAPhaseDifferBySizesAloneAndNotAtAllWithEqualPieces) {
  int phases = 0;
  for (const int ranks : {2, 3, 4, 6, 8, 12, 16, 24}) {
    // A multiple of all numbers of pieces of rings; and sizes that are not.
    const std::array sizes = {Bytes(64 * 9 * 25 * 49 * 1'000), Bytes(300'007), Bytes(5)};
    for_each_call(layouts_of(ranks), sizes, [&](const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
      const int steps = algorithm.steps(call);
      CollectiveStep first;
      CollectiveStep other;
      for (int begin = 0, end = 0; begin < steps; begin = end) {
        end = algorithm.same_until(call, begin);
        if (end == begin + 1) continue;
        const bool equal = has_equal_pieces(algorithm, call);
        phases += equal ? 1 : 0;
        for (int member = 0; member < call.size(); ++member) {
          algorithm.step(call, member, begin, first);
          for (int index = begin + 1; index < end; ++index) {
            algorithm.step(call, member, index, other);
            ASSERT_TRUE(is_same_but_for_sizes(first, other)) << describe(algorithm, call);
            for (std::size_t j = 0; equal && j < first.sends.size(); ++j) {
              ASSERT_EQ(first.sends[j].size, other.sends[j].size) << describe(algorithm, call);
            }
          }
        }
      }
    });
  }
  EXPECT_GE(phases, 100);
}

TEST(Conformance, CyclicSizesAreThoseOfTheSteps) {
  int calls = 0;
  for (const int ranks : {2, 3, 4, 6, 8, 12, 16, 24, 40}) {
    const std::array sizes = {Bytes(300'007), Bytes(5), Bytes(64 * 9 * 25 * 49 * 1'000)};
    for_each_call(layouts_of(ranks), sizes, [&](const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
      const std::optional<CyclicSizes> cyclic = algorithm.cyclic_sizes(call);
      if (!cyclic) return;
      ++calls;
      CollectiveStep step;
      for (int member = 0; member < call.size(); ++member) {
        const std::vector<CyclicSizes::Send>& sends = cyclic->of_member[static_cast<std::size_t>(member)];
        for (int index = 0; index < algorithm.steps(call); ++index) {
          algorithm.step(call, member, index, step);
          ASSERT_EQ(step.sends.size(), sends.size()) << describe(algorithm, call);
          for (std::size_t j = 0; j < sends.size(); ++j) {
            const std::vector<Bytes>& cycle = cyclic->cycles[sends[j].cycle];
            const auto entries = static_cast<std::int64_t>(cycle.size());
            const std::int64_t entry = ((std::int64_t{sends[j].first} - index) % entries + entries) % entries;
            ASSERT_EQ(cycle[static_cast<std::size_t>(entry)], step.sends[j].size)
                << describe(algorithm, call) << ", member " << member << ", step " << index;
          }
        }
      }
    });
  }
  EXPECT_GE(calls, 100);
}

TEST(Conformance, NamesAreUniqueAndFound) {
  for (const CollectiveAlgorithm* algorithm : algorithms()) {
    EXPECT_EQ(find_algorithm(algorithm->name()), algorithm);
    EXPECT_FALSE(algorithm->help().empty());
  }
  EXPECT_EQ(find_algorithm("ringg"), nullptr);
  EXPECT_EQ(algorithm_names().size(), algorithms().size());
}

}  // namespace
}  // namespace ringwright::collectives::conformance_test
