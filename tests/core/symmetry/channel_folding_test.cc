// Collectives on channels fold exactly: one rank of each class, and the same times for all.
#include <memory>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "collectives/msccl/plan_algorithm.h"
#include "core/base/random.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"
#include "network_models/builtin.h"
#include "network_models/topologies/clos/clos.h"
#include "tests/collectives/msccl/example_plans.h"
#include "tests/network_models/clos_orders.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/channel_doubles.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::channel_folding_test {
namespace {

using namespace ringwright::literals;
using peers::FabricShape;
using peers::ReferenceFabric;
using peers::RouteRule;

const network_models::ModelEntry& flow() {
  for (const auto& entry : network_models::models()) {
    if (entry.name == "flow") return entry;
  }
  ADD_FAILURE() << "no flow model";
  return network_models::models().front();
}

struct Played {
  std::vector<TimePoint> finished;  // by rank
  std::size_t classes = 0;
  std::uint64_t events = 0;
};

enum class Mode { kFolded, kUnfolded };

Played play(const TaskGraph& graph, const Router& router, Mode mode, const ChannelChooser& chooser) {
  EXPECT_EQ(check_task_graph(graph), "");
  const test::PlainRing steps;
  const test::AlwaysChoose unused(steps);
  const test::PlainCompute compute;
  Folding folding;
  std::unique_ptr<Router> folded_router;
  if (mode == Mode::kFolded) {
    folding = fold(graph, {unused, &chooser}, router);
    folded_router = make_folded_router(router, folding);
  } else {
    folding.ranks = identity_classes(graph.rank_count());
  }
  Engine engine;
  const auto network = flow().make({.engine = engine, .router = folded_router ? *folded_router : router});
  const ChannelCosts constants = test::costs_of_each_kind();
  const ChannelInputs channels{.chooser = chooser, .costs = constants};
  const RunResult result = execute({.engine = engine, .graph = graph, .classes = folding.ranks, .network = *network,
                                    .chooser = unused, .compute = compute, .channels = &channels});
  EXPECT_EQ(result.outcome, RunOutcome::kFinished) << render(result.stall);
  Played played{.classes = folding.ranks.count(), .events = engine.events_run()};
  for (const ClassId c : folding.ranks.class_of) played.finished.push_back(result.record.finished_at[c.index()]);
  return played;
}

TaskGraph one_call(CollectiveKind kind, Bytes bytes, int ranks) {
  TaskGraph graph;
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  const DimensionId dp = test::add_dimension(graph, "dp", {all});
  test::ProgramBuilder program(graph, "all");
  program.collective(dp, kind, bytes, 1);
  program.run_on(all);
  test::place_ranks(graph, 8);
  return graph;
}

FabricShape fabric_of(std::uint32_t gpus) {
  return {.gpus = gpus, .hosts_per_pod = 4, .uplinks = 4, .rule = RouteRule::kNodeMod};
}

class ChannelFolding : public testing::TestWithParam<CollectiveKind> {};

TEST_P(ChannelFolding, EveryAlgorithmKeepsTheTimesOfAllRanks) {
  const ReferenceFabric fabric(fabric_of(64));
  int played = 0;
  for (const ChannelAlgorithm* algorithm : collectives::channel_algorithms()) {
    for (const Protocol protocol : {Protocol::kLl, Protocol::kSimple}) {
      // 3 MB do not divide by 64 members or 6 channels.
      const TaskGraph graph = one_call(GetParam(), Bytes(3'000'001), 64);
      const CollectivePlan plan{.algorithm = std::string(algorithm->name()), .protocol = protocol, .channels = 6};
      const CollectiveCall call{.kind = GetParam(), .bytes = Bytes(3'000'001), .layout = &graph.layouts[0],
                                .dimension = DimensionId(0)};
      if (!algorithm->supports(call, plan)) continue;
      const test::AlwaysOnChannels chooser(*algorithm, plan);
      const Played folded = play(graph, fabric, Mode::kFolded, chooser);
      const Played unfolded = play(graph, fabric, Mode::kUnfolded, chooser);
      EXPECT_EQ(folded.finished, unfolded.finished) << algorithm->name() << " " << to_string(protocol);
      EXPECT_LE(folded.classes, 64U);
      ++played;
    }
  }
  EXPECT_GE(played, GetParam() == CollectiveKind::kAllToAll ? 0 : 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChannelFolding,
                         testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                         CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                         CollectiveKind::kBroadcast, CollectiveKind::kReduce));

std::size_t classes_of(std::string_view name, const CollectivePlan& plan, int ranks) {
  const ReferenceFabric fabric(fabric_of(static_cast<std::uint32_t>(ranks)));
  const TaskGraph graph = one_call(CollectiveKind::kAllReduce, 64_KiB, ranks);
  const ChannelAlgorithm* algorithm = collectives::find_channel_algorithm(name);
  const test::AlwaysOnChannels chooser(*algorithm, plan);
  const Played folded = play(graph, fabric, Mode::kFolded, chooser);
  EXPECT_EQ(folded.finished, play(graph, fabric, Mode::kUnfolded, chooser).finished) << name;
  return folded.classes;
}

// All hosts are identical, and every position of a host begins one of the kinds: one rank stands for all.
TEST(ChannelFolding, ARingWithAKindForEveryPositionFoldsToOneRank) {
  EXPECT_EQ(classes_of("ring", {.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 8}, 256), 1U);
}

// Four kinds enter at the positions 0, 2, 4 and 6.
TEST(ChannelFolding, ARingWithAKindForEverySecondPositionFoldsToTwoRanks) {
  EXPECT_EQ(classes_of("ring", {.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 4}, 256), 2U);
}

// The trees distinguish hosts, not the positions in them; the second tree is the first one's mirror image, but the pods
// (four hosts of 16) have the same layout under both.
TEST(ChannelFolding, TreesFoldToTheHostsOfHalfATree) {
  EXPECT_EQ(classes_of("tree", {.algorithm = "tree", .protocol = Protocol::kLl, .channels = 16}, 128), 8U);
  EXPECT_EQ(classes_of("nvls_tree", {.algorithm = "nvls_tree", .protocol = Protocol::kSimple, .channels = 2}, 128), 8U);
}

// Any number of hosts, GPUs of a host, channels and bytes.
TEST(ChannelFolding, RandomCallsKeepTheTimesOfAllRanks) {
  RandomStream random(7, "folding");
  const auto any = [&random](std::uint64_t least, std::uint64_t most) {
    return least + random.next_below(most - least + 1);
  };
  for (int round = 0; round < 40; ++round) {
    const int ranks = 8 * static_cast<int>(any(2, 9));
    const ReferenceFabric fabric(fabric_of(static_cast<std::uint32_t>(ranks)));
    const auto algorithms = collectives::channel_algorithms();
    const ChannelAlgorithm& algorithm = *algorithms[any(0, algorithms.size() - 1)];
    const CollectiveKind kind = algorithm.name() == "p2p" ? CollectiveKind::kAllToAll : CollectiveKind::kAllReduce;
    const TaskGraph graph = one_call(kind, Bytes(static_cast<std::int64_t>(any(1, 2'000'000))), ranks);
    const CollectivePlan plan{.algorithm = std::string(algorithm.name()),
                              .protocol = any(0, 1) == 0 ? Protocol::kLl : Protocol::kSimple,
                              .channels = static_cast<int>(any(1, 20))};
    const CollectiveCall call{.kind = kind, .bytes = graph.collectives[0].bytes, .layout = &graph.layouts[0]};
    if (!algorithm.supports(call, plan)) continue;
    const test::AlwaysOnChannels chooser(algorithm, plan);
    EXPECT_EQ(play(graph, fabric, Mode::kFolded, chooser).finished,
              play(graph, fabric, Mode::kUnfolded, chooser).finished)
        << algorithm.name() << " of " << call.bytes.count() << " bytes on " << ranks << " ranks, " << plan.channels
        << " channels";
  }
}

class PipesForMessages final : public ChannelChooser {
 public:
  [[nodiscard]] ChannelChoice choose(const CollectiveCall&) const override { return {}; }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    const Protocol protocol = call.leaves_host() ? Protocol::kSimple : Protocol::kLl;
    return {.algorithm = &collectives::channel_send(),
            .plan = {.algorithm = "send", .protocol = protocol, .channels = 2}};
  }
};

