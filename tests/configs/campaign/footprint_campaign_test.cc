// The footprint, from which folding derives its classes, holds every flow of the run: in random scenarios each path
// that the run asks the router for is that of an edge. A flow without an edge can make links of different traffic one
// class, even where no time differs.
//
// RINGWRIGHT_CAMPAIGN and RINGWRIGHT_CAMPAIGN_FIRST as in folding_campaign_test.cc.
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/engine/engine.h"
#include "core/symmetry/footprint.h"
#include "tests/configs/campaign/random_scenario.h"
#include "tests/configs/played.h"

namespace ringwright::configs::footprint_campaign_test {
namespace {

using Flow = std::tuple<std::uint32_t, std::uint32_t, RouteKind, MessageNics, std::uint32_t>;

class RecordingRouter final : public Router {
 public:
  explicit RecordingRouter(const Router& router) : router_(router) {}

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    asked_.insert({query.from.value, query.to.value, query.route_kind, query.nics, query.label});
    return router_.route(query, hops);
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_.capacities(); }
  [[nodiscard]] const std::set<Flow>& asked() const { return asked_; }

 private:
  const Router& router_;
  mutable std::set<Flow> asked_;
};

std::set<Flow> flows_of_footprint(const Simulation& simulation) {
  const Footprint footprint = make_footprint(simulation.plan().graph, asked_by_run(simulation));
  std::set<Flow> flows;
  for (std::size_t rank = 0; rank < simulation.plan().graph.rank_count(); ++rank) {
    for (const Edge& edge : footprint.edges_of(RankId(rank))) {
      const EdgeKind& kind = footprint.kinds[edge.kind];
      if (!kind.starts_flow) continue;
      const bool down = kind.route_kind == RouteKind::kDownFromSwitch;
      const auto self = static_cast<std::uint32_t>(rank);
      flows.insert({down ? edge.peer.value : self, down ? self : edge.peer.value, kind.route_kind, kind.nics,
                    kind.label});
    }
  }
  // Of background traffic on which the job does not depend the footprint knows nothing.
  const TaskGraph& graph = simulation.plan().graph;
  const std::vector<bool> behind_job = background_behind_job(graph);
  for (std::uint32_t index = 0; index < behind_job.size(); ++index) {
    if (!behind_job[index]) continue;
    const BackgroundTransfer& transfer = graph.background[index];
    flows.insert({transfer.from.value, transfer.to.value, RouteKind::kWhole, MessageNics{}, background_label(index)});
  }
  return flows;
}

// The first flow of the run that the footprint lacks; empty: none.
std::string flow_without_edge(const Scenario& scenario) {
  const auto simulation = assemble(scenario, FoldMode::kNoFold);
  const RecordingRouter router(simulation->router());
  Engine engine;
  static_cast<void>(run_on(scenario, *simulation, router, engine));
  const std::set<Flow> known = flows_of_footprint(*simulation);
  for (const Flow& flow : router.asked()) {
    if (known.contains(flow)) continue;
    const auto& [from, to, kind, nics, label] = flow;
    return fmt::format("rank {} to {}, route kind {}, NICs {} {} {}, label {}", from, to, static_cast<int>(kind),
                       nics.out, nics.in, nics.relay, label);
  }
  return {};
}

TEST(FootprintCampaign, HoldsEveryFlowOfRandomScenarios) {
  const std::uint64_t first = campaign_number("RINGWRIGHT_CAMPAIGN_FIRST", 0);
  const std::uint64_t count = campaign_number("RINGWRIGHT_CAMPAIGN", 40);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = random_scenario(seed);
    const auto scenario = load_scenario_text("random.yaml", text, {});
    if (!scenario || !Simulation::assemble(*scenario, FoldMode::kNoFold)) continue;
    EXPECT_EQ(flow_without_edge(*scenario), "") << "seed " << seed << "\n" << text;
  }
}

// Found by seed 2648 of the folding campaign: messages into user buffers are stores of the sender, whatever path the
// library's kernels would take; their footprint had PXN.
TEST(FootprintCampaign, HoldsMessagesIntoUserBuffersBetweenRails) {
  const Scenario scenario = load(R"(
model: {num_layers: 2, hidden_size: 128, num_attention_heads: 4, ffn_hidden_size: 256, vocab_size: 1024, seq_length: 64}
training: {global_batch: 1}
parallel: {tp: 4, sequence_parallel: true, tp_comm_overlap: true}
cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 2, nic: {count: 2}}, fabric: {type: rail_optimized}}
collectives: {model: chunks, tuner: nccl}
)");
  EXPECT_EQ(flow_without_edge(scenario), "");
}

// The last byte of a message over another GPU's NIC (PXN) takes the path of all others.
TEST(FootprintCampaign, HoldsMessagesOverAnotherGpusNic) {
  const Scenario scenario = load(R"(
model: {num_layers: 2, hidden_size: 256, num_attention_heads: 8, ffn_hidden_size: 512, vocab_size: 1024, seq_length: 256}
training: {global_batch: 2}
parallel: {tp: 2, cp: 4, cp_comm_type: p2p}
cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4, nic: {count: 4}}, fabric: {type: rail_optimized}}
collectives: {model: chunks, tuner: nccl}
)");
  EXPECT_EQ(flow_without_edge(scenario), "");
}

}  // namespace
}  // namespace ringwright::configs::footprint_campaign_test
