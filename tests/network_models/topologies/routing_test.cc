#include "network_models/topologies/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "core/config/config_document.h"

namespace ringwright::network_models::routing_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::IsEmpty;

ConfigDocument document_of(const std::string& text) {
  auto document = ConfigDocument::load_text("fabric.yaml", text);
  if (!document) ADD_FAILURE() << render(document.error());
  return std::move(*document);
}

std::vector<std::string> messages(const ConfigDocument& document) {
  std::vector<std::string> result;
  for (const Diagnostic& d : document.log().diagnostics().all()) result.push_back(d.code + " " + d.message);
  return result;
}

Routing routing_of(const std::string& text) {
  ConfigDocument document = document_of(text);
  ConfigMap root = document.root();
  const Routing routing = read_routing(root);
  document.check_all_read();
  EXPECT_THAT(messages(document), IsEmpty());
  return routing;
}

TEST(Routing, IsStaticUnlessAskedOtherwise) {
  EXPECT_EQ(routing_of("routing: {}").policy, RoutingPolicy::kStatic);
}

TEST(Routing, KnowsItsPoliciesByName) {
  EXPECT_EQ(routing_of("routing: {policy: static}").policy, RoutingPolicy::kStatic);
  EXPECT_EQ(routing_of("routing: {policy: d_mod_k}").policy, RoutingPolicy::kDModK);
  EXPECT_EQ(routing_of("routing: {policy: spray}").policy, RoutingPolicy::kSpray);
  const Routing ecmp = routing_of("routing: {policy: ecmp, hash_seed: 42, queue_pairs: 4}");
  EXPECT_EQ(ecmp.policy, RoutingPolicy::kEcmp);
  EXPECT_EQ(ecmp.hash_seed, 42U);
  EXPECT_EQ(ecmp.queue_pairs, 4);
}

TEST(Routing, BoundsTheQueuePairs) {
  ConfigDocument document = document_of("routing: {policy: ecmp, queue_pairs: 65}");
  ConfigMap root = document.root();
  EXPECT_LE(read_routing(root).queue_pairs, kMaxQueuePairs);
  ASSERT_EQ(messages(document).size(), 1U);
  EXPECT_THAT(messages(document)[0], testing::StartsWith("E106"));
}

TEST(Routing, ListsAHashSeedAsIgnoredWhereNothingIsHashed) {
  ConfigDocument document = document_of("routing: {policy: static, hash_seed: 42}");
  ConfigMap root = document.root();
  (void)read_routing(root);
  document.check_all_read();
  EXPECT_THAT(messages(document), IsEmpty());
  ASSERT_EQ(document.log().ignored().size(), 1U);
  EXPECT_EQ(document.log().ignored()[0].path, "routing.hash_seed");
}

TEST(FabricLatency, TakesTheNodesNicUnlessTheFabricSetsIt) {
  ConfigDocument document = document_of("latency: {hop: 350ns, cable: 100ns}");
  ConfigMap root = document.root();
  const FabricLatency latency = read_latency(root, 600_ns);
  EXPECT_EQ(latency.nic, 600_ns);
  EXPECT_EQ(latency.hop, 350_ns);
  EXPECT_EQ(latency.cable, 100_ns);
  EXPECT_THAT(document.log().assumptions(), IsEmpty());
  ConfigDocument other = document_of("latency: {nic: 1us}");
  ConfigMap other_root = other.root();
  EXPECT_EQ(read_latency(other_root, 600_ns).nic, 1_us);
}

TEST(FabricLatency, AssumesAloud) {
  ConfigDocument document = document_of("latency: {nic: 1us}");
  ConfigMap root = document.root();
  (void)read_latency(root, 600_ns);
  std::vector<std::string> paths;
  for (const Assumption& assumption : document.log().assumptions()) paths.push_back(assumption.path);
  EXPECT_THAT(paths, ElementsAre("latency.hop", "latency.cable"));
}

TEST(FlowHash, DependsOnEveryFieldOfTheHeader) {
  const RouteQuery query{.from = RankId(3), .to = RankId(9), .label = 2};
  RouteQuery other_from = query;
  other_from.from = RankId(4);
  RouteQuery swapped = query;
  swapped.from = query.to;
  swapped.to = query.from;
  RouteQuery other_label = query;
  other_label.label = 3;
  const std::set<std::uint64_t> hashes = {flow_hash(query, 1, 0),   flow_hash(query, 2, 0),
                                          flow_hash(query, 1, 1),   flow_hash(other_from, 1, 0),
                                          flow_hash(swapped, 1, 0), flow_hash(other_label, 1, 0)};
  EXPECT_EQ(hashes.size(), 6U);
}

TEST(FlowHash, LeavesOutTheRouteKindSoThatBothHalvesTakeTheSamePath) {
  RouteQuery query{.from = RankId(3), .to = RankId(9)};
  const std::uint64_t whole = flow_hash(query, 1, 0);
  query.route_kind = RouteKind::kDownFromSwitch;
  EXPECT_EQ(flow_hash(query, 1, 0), whole);
}

// 80,000 draws into 8 bins: 10,000 each with a standard deviation of sqrt(80000 * 1/8 * 7/8) = 94.
TEST(FlowHash, FillsBinsEvenly) {
  std::array<int, 8> bins = {};
  for (std::uint32_t from = 0; from < 400; ++from) {
    for (std::uint32_t to = 0; to < 200; ++to) {
      const std::uint64_t hash = flow_hash({.from = RankId(from), .to = RankId(1000 + to)}, 7, 0);
      ++bins[pick(static_cast<std::uint32_t>(hash), 8)];
    }
  }
  for (const int count : bins) EXPECT_NEAR(count, 10'000, 5 * 94);
}

TEST(Pick, StaysBelowItsBound) {
  EXPECT_EQ(pick(0, 7), 0U);
  EXPECT_EQ(pick(0xFFFFFFFFU, 7), 6U);
  EXPECT_EQ(pick(0x80000000U, 2), 1U);
  EXPECT_EQ(pick(0x7FFFFFFFU, 2), 0U);
  EXPECT_EQ(pick(0xFFFFFFFFU, 1), 0U);
}

}  // namespace
}  // namespace ringwright::network_models::routing_test