// Stages of 16 ranks: every rank of a stage sends to its counterpart in the next one.
TEST(ChannelFolding, MessagesKeepTheTimesOfAllRanks) {
  const ReferenceFabric fabric(fabric_of(64));
  TaskGraph graph;
  std::vector<std::vector<int>> lines(16);
  for (int rank = 0; rank < 64; ++rank) lines[static_cast<std::size_t>(rank % 16)].push_back(rank);
  const DimensionId pp = test::add_dimension(graph, "pp", lines);
  for (int stage = 0; stage < 4; ++stage) {
    test::ProgramBuilder program(graph, "stage");
    std::vector<std::uint32_t> received;
    if (stage > 0) received = {program.receive(pp, {.peer = stage - 1, .bytes = Bytes(3'000'001)})};
    if (stage < 3) program.send(pp, {.peer = stage + 1, .bytes = Bytes(3'000'001)}, 1, received);
    std::vector<int> ranks;
    for (int rank = 0; rank < 16; ++rank) ranks.push_back(16 * stage + rank);
    program.run_on(ranks);
  }
  test::place_ranks(graph, 8);
  const PipesForMessages chooser;
  const Played folded = play(graph, fabric, Mode::kFolded, chooser);
  EXPECT_EQ(folded.finished, play(graph, fabric, Mode::kUnfolded, chooser).finished);
  EXPECT_LE(folded.classes, 32U);  // the two hosts of a stage are identical
  EXPECT_GT(folded.finished[63], folded.finished[16]);
}

