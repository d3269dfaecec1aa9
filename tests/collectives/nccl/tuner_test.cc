// The tuner as a port: results are cached, and algorithms of steps stand for NCCL's.
#include "collectives/nccl/tuner.h"

#include <gtest/gtest.h>

#include "collectives/channel_chooser.h"
#include "collectives/chooser.h"
#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::tuner_test {
namespace {

using namespace ringwright::literals;

TEST(NcclTuner, AnswersAsTheSelectorDoesEveryTime) {
  const NcclTuner tuner(setup_of(dgx_h100()));
  const GroupLayout layout = make_block_layout(16, 8);
  for (const Bytes bytes : {1_KiB, 1_MiB, 1_GiB, 1_KiB}) {
    const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = bytes, .layout = &layout};
    EXPECT_EQ(tuner.plan(call), tuner.selector().plan(call));
    EXPECT_EQ(tuner.plan(call), tuner.plan(call));
  }
}

std::string_view in_steps(std::string algorithm, int ranks, int per_host,
                          CollectiveKind kind = CollectiveKind::kAllReduce, int channels = 16,
                          Bytes bytes = 64_MiB) {
  const GroupLayout layout = make_block_layout(ranks, per_host);
  const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout};
  LibraryAlgorithms library;  // names outlive the algorithms that it makes
  return nearest_in_steps({.algorithm = std::move(algorithm), .channels = channels}, call, library).name();
}

TEST(NearestInSteps, NamesWhatSendsTheSameBytes) {
  EXPECT_EQ(in_steps("ring", 8, 8), "ring");
  EXPECT_EQ(in_steps("ring", 16, 8), "rail_rings");
  EXPECT_EQ(in_steps("tree", 64, 8), "double_tree");
  EXPECT_EQ(in_steps("ring", 16, 8, CollectiveKind::kAllReduce, 2), "rings");  // two NICs of eight
  EXPECT_EQ(in_steps("tree", 64, 8, CollectiveKind::kAllReduce, 2), "trees");
  EXPECT_EQ(in_steps("ring", 16, 8, CollectiveKind::kBroadcast), "rings");  // chains by all NICs
  // Small calls get few channels, and their cost is kernel latency: all members do the same.
  EXPECT_EQ(in_steps("ring", 16, 8, CollectiveKind::kAllReduce, 2, 1_MiB), "rail_rings");
  EXPECT_EQ(in_steps("tree", 64, 8, CollectiveKind::kAllReduce, 2, 8_KiB), "recursive_multiplying");
  EXPECT_EQ(in_steps("tree", 8, 8, CollectiveKind::kAllReduce, 2, 8_KiB), "ring");
  EXPECT_EQ(in_steps("nvls", 8, 8), "in_switch");
  EXPECT_EQ(in_steps("nvls_tree", 64, 8), "nvls_tree");
  EXPECT_EQ(in_steps("all_pairs", 8, 8), "all_pairs");  // RCCL's, over all links of a mesh
  EXPECT_EQ(in_steps("pat", 8, 1, CollectiveKind::kAllGather), "halving_doubling");
  EXPECT_EQ(in_steps("p2p", 16, 8, CollectiveKind::kAllToAll), "direct");
  EXPECT_EQ(in_steps("p2p", 512, 8, CollectiveKind::kAllToAll), "scattered");
}

// Every choice of NCCL has an algorithm of steps.
TEST(NearestInSteps, SupportsEveryChoice) {
  for (const char* name : {"ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain", "pat", "p2p",
                           "all_pairs"}) {
    for (const int ranks : {2, 3, 7, 8, 24}) {
      for (const int per_host : {1, 3, 8}) {
        for (const auto kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
          if (std::string_view(name) != "p2p") {
            EXPECT_FALSE(in_steps(name, ranks, per_host, kind).empty());
          }
        }
      }
    }
  }
}

TEST(NcclTuner, ChoosesForStepsWhereTheUserWantsIt) {
  const NcclTuner tuner(setup_of(dgx_a100()));
  const GroupLayout layout = make_block_layout(64, 8);
  const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 64_KiB, .layout = &layout};
  const PlannedChooser library(tuner);
  const SimpleChooser by_nccl({.tuner = Tuner::kNccl}, {.library = &library});
  EXPECT_EQ(tuner.plan(call).algorithm, "tree");
  EXPECT_EQ(by_nccl.choose(call).name(), "double_tree");
  const SimpleChooser by_rule({}, {.library = &library});
  EXPECT_EQ(by_rule.choose({.kind = CollectiveKind::kAllReduce, .bytes = 1_KiB, .layout = &layout}).name(),
            "recursive_multiplying");
}

}  // namespace
}  // namespace ringwright::collectives::tuner_test
