// Streamed rings: fewer steps than pieces, with the bytes of the rings over the same links.
#include "collectives/steps/streamed_rings.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/steps/library_rings.h"

namespace ringwright::collectives::streamed_rings_test {
namespace {

using namespace ringwright::literals;

constexpr CollectiveKind kRounds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                      CollectiveKind::kReduceScatter};

CollectiveCall call_on(const GroupLayout& layout, Bytes bytes, CollectiveKind kind = CollectiveKind::kAllGather) {
  return {.kind = kind, .bytes = bytes, .layout = &layout};
}

const CollectiveAlgorithm& rails() {
  return *find_algorithm("rail_rings");
}

// By receiver.
std::map<int, std::int64_t> sent_by(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, int member) {
  std::map<int, std::int64_t> sent;
  CollectiveStep step;
  for (int index = 0; index < algorithm.steps(call); ++index) {
    algorithm.step(call, member, index, step);
    for (const CollectiveSend& send : step.sends) sent[send.peer] += send.size.count();
  }
  return sent;
}

// On 16 hosts of 8 a ring has 127 steps. One of 22 = 16 + 8 - 2 is enough for 64 KiB; 64 MiB are pieces of 64 KiB, 127
// of which fill four chunks; of 512 MiB (pieces of 512 KiB) 31.75 chunks, of 2 GiB each piece is one.
TEST(StreamedRings, HaveAStepForEachChunk) {
  const GroupLayout layout = make_block_layout(128, 8);
  LibraryAlgorithms library;
  const auto steps = [&](Bytes bytes, CollectiveKind kind) {
    const CollectiveCall call = call_on(layout, bytes, kind);
    return library.streamed(rails(), call).steps(call);
  };
  EXPECT_EQ(steps(64_KiB, CollectiveKind::kAllGather), 22);
  EXPECT_EQ(steps(64_KiB, CollectiveKind::kAllReduce), 44);
  EXPECT_EQ(steps(64_MiB, CollectiveKind::kReduceScatter), 22);
  EXPECT_EQ(steps(512_MiB, CollectiveKind::kAllGather), 32);
  EXPECT_EQ(steps(2_GiB, CollectiveKind::kAllGather), 127);
}

TEST(StreamedRings, SendTheBytesOfTheRingsOverTheSameEdges) {
  const GroupLayout layout = make_block_layout(24, 4);
  for (const CollectiveKind kind : kRounds) {
    for (const Bytes bytes : {Bytes(24 * 4 * 1000), Bytes(1'000'003)}) {
      const CollectiveCall call = call_on(layout, bytes, kind);
      LibraryAlgorithms library;
      const CollectiveAlgorithm& streamed = library.streamed(rails(), call);
      ASSERT_LT(streamed.steps(call), rails().steps(call));
      for (const int member : {0, 5, 23}) {
        const auto sent = sent_by(streamed, call, member);
        const auto by_rings = sent_by(rails(), call, member);
        ASSERT_EQ(sent.size(), by_rings.size());
        for (const auto& [peer, sum] : by_rings) {
          // Pieces of the rings differ by a byte; a message is rounded to the nearest byte.
          EXPECT_NEAR(static_cast<double>(sent.at(peer)), static_cast<double>(sum), 4.0 * rails().steps(call));
          if (bytes.count() % 96 == 0) {
            EXPECT_NEAR(static_cast<double>(sent.at(peer)), static_cast<double>(sum), streamed.steps(call) / 2.0);
          }
        }
      }
    }
  }
}

// A late member delays everyone, as in the rings, where everyone's data pass it.
TEST(StreamedRings, WaitForEveryMember) {
  const GroupLayout layout = make_block_layout(40, 8);
  const CollectiveCall call = call_on(layout, 4_KiB);
  LibraryAlgorithms library;
  const CollectiveAlgorithm& streamed = library.streamed(rails(), call);
  ASSERT_EQ(streamed.steps(call), 5 + 8 - 2);
  std::vector<std::set<int>> waited_for(40);  // by member, directly or not
  for (int member = 0; member < 40; ++member) waited_for[static_cast<std::size_t>(member)] = {member};
  CollectiveStep step;
  for (int index = 0; index < streamed.steps(call); ++index) {
    const auto before = waited_for;
    for (int member = 0; member < 40; ++member) {
      streamed.step(call, member, index, step);
      for (const CollectiveAwait& await : step.awaits) {
        const std::set<int>& of_peer = before[static_cast<std::size_t>(await.peer)];
        waited_for[static_cast<std::size_t>(member)].insert(of_peer.begin(), of_peer.end());
      }
    }
  }
  for (const std::set<int>& members : waited_for) EXPECT_EQ(members.size(), 40U);
}

// One ring through hosts of one member passes its pieces on by itself, and one host has no hops between hosts.
TEST(StreamedRings, AreOnlyRingsThatWaitForEachOther) {
  const GroupLayout hosts = make_block_layout(16, 1);
  const GroupLayout host = make_block_layout(8, 8);
  const GroupLayout both = make_block_layout(16, 8);
  LibraryAlgorithms library;
  const CollectiveAlgorithm& rings = library.rings({.algorithm = "ring", .channels = 2}, hosts);
  EXPECT_EQ(&library.streamed(rings, call_on(hosts, 64_KiB)), &rings);
  EXPECT_EQ(&library.streamed(rails(), call_on(both, 4_GiB)), &rails());
  EXPECT_NE(&library.streamed(rails(), call_on(both, 64_KiB)), &rails());
  EXPECT_EQ(library.streamed(rails(), call_on(both, 64_KiB)).name(), "rail_rings");
  for (const char* other : {"ring", "hierarchical", "double_tree"}) {
    EXPECT_EQ(&library.streamed(*find_algorithm(other), call_on(both, 64_KiB)), find_algorithm(other));
  }
  EXPECT_FALSE(is_streamed(*find_algorithm("ring"), call_on(host, 64_KiB)));
}

}  // namespace
}  // namespace ringwright::collectives::streamed_rings_test
