// Folded and unfolded runs of one training step agree to the picosecond when links fail, recover and degrade.
#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"
#include "network_models/builtin.h"
#include "network_models/flow/fault_player.h"
#include "network_models/topologies/clos/clos.h"
#include "network_models/topologies/fault_schedule.h"
#include "network_models/topologies/faulty_router.h"
#include "tests/network_models/clos_orders.h"
#include "tests/support/doubles.h"
#include "tests/support/reference_step.h"

namespace ringwright::fault_folding_test {
namespace {

using namespace ringwright::literals;
using network_models::FaultSchedule;
using network_models::FaultyRouter;
using network_models::LinkFault;
using network_models::RoutingPolicy;

const CollectiveAlgorithm& ring() {
  for (const CollectiveAlgorithm* algorithm : collectives::algorithms()) {
    if (algorithm->name() == "ring") return *algorithm;
  }
  ADD_FAILURE() << "no ring";
  return *collectives::algorithms().front();
}

// 128 GPUs: 16 hosts of 8 GPUs and 8 rails, groups of 4 hosts, leaves of 4 cables and 4 uplinks.
enum class Tor { kSingle, kDual };
network_models::Network cluster(RoutingPolicy policy = RoutingPolicy::kStatic, Tor tor = Tor::kSingle) {
  const network_models::Host host = network_models::simple_host(8, 8);
  network_models::ClosOrder order = network_models::rail_order(64, 8, 4);
  order.dual_tor = tor == Tor::kDual;
  const auto derived = network_models::derive_clos(order, host, 16);
  EXPECT_TRUE(derived.problems.empty());
  return network_models::build_clos({.host = host, .shape = derived.shape, .routing = {.policy = policy}});
}

// 4 stages of 4 replicas, a stage on each group of hosts: activations cross the spines, on four uplinks a leaf.
TaskGraph step() {
  return test::make_reference_step({.stages = 4, .replicas = 4, .microbatches = 3, .activation = Bytes(40'000'000),
                                    .gradient = Bytes(40'000'000), .forward = 1_ms, .backward = 2_ms});
}

std::vector<LinkId> links_from(const network_models::Network& network, NodeKind from, NodeKind to) {
  std::vector<LinkId> links;
  for (std::size_t i = 0; i < network.fabric.link_count(); ++i) {
    const LinkSpec& link = network.fabric.link(LinkId(i));
    if (network.fabric.node(link.from).kind == from && network.fabric.node(link.to).kind == to) links.emplace_back(i);
  }
  return links;
}

struct Played {
  std::vector<TimePoint> finished;  // by rank
  std::size_t classes = 0;
  TimePoint end;
  RunOutcome outcome = RunOutcome::kFinished;
};

enum class Mode { kFolded, kUnfolded };

Played play(const TaskGraph& graph, const network_models::Network& network, const std::vector<LinkFault>& faults,
            Mode mode) {
  const test::AlwaysChoose chooser(ring());
  const test::PlainCompute compute;
  const FaultSchedule schedule(faults, network.fabric.link_count());
  FaultyRouter faulty(*network.router, schedule);
  Folding folding;
  std::unique_ptr<Router> folded_router;
  if (mode == Mode::kFolded) {
    std::vector<FaultyRouter> routers;
    for (std::uint32_t epoch = 1; epoch < schedule.epoch_count(); ++epoch) {
      routers.emplace_back(*network.router, schedule, epoch);
    }
    NetworkChanges changes{.epochs = {}, .link_colours = schedule.link_colours()};
    for (const FaultyRouter& epoch : routers) changes.epochs.push_back(&epoch);
    folding = fold(graph, chooser, *network.router, changes);
    folded_router = make_folded_router(faulty, folding);
  } else {
    folding.ranks = identity_classes(graph.rank_count());
  }
  const Router& router = folded_router ? *folded_router : faulty;
  Engine engine;
  const auto model = network_models::models().front().make({.engine = engine, .router = router});
  network_models::FaultPlayer player({.engine = engine, .schedule = schedule, .router = faulty, .network = *model,
                                      .capacities = router.capacities(), .link_class_of = folding.links.class_of});
  player.schedule();
  const RunResult result = execute({.engine = engine, .graph = graph, .classes = folding.ranks, .network = *model,
                                    .chooser = chooser, .compute = compute});
  Played played{.finished = {}, .classes = folding.ranks.count(), .end = {}, .outcome = result.outcome};
  if (result.outcome != RunOutcome::kFinished) return played;
  for (const ClassId c : folding.ranks.class_of) {
    played.finished.push_back(result.record.finished_at[c.index()]);
    played.end = std::max(played.end, played.finished.back());
  }
  return played;
}

// Folds and does not fold; expects the same, a run longer than the healthy one, and that folding still saves work.
void expect_exact_and_slower(const TaskGraph& graph, const network_models::Network& network,
                             const std::vector<LinkFault>& faults) {
  const Played folded = play(graph, network, faults, Mode::kFolded);
  const Played unfolded = play(graph, network, faults, Mode::kUnfolded);
  const Played healthy = play(graph, network, {}, Mode::kFolded);
  ASSERT_EQ(folded.outcome, RunOutcome::kFinished);
  ASSERT_EQ(unfolded.outcome, RunOutcome::kFinished);
  EXPECT_EQ(folded.finished, unfolded.finished);
  EXPECT_GT(folded.end, healthy.end);
  EXPECT_LT(folded.classes, unfolded.classes);
}

TEST(FaultFolding, ADeadUplinkFromTheStart) {
  const TaskGraph graph = step();
  for (const RoutingPolicy policy : {RoutingPolicy::kStatic, RoutingPolicy::kSpray}) {
    const network_models::Network network = cluster(policy);
    const LinkId uplink = links_from(network, NodeKind::kLeaf, NodeKind::kSpine).front();
    expect_exact_and_slower(graph, network, {{.link = uplink, .at = TimePoint()}});
  }
}

TEST(FaultFolding, ANicThatWeakensInTheMiddle) {
  const TaskGraph graph = step();
  const network_models::Network network = cluster();
  const LinkId cable = links_from(network, NodeKind::kNic, NodeKind::kLeaf)[3];
  const TimePoint middle(play(graph, network, {}, Mode::kFolded).end.since_start() / 2);
  expect_exact_and_slower(graph, network, {{.link = cable, .at = middle, .factor = 0.25}});
}

// Down and up again while activations flow, so that the path is left and taken again.
TEST(FaultFolding, ALinkThatGoesDownAndComesBack) {
  const TaskGraph graph = step();
  const network_models::Network network = cluster();
  const Duration whole = play(graph, network, {}, Mode::kFolded).end.since_start();
  int slower = 0;
  for (const LinkId uplink : links_from(network, NodeKind::kLeaf, NodeKind::kSpine)) {
    if (uplink.value % 16 != 0) continue;
    const std::vector<LinkFault> faults = {
        {.link = uplink, .at = TimePoint(scale(whole, 0.11)), .until = TimePoint(scale(whole, 0.43))}};
    const Played folded = play(graph, network, faults, Mode::kFolded);
    EXPECT_EQ(folded.finished, play(graph, network, faults, Mode::kUnfolded).finished) << network.fabric.name(uplink);
    if (folded.end > TimePoint(whole)) ++slower;
  }
  EXPECT_GT(slower, 0);
}

// A cable without a second path: its flows wait until it is back.
TEST(FaultFolding, ACableThatIsOutForAWhileDelaysTheStep) {
  const TaskGraph graph = step();
  const network_models::Network network = cluster();
  const LinkId cable = links_from(network, NodeKind::kNic, NodeKind::kLeaf).front();
  const Duration whole = play(graph, network, {}, Mode::kFolded).end.since_start();
  expect_exact_and_slower(graph, network, {{.link = cable, .at = TimePoint(whole / 2), .until = TimePoint(whole * 2)}});
}

TEST(FaultFolding, OneSlowHostTogetherWithADeadUplink) {
  TaskGraph graph = step();
  graph.compute_slowdown.assign(graph.rank_count(), 1.0);
  for (std::size_t rank = 40; rank < 48; ++rank) graph.compute_slowdown[rank] = 1.0 / 0.85;
  const network_models::Network network = cluster();
  const LinkId uplink = links_from(network, NodeKind::kLeaf, NodeKind::kSpine).front();
  expect_exact_and_slower(graph, network, {{.link = uplink, .at = TimePoint()}});
}

TEST(FaultFolding, ACableThatStaysDownStallsTheRun) {
  const TaskGraph graph = step();
  const network_models::Network network = cluster();
  const LinkId cable = links_from(network, NodeKind::kNic, NodeKind::kLeaf).front();
  for (const Mode mode : {Mode::kFolded, Mode::kUnfolded}) {
    EXPECT_EQ(play(graph, network, {{.link = cable, .at = TimePoint(1_ms)}}, mode).outcome, RunOutcome::kStalled);
  }
}

// With dual ToR a leaf that dies and comes back, and a port that dies for good, halve NICs and stall nothing.
TEST(FaultFolding, ALeafOfADualTorPairAndAPort) {
  const TaskGraph graph = step();
  for (const RoutingPolicy policy : {RoutingPolicy::kStatic, RoutingPolicy::kEcmp, RoutingPolicy::kSpray}) {
    const network_models::Network network = cluster(policy, Tor::kDual);
    const Duration whole = play(graph, network, {}, Mode::kFolded).end.since_start();
    int slower = 0;
    for (const std::string_view dead : {"leaf0.0", "leaf1.3", "host5/nic0"}) {
      std::vector<LinkFault> faults;
      for (std::size_t i = 0; i < network.fabric.link_count(); ++i) {
        const LinkSpec& link = network.fabric.link(LinkId(i));
        const bool is_cable = network.fabric.node(link.from).kind == NodeKind::kLeaf ||
                              network.fabric.node(link.to).kind == NodeKind::kLeaf;
        if (!is_cable || (network.fabric.name(link.from) != dead && network.fabric.name(link.to) != dead)) continue;
        const bool one_of_two = dead == "host5/nic0" && faults.size() >= 2;
        if (!one_of_two) faults.push_back({.link = LinkId(i), .at = TimePoint(whole / 9), .reroute_after = 100_us});
      }
      const Played folded = play(graph, network, faults, Mode::kFolded);
      ASSERT_EQ(folded.outcome, RunOutcome::kFinished) << dead;
      EXPECT_EQ(folded.finished, play(graph, network, faults, Mode::kUnfolded).finished) << dead;
      if (folded.end > TimePoint(whole)) ++slower;
    }
    EXPECT_GT(slower, 0);
  }
}

// A fault of an unused link splits only the link's own class.
TEST(FaultFolding, AFaultOfAnUnusedLinkCostsNoClass) {
  const TaskGraph graph = step();
  const network_models::Network network = cluster();
  const LinkId unused = links_from(network, NodeKind::kRootComplex, NodeKind::kHostMemory).front();
  const Played played = play(graph, network, {{.link = unused, .at = TimePoint()}}, Mode::kFolded);
  EXPECT_EQ(played.classes, play(graph, network, {}, Mode::kFolded).classes);
}

}  // namespace
}  // namespace ringwright::fault_folding_test
