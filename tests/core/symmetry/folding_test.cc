#include "core/symmetry/folding.h"

#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "core/run/step/executor.h"
#include "network_models/builtin.h"
#include "tests/peers/flow/reference_fabric.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"
#include "tests/support/reference_step.h"

namespace ringwright::folding_test {
namespace {

using namespace ringwright::literals;
using peers::FabricShape;
using peers::ReferenceFabric;
using peers::RouteRule;

const CollectiveAlgorithm& ring() {
  for (const CollectiveAlgorithm* algorithm : collectives::algorithms()) {
    if (algorithm->name() == "ring") return *algorithm;
  }
  ADD_FAILURE() << "no ring";
  return *collectives::algorithms().front();
}

const network_models::ModelEntry& model(std::string_view name) {
  for (const auto& entry : network_models::models()) {
    if (entry.name == name) return entry;
  }
  ADD_FAILURE() << "no model " << name;
  return network_models::models().front();
}

struct Played {
  std::vector<TimePoint> finished;  // by rank
  TimePoint end;
  std::size_t rank_classes = 0;
  std::size_t link_classes = 0;
};

enum class Mode { kFolded, kUnfolded };

Played play(const TaskGraph& graph, const Router& router, Mode mode, const CollectiveAlgorithm& algorithm = ring(),
            std::string_view network_name = "flow") {
  EXPECT_EQ(check_task_graph(graph), "");
  const test::AlwaysChoose chooser(algorithm);
  const test::PlainCompute compute;
  Folding folding;
  std::unique_ptr<Router> folded_router;
  if (mode == Mode::kFolded) {
    folding = fold(graph, chooser, router);
    folded_router = make_folded_router(router, folding);
  } else {
    folding.ranks = identity_classes(graph.rank_count());
  }
  Engine engine;
  const auto network =
      model(network_name).make({.engine = engine, .router = mode == Mode::kFolded ? *folded_router : router});
  const RunResult result = execute({.engine = engine, .graph = graph, .classes = folding.ranks, .network = *network,
                                    .chooser = chooser, .compute = compute});
  EXPECT_EQ(result.outcome, RunOutcome::kFinished) << render(result.stall);
  Played played;
  for (const ClassId c : folding.ranks.class_of) {
    played.finished.push_back(result.record.finished_at[c.index()]);
    played.end = std::max(played.end, played.finished.back());
  }
  played.rank_classes = folding.ranks.count();
  played.link_classes = folding.links.size.size();
  return played;
}

test::ReferenceStep step_512() {
  return {.stages = 4, .replicas = 16, .microbatches = 8, .activation = Bytes(16777216),
          .gradient = Bytes(270'000'000), .forward = 2_ms, .backward = 4_ms};
}
FabricShape fabric_512() {
  return {.gpus = 512, .hosts_per_pod = 4, .uplinks = 2, .pods_per_superpod = 2, .core_uplinks = 4,
          .rule = RouteRule::kDModK};
}
test::ReferenceStep step_2048() {
  return {.stages = 8, .replicas = 32, .microbatches = 16, .activation = Bytes(16777216),
          .gradient = Bytes(270'532'608), .forward = 2_ms, .backward = 4_ms};
}
FabricShape fabric_2048(RouteRule rule) {
  return {.gpus = 2048, .hosts_per_pod = 16, .uplinks = 8, .pods_per_superpod = 4, .core_uplinks = 16, .rule = rule};
}

// Times of tests/peers/flow/training-step-cases.csv, exact to a picosecond for structured routes.
TEST(Folding, AStepOf512GpusFoldsInto32ClassesAndKeepsItsTime) {
  const TaskGraph graph = test::make_reference_step(step_512());
  const ReferenceFabric fabric(fabric_512());
  const Played folded = play(graph, fabric, Mode::kFolded);
  const Played unfolded = play(graph, fabric, Mode::kUnfolded);
  EXPECT_EQ(folded.rank_classes, 32U);
  EXPECT_NEAR(to_seconds(unfolded.end.since_start()), 0.12359507872, 0.12359507872e-9);
  EXPECT_EQ(folded.finished, unfolded.finished);
}

TEST(Folding, AStepOf2048GpusKeepsItsTimeUnderBothStaticRules) {
  const TaskGraph graph = test::make_reference_step(step_2048());
  const ReferenceFabric d_mod_k(fabric_2048(RouteRule::kDModK));
  const Played folded = play(graph, d_mod_k, Mode::kFolded);
  EXPECT_EQ(folded.rank_classes, 128U);
  EXPECT_NEAR(to_seconds(folded.end.since_start()), 0.17706080864, 0.17706080864e-9);
  const ReferenceFabric node_mod(fabric_2048(RouteRule::kNodeMod));
  EXPECT_EQ(play(graph, node_mod, Mode::kFolded).finished, play(graph, node_mod, Mode::kUnfolded).finished);
}

TEST(Folding, AStragglerHostRefinesThePartitionAndNothingElse) {
  TaskGraph graph = test::make_reference_step(step_512());
  graph.compute_slowdown.assign(graph.rank_count(), 1.0);
  for (std::size_t rank = 40; rank < 48; ++rank) graph.compute_slowdown[rank] = 1.05;
  const ReferenceFabric fabric(fabric_512());
  const Played folded = play(graph, fabric, Mode::kFolded);
  const Played unfolded = play(graph, fabric, Mode::kUnfolded);
  EXPECT_LT(folded.rank_classes, unfolded.rank_classes);
  EXPECT_EQ(folded.finished, unfolded.finished);
}

// A fabric with one slower link, by wrapping the reference one.
class WeakLink final : public Router {
 public:
  WeakLink(const Router& router, LinkId weak) : router_(router) {
    capacities_.assign(router.capacities().begin(), router.capacities().end());
    capacities_[weak.index()] = capacities_[weak.index()] / 2.0;
  }
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override { return router_.route(query, hops); }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  const Router& router_;
  std::vector<Bandwidth> capacities_;
};

TEST(Folding, ADegradedLinkRefinesThePartitionAndNothingElse) {
  const TaskGraph graph = test::make_reference_step(step_512());
  const ReferenceFabric fabric(fabric_512());
  const WeakLink degraded(fabric, LinkId(2 * 512 + 77));  // the NIC of GPU 77, outwards
  const Played folded = play(graph, degraded, Mode::kFolded);
  const Played unfolded = play(graph, degraded, Mode::kUnfolded);
  EXPECT_EQ(folded.finished, unfolded.finished);
  EXPECT_GT(unfolded.end, TimePoint(from_seconds(0.1235951)));
}

TEST(Folding, RandomRoutesDoNotFoldAndAreStillRight) {
  const TaskGraph graph = test::make_reference_step(step_512());
  FabricShape shape = fabric_512();
  shape.rule = RouteRule::kHash;
  const ReferenceFabric fabric(shape);
  const Played folded = play(graph, fabric, Mode::kFolded);
  const Played unfolded = play(graph, fabric, Mode::kUnfolded);
  EXPECT_GT(folded.rank_classes, 256U);
  EXPECT_NEAR(to_seconds(folded.end.since_start()), to_seconds(unfolded.end.since_start()), 1e-6);
}

// Eight hosts below the same leaves are interchangeable: renaming them only permutes the results.
TaskGraph renamed_job(const std::vector<int>& new_host) {
  const auto renamed = [&new_host](int rank) { return new_host[static_cast<std::size_t>(rank / 8)] * 8 + rank % 8; };
  TaskGraph graph;
  std::vector<std::vector<int>> groups;
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (const int first_host : {0, 4}) {
      groups.emplace_back();
      for (int host = first_host; host < first_host + 4; ++host) groups.back().push_back(renamed(host * 8 + gpu));
    }
  }
  const DimensionId dp = test::add_dimension(graph, "dp", groups);
  for (int host = 0; host < 8; ++host) {
    test::ProgramBuilder program(graph, "host " + std::to_string(host));
    const auto work = program.compute(Duration(1'000'000 * (1 + host)));
    program.collective(dp, CollectiveKind::kAllReduce, 16_MiB, 1, {work});
    std::vector<int> ranks;
    for (int gpu = 0; gpu < 8; ++gpu) ranks.push_back(renamed(host * 8 + gpu));
    program.run_on(ranks);
  }
  test::place_ranks(graph, 8);
  return graph;
}

TEST(Folding, NamesOfRanksDoNotMatter) {
  const ReferenceFabric fabric({.gpus = 64, .hosts_per_pod = 8, .uplinks = 1, .rule = RouteRule::kNodeMod});
  const std::vector<int> swapped = {5, 2, 7, 0, 3, 6, 1, 4};
  const Played plain = play(renamed_job({0, 1, 2, 3, 4, 5, 6, 7}), fabric, Mode::kFolded);
  for (const Mode mode : {Mode::kFolded, Mode::kUnfolded}) {
    const Played other = play(renamed_job(swapped), fabric, mode);
    for (std::size_t rank = 0; rank < 64; ++rank) {
      const auto new_rank = static_cast<std::size_t>(swapped[rank / 8]) * 8 + rank % 8;
      EXPECT_EQ(other.finished[new_rank], plain.finished[rank]) << rank;
    }
  }
  EXPECT_GT(std::set<TimePoint>(plain.finished.begin(), plain.finished.end()).size(),
            1U);  // late hosts delay their rings
}

// Every rank forwards to the next: one class stands for both ends of every message.
TEST(Folding, ARingOfRelativePeersIsOneClass) {
  const ReferenceFabric fabric(FabricShape{.gpus = 8});
  TaskGraph graph;
  const DimensionId tp = test::add_dimension(graph, "tp", {{0, 1, 2, 3, 4, 5, 6, 7}});
  test::ProgramBuilder program(graph, "all");
  std::uint32_t came = program.compute(3_us);
  for (int step = 0; step < 3; ++step) {
    program.send(tp, {.peer = 1, .bytes = Bytes(1'000'000), .relative = true}, 1, {came});
    came = program.receive(tp, {.peer = 7, .bytes = Bytes(1'000'000), .relative = true});
    program.compute(2_us, {came});
  }
  program.run_on({0, 1, 2, 3, 4, 5, 6, 7});
  test::place_ranks(graph, 8);
  const Played folded = play(graph, fabric, Mode::kFolded);
  const Played whole = play(graph, fabric, Mode::kUnfolded);
  EXPECT_EQ(folded.rank_classes, 1U);
  EXPECT_EQ(folded.finished, whole.finished);
}

TEST(Folding, ReportsWhyLittleWasFolded) {
  const TaskGraph graph = test::make_reference_step(step_512());
  const test::AlwaysChoose chooser(ring());
  FabricShape shape = fabric_512();
  EXPECT_EQ(why_little_folded(fold(graph, chooser, ReferenceFabric(shape))), "");
  shape.rule = RouteRule::kHash;
  const Folding hashed = fold(graph, chooser, ReferenceFabric(shape));
  EXPECT_EQ(hashed.role_classes, 4U);  // one a stage
  EXPECT_EQ(why_little_folded(hashed).substr(0, 10), "the routes");
  TaskGraph apart = graph;
  for (std::size_t rank = 0; rank < 512; ++rank)
    apart.compute_slowdown.push_back(1.0 + 1e-3 * static_cast<double>(rank));
  EXPECT_EQ(why_little_folded(fold(apart, chooser, ReferenceFabric(fabric_512()))).substr(0, 10), "the tasks ");
}

TEST(Folding, OnWiresWithoutSharingMultiplicitiesDoNotCount) {
  const TaskGraph graph = test::make_reference_step(step_512());
  const ReferenceFabric fabric(fabric_512());
  EXPECT_EQ(play(graph, fabric, Mode::kFolded, ring(), "alpha_beta").finished,
            play(graph, fabric, Mode::kUnfolded, ring(), "alpha_beta").finished);
}

// Every algorithm, on groups across hosts, all-reducing concurrently.
TEST(Folding, EveryAllReduceAlgorithmFoldsExactly) {
  for (const CollectiveAlgorithm* algorithm : collectives::algorithms()) {
    TaskGraph graph;
    std::vector<std::vector<int>> groups(4);
    for (int rank = 0; rank < 64; ++rank) groups[static_cast<std::size_t>(rank / 2 % 4)].push_back(rank);
    const DimensionId dp = test::add_dimension(graph, "dp", groups);
    test::ProgramBuilder program(graph, "all");
    program.collective(dp, CollectiveKind::kAllReduce, 16_MiB, 1);
    std::vector<int> all;
    for (int rank = 0; rank < 64; ++rank) all.push_back(rank);
    program.run_on(all);
    test::place_ranks(graph, 8);
    const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 16_MiB, .layout = &graph.layouts[0],
                              .dimension = dp};
    if (!algorithm->supports(call)) continue;
    const ReferenceFabric fabric({.gpus = 64, .hosts_per_pod = 2, .uplinks = 1, .rule = RouteRule::kNodeMod});
    const Played folded = play(graph, fabric, Mode::kFolded, *algorithm);
    const Played unfolded = play(graph, fabric, Mode::kUnfolded, *algorithm);
    EXPECT_EQ(folded.finished, unfolded.finished) << algorithm->name();
  }
}