// PXN messages use other links than those of plain paths, and NICs of other GPUs.
TEST(ChannelFolding, ExchangesByTheReceiversRailKeepTheTimesOfAllRanks) {
  auto order = network_models::rail_order(16, 8, 4);
  order.leaf.oversubscription = 4.0;  // PXN messages stay below the leaf
  const network_models::Host host = network_models::simple_host(8, 8);
  const auto derived = network_models::derive_clos(order, host, 8);
  const network_models::Network network =
      network_models::build_clos({.host = host, .shape = derived.shape, .routing = {}});
  const TaskGraph graph = one_call(CollectiveKind::kAllToAll, 4_MiB, 64);
  std::vector<TimePoint> ends;
  for (const bool pxn : {false, true}) {
    const CollectivePlan plan{
        .algorithm = "p2p", .protocol = Protocol::kSimple, .channels = 4, .pxn = pxn};
    const test::AlwaysOnChannels chooser(*collectives::find_channel_algorithm("p2p"), plan);
    const Played folded = play(graph, *network.router, Mode::kFolded, chooser);
    EXPECT_EQ(folded.finished, play(graph, *network.router, Mode::kUnfolded, chooser).finished) << pxn;
    ends.push_back(folded.finished.front());
  }
  EXPECT_NE(ends[0], ends[1]);
}

