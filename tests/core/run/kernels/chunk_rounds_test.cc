// A call takes exactly as long when the primitives that repeat are left out, whatever the algorithm.
#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "core/run/kernels/chunk_player.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"
#include "network_models/builtin.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/channel_doubles.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::chunk_rounds_test {
namespace {

using namespace ringwright::literals;

struct Played {
  Duration time;  // with what is left out
  Duration left_out;
};

enum class Rounds { kAll, kWithoutRepeated };

// On 32 ranks of four hosts.
Played play(const ChannelAlgorithm& algorithm, CollectivePlan plan, CollectiveSpec spec, Rounds rounds) {
  constexpr int kRanks = 32;
  TaskGraph graph;
  std::vector<int> all;
  for (int rank = 0; rank < kRanks; ++rank) all.push_back(rank);
  const DimensionId dp = test::add_dimension(graph, "dp", {all});
  test::ProgramBuilder program(graph, "all");
  program.collective(dp, spec.kind, spec.bytes, 1);
  program.run_on(all);
  test::place_ranks(graph, 8);
  const peers::ReferenceFabric fabric(
      {.gpus = kRanks, .hosts_per_pod = 2, .uplinks = 4, .rule = peers::RouteRule::kNodeMod});
  const test::AlwaysOnChannels chooser(algorithm, std::move(plan));
  const test::PlainRing steps;
  const test::AlwaysChoose unused(steps);
  const test::PlainCompute compute;
  const Folding folding = fold(graph, {unused, &chooser}, fabric);
  const auto folded = make_folded_router(fabric, folding);
  const auto flow = std::ranges::find(network_models::models(), "flow", &network_models::ModelEntry::name);
  Engine engine;
  const auto network = flow->make({.engine = engine, .router = *folded});
  const ChannelCosts constants = test::costs_of_each_kind();
  Played played;
  const ChannelInputs channels{.chooser = chooser,
                               .costs = constants,
                               .left_out = rounds == Rounds::kAll ? nullptr : &played.left_out};
  const RunResult run = execute({.engine = engine, .graph = graph, .classes = folding.ranks, .network = *network,
                                 .chooser = unused, .compute = compute, .channels = &channels});
  EXPECT_EQ(run.outcome, RunOutcome::kFinished) << render(run.stall);
  played.time = run.record.iteration_end.back().since_start() + played.left_out;
  return played;
}

class ChunkRounds : public testing::TestWithParam<CollectiveKind> {};

TEST_P(ChunkRounds, TakeAsLongWithoutThoseThatRepeat) {
  const GroupLayout layout = make_block_layout(32, 8);
  for (const ChannelAlgorithm* algorithm : collectives::channel_algorithms()) {
    for (const Protocol protocol : {Protocol::kLl, Protocol::kSimple}) {
      // They do not divide by 32 members or 6 channels.
      const CollectiveSpec spec{.kind = GetParam(), .bytes = Bytes(80'000'001)};
      const CollectivePlan plan{.algorithm = std::string(algorithm->name()), .protocol = protocol, .channels = 6};
      const CollectiveCall call{
          .kind = spec.kind, .bytes = spec.bytes, .layout = &layout, .dimension = DimensionId(0)};
      if (!algorithm->supports(call, plan)) continue;
      EXPECT_EQ(play(*algorithm, plan, spec, Rounds::kWithoutRepeated).time,
                play(*algorithm, plan, spec, Rounds::kAll).time)
          << algorithm->name() << " " << to_string(protocol);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChunkRounds,
                         testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                         CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast,
                                         CollectiveKind::kReduce, CollectiveKind::kAllToAll));

TEST(LoopsOfChunks, AreLeftOutOfALargeRing) {
  const auto ring = std::ranges::find(collectives::channel_algorithms(), "ring",
                                      [](const ChannelAlgorithm* algorithm) { return algorithm->name(); });
  const Played played = play(**ring, {.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 2},
                             {.kind = CollectiveKind::kAllReduce, .bytes = 8_GiB}, Rounds::kWithoutRepeated);
  EXPECT_GT(played.left_out * 10, played.time * 9);
}

}  // namespace
}  // namespace ringwright::chunk_rounds_test