TEST(Folding, StepsThatWaitForEveryoneFoldExactly) {
  const test::PlainSwitch algorithm;
  TaskGraph graph;
  std::vector<std::vector<int>> groups;
  for (int host = 0; host < 4; ++host) {
    groups.emplace_back();
    for (int gpu = 0; gpu < 8; ++gpu) groups.back().push_back(host * 8 + gpu);
  }
  const DimensionId tp = test::add_dimension(graph, "tp", groups);
  test::ProgramBuilder program(graph, "all");
  program.collective(tp, CollectiveKind::kAllReduce, 1_MiB, 1);
  std::vector<int> all;
  for (int rank = 0; rank < 32; ++rank) all.push_back(rank);
  program.run_on(all);
  graph.compute_slowdown.assign(32, 1.0);
  graph.compute_slowdown[3] = 2.0;  // no compute, but it distinguishes rank 3's host
  test::place_ranks(graph, 8);
  const ReferenceFabric fabric({.gpus = 32, .hosts_per_pod = 2, .uplinks = 1, .rule = RouteRule::kNodeMod});
  // The reference fabric has no NVSwitch to cut at; its whole path works here too.
  const Played folded = play(graph, fabric, Mode::kFolded, algorithm);
  EXPECT_EQ(folded.finished, play(graph, fabric, Mode::kUnfolded, algorithm).finished);
}

}  // namespace
}  // namespace ringwright::folding_test