// Rings that leave and enter hosts by one NIC (NCCL_CROSS_NIC=0) stay on their leaf: oversubscription does not matter.
TEST(ChannelFolding, RingsByTheNicsOfTheirPathsKeepTheTimesOfAllRanks) {
  CollectivePlan plan{.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 8, .paths = {{}}};
  for (int nic = 0; nic < 8; ++nic) {
    HostPath& path = plan.paths[0].emplace_back(HostPath{.order = {}, .in = nic, .out = nic, .relay = nic});
    for (int step = 0; step < 8; ++step) path.order.push_back((nic + 8 - step) % 8);
  }
  const test::AlwaysOnChannels chooser(*collectives::find_channel_algorithm("ring"), plan);
  const network_models::Host host = network_models::simple_host(8, 8);
  const TaskGraph graph = one_call(CollectiveKind::kAllReduce, 4_MiB, 32);
  std::vector<std::vector<TimePoint>> ends;
  for (const double oversubscription : {1.0, 4.0}) {
    auto order = network_models::rail_order(16, 8, 4);
    order.leaf.oversubscription = oversubscription;
    const auto derived = network_models::derive_clos(order, host, 4);
    const network_models::Network network =
        network_models::build_clos({.host = host, .shape = derived.shape, .routing = {}});
    const Played folded = play(graph, *network.router, Mode::kFolded, chooser);
    EXPECT_EQ(folded.finished, play(graph, *network.router, Mode::kUnfolded, chooser).finished) << oversubscription;
    EXPECT_EQ(folded.classes, 1U);
    ends.push_back(folded.finished);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

// Rings in both directions: GPUs 1 and 2 are each other's mirror image, but the root reads them by different blocks.
TEST(ChannelFolding, AReductionOverRingsOfBothDirectionsKeepsTheTimesOfAllRanks) {
  CollectivePlan plan{.algorithm = "ring", .protocol = Protocol::kSimple, .channels = 2, .paths = {{}}};
  plan.paths[0] = {HostPath{.order = {0, 1, 2}}, HostPath{.order = {0, 2, 1}}};
  const test::AlwaysOnChannels chooser(*collectives::find_channel_algorithm("ring"), plan);
  const ReferenceFabric fabric(fabric_of(8));
  for (const CollectiveKind kind : {CollectiveKind::kReduce, CollectiveKind::kBroadcast}) {
    const TaskGraph graph = one_call(kind, 4_MiB, 3);
    const Played folded = play(graph, fabric, Mode::kFolded, chooser);
    EXPECT_EQ(folded.finished, play(graph, fabric, Mode::kUnfolded, chooser).finished);
    EXPECT_EQ(folded.classes, 3U);
  }
}

// Every GPU sends to the one two positions further in the next host, as nccl-tests' sendrecv does where hosts are full.
TEST(ChannelFolding, MessagesByTheReceiversRailKeepTheTimesOfAllRanks) {
  class Relayed final : public ChannelChooser {
   public:
    explicit Relayed(bool pxn) : pxn_(pxn) {}
    [[nodiscard]] ChannelChoice choose(const CollectiveCall&) const override { return {}; }
    [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
      CollectivePlan plan{
          .algorithm = "send", .protocol = Protocol::kSimple, .channels = 2, .pxn = pxn_};
      plan.pxn = message_route_kind(*call.layout, plan, call.from, call.to) == RouteKind::kPxn;
      return {.algorithm = &collectives::channel_send(), .plan = plan};
    }

   private:
    bool pxn_;
  };
  auto order = network_models::rail_order(16, 8, 4);
  order.leaf.oversubscription = 4.0;  // PXN messages stay below the leaf
  const network_models::Host host = network_models::simple_host(8, 8);
  const auto derived = network_models::derive_clos(order, host, 8);
  const network_models::Network network =
      network_models::build_clos({.host = host, .shape = derived.shape, .routing = {}});
  TaskGraph graph;
  std::vector<int> all(64);
  std::iota(all.begin(), all.end(), 0);
  const DimensionId world = test::add_dimension(graph, "world", {all});
  test::ProgramBuilder program(graph, "all");
  program.send(world, {.peer = 10, .bytes = 4_MiB, .relative = true}, 1, {});
  program.receive(world, {.peer = 54, .bytes = 4_MiB, .relative = true}, {}, 2);
  program.run_on(all);
  test::place_ranks(graph, 8);
  std::vector<TimePoint> ends;
  for (const bool pxn : {false, true}) {
    const Relayed chooser(pxn);
    const Played folded = play(graph, *network.router, Mode::kFolded, chooser);
    EXPECT_EQ(folded.finished, play(graph, *network.router, Mode::kUnfolded, chooser).finished) << pxn;
    EXPECT_LT(folded.classes, 64U);
    ends.push_back(folded.finished.front());
  }
  EXPECT_NE(ends[0], ends[1]);
}

// Plans of MSCCL++ distinguish the members of a group, but groups with the same layout are simulated once.
TEST(ChannelFolding, ExecutionPlansKeepTheTimesOfAllRanks) {
  const ReferenceFabric fabric(fabric_of(64));
  struct Case {
    std::string text;
    CollectiveKind kind;
    bool inside;
  };
  for (const Case& c : {Case{collectives::read_all_plan(8), CollectiveKind::kAllReduce, true},
                        Case{collectives::port_plan(8), CollectiveKind::kAllGather, false}}) {
    auto plan = collectives::parse_execution_plan(c.text, "p.json");
    ASSERT_TRUE(plan.has_value());
    const collectives::PlanAlgorithm algorithm(std::move(*plan));
    TaskGraph graph;
    std::vector<std::vector<int>> groups(8);
    for (int rank = 0; rank < 64; ++rank)
      groups[static_cast<std::size_t>(c.inside ? rank / 8 : rank % 8)].push_back(rank);
    const DimensionId tp = test::add_dimension(graph, "tp", groups);
    test::ProgramBuilder program(graph, "all");
    program.collective(tp, c.kind, 1_MiB, 1);
    std::vector<int> all(64);
    std::iota(all.begin(), all.end(), 0);
    program.run_on(all);
    test::place_ranks(graph, 8);
    const test::AlwaysOnChannels chooser(algorithm, algorithm.plan());
    const Played folded = play(graph, fabric, Mode::kFolded, chooser);
    EXPECT_EQ(folded.finished, play(graph, fabric, Mode::kUnfolded, chooser).finished);
    EXPECT_LE(folded.classes, 8U);
  }
}

}  // namespace
}  // namespace ringwright::channel_folding_test
