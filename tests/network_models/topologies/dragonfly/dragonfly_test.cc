#include "network_models/topologies/dragonfly/dragonfly.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/fabric/graph_analysis.h"
#include "tests/network_models/clos_orders.h"
#include "tests/network_models/cluster_text.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::dragonfly_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr FabricLatency kLatency{.nic = Duration(600'000), .hop = Duration(230'000), .cable = Duration(50'000)};

// Three groups of three switches with two hosts each.
DragonflyPlan small(std::uint32_t spines, DragonflyPaths paths = DragonflyPaths::kMinimal,
                    RoutingPolicy policy = RoutingPolicy::kStatic) {
  return {.host = simple_host(1, 1),
          .shape = {.hosts = 18,
                    .groups = 3,
                    .leaves = 3,
                    .spines = spines,
                    .per_switch = 2,
                    .global_links = 2,
                    .local_speed = Bandwidth(25e9),
                    .global_speed = Bandwidth(25e9),
                    .latency = kLatency,
                    .global_cable = Duration(500'000)},
          .routing = {.paths = paths, .minimal_share = 0.25, .among = {.policy = policy}}};
}

std::map<std::string, double> shares(const Network& network, std::size_t from, std::size_t to) {
  std::map<std::string, double> by_name;
  for (const Hop& hop : hops_of(network, between(from, to))) by_name[network.fabric.name(hop.link)] = hop.share;
  return by_name;
}

// By group pair: the share of the flow on its global links.
double on_global(const Network& network, std::size_t from, std::size_t to) {
  double sum = 0.0;
  for (const Hop& hop : hops_of(network, between(from, to))) {
    const LinkSpec& link = network.fabric.link(hop.link);
    const NodeSpec& a = network.fabric.node(link.from);
    const NodeSpec& b = network.fabric.node(link.to);
    if (is_switch(a.kind) && is_switch(b.kind) && a.first != b.first) sum += hop.share;
  }
  return sum;
}

TEST(DragonflyNetwork, HasASoundPathBetweenAnyTwoGpus) {
  for (const std::uint32_t spines : {0U, 2U, 3U}) {
    for (const DragonflyPaths paths : {DragonflyPaths::kMinimal, DragonflyPaths::kValiant, DragonflyPaths::kAdaptive}) {
      for (const RoutingPolicy policy : {RoutingPolicy::kStatic, RoutingPolicy::kEcmp, RoutingPolicy::kSpray}) {
        EXPECT_EQ(first_broken_path(build_dragonfly(small(spines, paths, policy))), "")
            << spines << ' ' << static_cast<int>(paths) << ' ' << static_cast<int>(policy);
      }
    }
  }
}

// 3 groups: 3 pairs of switches in each and 3 pairs of groups with 2 links; with 2 spines 6 links in each group.
TEST(DragonflyNetwork, HasTheLinksThatItsNumbersSay) {
  const auto between_switches = [](const Network& network) {
    std::size_t links = 0;
    for (const LinkCount& count : count_links(network.fabric)) {
      if (is_switch(count.from) && is_switch(count.to)) links += count.count;
    }
    return links;
  };
  EXPECT_EQ(between_switches(build_dragonfly(small(0))), 2U * (3 * 3 + 3 * 2));
  EXPECT_EQ(between_switches(build_dragonfly(small(2))), 2U * (3 * 6 + 3 * 2));
}

TEST(DragonflyNetwork, GoesMinimallyOverOneGlobalLink) {
  const Network network = build_dragonfly(small(0));
  for (std::size_t from = 0; from < 18; ++from) {
    for (std::size_t to = 0; to < 18; ++to) {
      if (from == to) continue;
      EXPECT_DOUBLE_EQ(on_global(network, from, to), from / 6 == to / 6 ? 0.0 : 1.0);
    }
  }
}

TEST(DragonflyNetwork, GoesOverAThirdGroupWithValiant) {
  for (const std::uint32_t spines : {0U, 2U}) {
    const Network network = build_dragonfly(small(spines, DragonflyPaths::kValiant, RoutingPolicy::kEcmp));
    EXPECT_DOUBLE_EQ(on_global(network, 0, 17), 2.0);
    EXPECT_DOUBLE_EQ(on_global(network, 0, 5), 0.0);  // within a group there is no third one
  }
}

// A quarter over one global link, the rest over two.
TEST(DragonflyNetwork, SplitsAdaptiveFlows) {
  const Network network = build_dragonfly(small(2, DragonflyPaths::kAdaptive, RoutingPolicy::kEcmp));
  EXPECT_DOUBLE_EQ(on_global(network, 0, 17), 0.25 * 1 + 0.75 * 2);
}

TEST(DragonflyNetwork, SpraysOverAllLinksBetweenTwoGroups) {
  const Network network = build_dragonfly(small(2, DragonflyPaths::kMinimal, RoutingPolicy::kSpray));
  int halves = 0;
  for (const auto& [name, share] : shares(network, 0, 17)) halves += share == 0.5 ? 1 : 0;
  EXPECT_EQ(halves, 2 * 3);  // two paths of: up to a spine, over to the other group, down from its spine
}

TEST(DragonflyNetwork, PaysTheLongCableBetweenGroups) {
  const Network plus = build_dragonfly(small(2));
  std::vector<Hop> hops;
  const Duration inside = plus.router->route(between(0, 4), hops);
  // One more switch, and one long cable more.
  EXPECT_EQ(plus.router->route(between(0, 17), hops), inside + Duration(230'000) + Duration(500'000));
}

TEST(DragonflyNetwork, TakesAnotherLinkWhenOneIsDown) {
  const Network network = build_dragonfly(small(0));
  const std::vector<Hop> usual = hops_of(network, between(0, 17));
  LinksDown down(network.fabric.link_count());
  for (const Hop& hop : usual) {
    const LinkSpec& link = network.fabric.link(hop.link);
    if (network.fabric.node(link.from).first != network.fabric.node(link.to).first) down[hop.link.index()] = true;
  }
  // Host numbers are the `first` of endpoints, too: leave the cables up.
  down[usual[usual.size() - 1].link.index()] = false;
  RouteQuery query = between(0, 17);
  query.down = &down;
  std::vector<Hop> other;
  network.router->route(query, other);
  EXPECT_EQ(flow_error(network.fabric, other, query), "");
  bool avoids = true;
  for (const Hop& hop : other) {
    const LinkSpec& link = network.fabric.link(hop.link);
    if (is_switch(network.fabric.node(link.from).kind) && is_switch(network.fabric.node(link.to).kind))
      avoids = avoids && !down[hop.link.index()];
  }
  EXPECT_TRUE(avoids);
}

constexpr char kPlus[] =
    "nodes: 40\nnode: {gpus: 1, nic: {count: 1, bandwidth: 100Gbps}}\n"
    "fabric: {type: dragonfly_plus, switches: 2, spines: 2, nodes_per_switch: 10, local: {speed: 200Gbps}, "
    "global: {links: 2, speed: 200Gbps}, latency: {nic: 1us, hop: 100ns, cable: 50ns}";

TEST(Dragonfly, ReadsAsManyGroupsAsItsNodesFill) {
  const auto cluster = load_cluster(std::string(kPlus) + "}\n");
  ASSERT_THAT(cluster.problems, IsEmpty());
  const Network network = cluster.topology->build();
  EXPECT_EQ(first_broken_path(network), "");
  // Two groups of 20 nodes, 2 links of 25 GB/s between them, though 20 nodes inject 250 GB/s.
  EXPECT_DOUBLE_EQ(bisection_bandwidth(network.fabric, 1).count(), 2 * 25e9);
}

TEST(Dragonfly, RejectsWhatDoesNotGoTogether) {
  EXPECT_THAT(
      load_cluster(std::string(kPlus) + ", groups: 1}\n").problems,
      ElementsAre(HasSubstr("E120 1 groups of 2 switches with 10 nodes each hold 20 nodes but 'cluster.nodes' is 40")));
  EXPECT_THAT(load_cluster(std::string(kPlus) + ", routing: {policy: d_mod_k}}\n").problems,
              ElementsAre(HasSubstr("E120 a dragonfly has no rails")));
  EXPECT_THAT(load_cluster(std::string(kPlus) + ", routing: {paths: valiant, policy: spray}}\n").problems,
              ElementsAre(HasSubstr("E120 'policy: spray' is for 'paths: minimal'")));
  EXPECT_THAT(load_cluster(std::string(kPlus) + ", routing: {minimal: 50%}}\n").problems,
              ElementsAre(HasSubstr("is only for 'paths: adaptive'")));
}

TEST(Dragonfly, ReportsThatTheAdaptiveSplitIsAssumed) {
  const auto cluster = load_cluster(std::string(kPlus) + ", routing: {paths: adaptive, policy: ecmp}}\n");
  EXPECT_THAT(cluster.problems, IsEmpty());
  EXPECT_THAT(cluster.assumptions, testing::Contains("fabric.routing.minimal"));
}

// NCCL's PXN: over NVLink to the GPU that has the receiver's NIC, and out by it.
TEST(Dragonfly, LeavesByTheReceiversNicWhereASenderAsks) {
  DragonflyPlan plan = small(0);
  plan.host = simple_host(4, 4);
  const Network network = build_dragonfly(plan);
  const RouteQuery query = between(0, 4 + 2, RouteKind::kPxn);
  EXPECT_THAT(trace(network, query), HasSubstr("host0/gpu0 host0/nvswitch0 host0/gpu2"));
  EXPECT_THAT(trace(network, query), HasSubstr("host0/nic2"));
  EXPECT_EQ(flow_error(network.fabric, hops_of(network, query), query), "");
  EXPECT_EQ(trace(network, between(0, 4, RouteKind::kPxn)), trace(network, between(0, 4)));  // its own NIC's number
}

TEST(Dragonfly, TakesTheNicsThatAMessageNames) {
  DragonflyPlan plan = small(0);
  plan.host = simple_host(4, 4);
  const Network network = build_dragonfly(plan);
  RouteQuery query = between(3, 4 + 1);
  query.nics = {.out = 0, .in = 2, .relay = 0};
  EXPECT_THAT(trace(network, query), HasSubstr("host0/gpu3 host0/nvswitch0 host0/gpu0"));
  EXPECT_THAT(trace(network, query), HasSubstr("host0/nic0"));
  EXPECT_THAT(trace(network, query), HasSubstr("host1/nic2"));
  EXPECT_EQ(flow_error(network.fabric, hops_of(network, query), query), "");
}

}  // namespace
}  // namespace ringwright::network_models::dragonfly_test
